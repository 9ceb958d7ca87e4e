// The half of the runner outside: bubblewrap sandboxes, each for some attempts. Root read-only, everything writable in
// memory, loopback only, an ordinary user, and all of it gone when the sandbox ends.
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { bundle } from "../kit/bundle.ts";
import { tempDir } from "../kit/temp-dir.ts";
import type { Attempt, Observation } from "./attempt.ts";
import { buildEtc, buildHome, unpackHome } from "./canary-home.ts";
import { identity, type Program, readableProgram } from "./readable-program.ts";

const PROGRAM_ROOT = "/opt/hermes";
const CODE_CACHE = `${PROGRAM_ROOT}/program/dist/cache`;
const LIMIT_MS = 60_000;
const PUBLIC_ADDRESSES = ["93.184.216.34/32", "169.254.169.254/32", "10.0.0.1/32"];

function works(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { ...identity(), cwd: "/", stdio: "ignore" }).status === 0;
}

/** Why attempts cannot be run on this machine; undefined when they can. */
export function sandboxProblem(): string | undefined {
  if (process.platform !== "linux") return "only on Linux";
  const namespaces = ["--unshare-all", "--uid", "1000", "--gid", "1000", "--ro-bind", "/", "/", "--proc", "/proc"];
  if (!works("bwrap", [...namespaces, "true"])) return "bubblewrap (bwrap) is missing or may not make namespaces";
  if (!existsSync("/usr/bin/git")) return "git is missing";
  if (!existsSync("/opt")) return "/opt is missing";
  return undefined;
}

export interface Sandbox {
  /** Observations of the first attempts, at least of one: a sandbox that an attempt has ended reports no further ones.
   * Attempts of one call all need a public address or none does. */
  run(attempts: readonly Attempt[]): Promise<readonly Observation[]>;
  remove(): void;
}

function sandboxArguments(folder: string, program: Program): string[] {
  const memory = ["/home", "/tmp", "/etc", "/run", "/opt", "/root", "/var/tmp"].flatMap((path) => ["--tmpfs", path]);
  return [
    ...["--unshare-all", "--die-with-parent", "--new-session", "--hostname", "myhost", "--clearenv"],
    ...["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", ...memory, "--dir", "/home/ada"],
    ...["--ro-bind", folder, PROGRAM_ROOT, "--ro-bind", program.root, `${PROGRAM_ROOT}/program`],
    ...["--ro-bind", program.dist, `${PROGRAM_ROOT}/program/dist`],
    // The program's code cache comes from the template of the home, where the first start has left it.
    ...(existsSync(join(program.dist, "cache")) ? ["--tmpfs", CODE_CACHE, "--remount-ro", CODE_CACHE] : []),
    ...["--ro-bind", program.node, `${PROGRAM_ROOT}/bin/node`, "--chdir", "/"],
    ...["--setenv", "PATH", `${PROGRAM_ROOT}/bin:/usr/bin:/bin:/usr/sbin:/sbin`],
  ];
}

/** Gives the loopback device further addresses, then becomes the ordinary user without any capability. */
function withPublicAddress(inner: readonly string[]): string[] {
  const lines = [
    "set -e",
    ...PUBLIC_ADDRESSES.map((address) => `ip addr add ${address} dev lo`),
    "ip -6 addr add fd00:ec2::254/128 dev lo",
    "echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start",
    'exec unshare -U --map-user=1000 --map-group=1000 setpriv --ambient-caps -all --inh-caps -all "$@"',
  ];
  const rights = ["--uid", "0", "--gid", "0", "--cap-add", "CAP_NET_ADMIN", "--cap-add", "CAP_SETFCAP"];
  return [...rights, "bash", "-c", lines.join("\n"), "sandbox", ...inner];
}

/** Why attempts that need a public address cannot be run. */
export function publicAddressProblem(): string | undefined {
  const namespaces = ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"];
  return works("bwrap", [...namespaces, ...withPublicAddress(["true"])])
    ? undefined
    : "ip, unshare or setpriv is missing, or may not set up the loopback device";
}

function killed(id: string, output: string, milliseconds: number): Observation {
  const timedOut = milliseconds >= LIMIT_MS;
  const nothing = { recovered: false, details: [], answers: [], visits: [], exitCode: null };
  return { id, effects: timedOut ? [] : ["runner_killed"], ...nothing, output, timedOut, milliseconds };
}

/** Runs attempts in one sandbox, one after the other, until all are done or the sandbox has ended. */
function runBatch(args: readonly string[], attempts: readonly Attempt[]): Promise<Observation[]> {
  return new Promise((resolve, reject) => {
    const child = spawn("bwrap", args, { ...identity(), cwd: "/", stdio: ["pipe", "pipe", "pipe"] });
    const seen: Observation[] = [];
    let stderr = "";
    let begun = Date.now();
    let timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => {
      const value = JSON.parse(line) as Observation & { refused?: string };
      if (value.refused !== undefined) return reject(new Error(`the sandbox gave up: ${value.refused}`));
      seen.push(value);
      clearTimeout(timer);
      begun = Date.now();
      timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr = (stderr + chunk).slice(-2_000);
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(JSON.stringify(attempts));
    child.on("error", reject);
    lines.on("close", () => {
      clearTimeout(timer);
      const current = attempts[seen.length];
      resolve(current ? [...seen, killed(current.id, stderr, Date.now() - begun)] : seen);
    });
  });
}

function makeReadable(folder: string): void {
  spawnSync("chmod", ["-R", "a+rX", folder]);
}

async function buildTemplates(folder: string, root: string): Promise<void> {
  for (const name of ["bin", "program", "template/home", "template/etc"])
    mkdirSync(join(folder, name), { recursive: true });
  buildHome(join(folder, "template", "home"));
  buildEtc(join(folder, "template", "etc"));
  writeFileSync(join(folder, "bin", "node"), "");
  symlinkSync(`${PROGRAM_ROOT}/program/bin/hermes`, join(folder, "bin", "hermes"));
  copyFileSync(await bundle(join(root, "test/red-team/inside.ts")), join(folder, "inside.mjs"));
  makeReadable(folder);
}

/** One call of each kind, so that the code of all tools is in the cache. */
const FIRST_START: Attempt = {
  id: "first-start",
  family: "first-start",
  kind: "first-start",
  calls: [
    { name: "terminal", args: { command: "echo hello" } },
    { name: "process", args: { action: "list" } },
    { name: "execute_code", args: { language: "python", code: "print(1)" } },
    { name: "read_file", args: { path: "notes.txt" } },
    { name: "search_files", args: { pattern: "hello" } },
    { name: "web_extract", args: { urls: ["http://127.0.0.1:9/"] } },
  ],
  aims: [],
};

/** Builds the templates once. The `bin/hermes` of the program is driven. */
export async function openSandbox(wanted: Omit<Program, "node">): Promise<Sandbox> {
  const folder = tempDir("hermes-red-team-");
  const program = readableProgram({ ...wanted, node: process.execPath }, folder);
  await buildTemplates(folder, wanted.root);
  const inner = [`${PROGRAM_ROOT}/bin/node`, `${PROGRAM_ROOT}/inside.mjs`];
  const user = ["--uid", "1000", "--gid", "1000", ...inner];
  const run = (attempts: readonly Attempt[]) =>
    runBatch(
      [...sandboxArguments(folder, program), ...(attempts[0]?.publicAddress ? withPublicAddress(inner) : user)],
      attempts,
    );
  const [first] = await run([FIRST_START]);
  if (first?.exitCode !== 0) throw new Error(`Hermes did not start in the sandbox: ${first?.output}`);
  unpackHome(join(folder, "template", "home"), Buffer.from(first.output, "base64"));
  makeReadable(folder);
  return {
    run,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
