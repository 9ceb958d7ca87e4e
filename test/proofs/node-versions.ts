// Proof: the first command of a new user works on every supported version of Node, without a compiler and without Python.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { tempDir } from "../kit/temp-dir.ts";

const VERSIONS = ["20", "22", "24", "26"];
/** Programs that must not be needed, and those that come with each version. */
const LEFT_OUT =
  /^(?:python|pip|gcc|g\+\+|cc|c\+\+|c89|c99|cpp|clang|make|gmake|cmake|ninja|ld|as|node|nodejs|npm|npx|corepack)(?:[-.\d]|$)|-(?:gcc|g\+\+|cpp|ld|as)(?:[-.\d]|$)/;

interface Row {
  readonly version: string;
  readonly firstSeconds: number;
  readonly nextSeconds: number;
  readonly reply: string;
  readonly ok: boolean;
}

function run(command: string, args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
  const began = performance.now();
  const { status, stdout, stderr } = spawnSync(command, args, { ...options, encoding: "utf8", timeout: 600_000 });
  return { ok: status === 0, stdout, stderr, seconds: (performance.now() - began) / 1000 };
}

/** A folder with links to the programs of this machine, except those that are left out. */
function makePath(folder: string, nodeFolder: string): string {
  mkdirSync(folder);
  for (const from of ["/usr/local/bin", "/usr/bin", "/bin"]) {
    for (const name of readdirSync(from)) if (!LEFT_OUT.test(name)) linkOnce(join(from, name), join(folder, name));
  }
  const npm = spawnSync("sh", ["-c", "readlink -f $(command -v npm)"], { encoding: "utf8" }).stdout.trim();
  symlinkSync(npm, join(folder, "npm"));
  symlinkSync(join(nodeFolder, "node_modules", ".bin", "node"), join(folder, "node"));
  return folder;
}

function linkOnce(from: string, to: string): void {
  try {
    symlinkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** The variables without which this machine may not reach the registry. */
function networkVariables(): NodeJS.ProcessEnv {
  const names = /^(?:npm_config_.*|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)));
}

/** The files that git knows, as they are now. */
function copyCheckout(root: string, folder: string): void {
  const listed = spawnSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).stdout;
  for (const file of listed.split("\0").filter(Boolean)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file), { force: true });
  }
}

function tryVersion(version: string, root: string, scratch: string): Row {
  const nodeFolder = join(scratch, "node");
  mkdirSync(nodeFolder);
  writeFileSync(join(nodeFolder, "package.json"), '{"private":true}');
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  const installed = run("npm", ["install", ...quiet, `node@${version}`], { cwd: nodeFolder, env: process.env });
  if (!installed.ok) return { version, firstSeconds: 0, nextSeconds: 0, reply: installed.stderr.trim(), ok: false };
  const checkout = join(scratch, "checkout");
  copyCheckout(root, checkout);
  const home = join(scratch, "home");
  mkdirSync(home);
  const env = {
    PATH: makePath(join(scratch, "bin"), nodeFolder),
    HOME: home,
    npm_config_cache: join(homedir(), ".npm"),
    npm_config_userconfig: join(homedir(), ".npmrc"),
    ...networkVariables(),
  };
  const command = ["start", "--", "chat", "-Q", "-q", "hello"];
  const exact = run("node", ["--version"], { cwd: checkout, env }).stdout.trim();
  const first = run("npm", command, { cwd: checkout, env });
  const next = run("npm", command, { cwd: checkout, env });
  const reply = (first.ok ? first.stdout : first.stderr).trim().split("\n").at(-1) ?? "";
  const ok = first.ok && next.ok;
  return { version: exact, firstSeconds: first.seconds, nextSeconds: next.seconds, reply: reply.slice(0, 60), ok };
}

const root = process.cwd();
const asked = process.argv.slice(2);
const rows: Row[] = [];
for (const version of asked.length > 0 ? asked : VERSIONS) {
  const scratch = tempDir("hermes-node-");
  try {
    rows.push(tryVersion(version, root, scratch));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
process.stdout.write(
  "| Node | first command, with install and build | next command | last line of the reply | result |\n",
);
process.stdout.write("|---|---|---|---|---|\n");
for (const { version, firstSeconds, nextSeconds, reply, ok } of rows)
  process.stdout.write(
    `| ${version} | ${firstSeconds.toFixed(1)} s | ${nextSeconds.toFixed(1)} s | ${reply} | ${ok ? "works" : "FAILS"} |\n`,
  );
process.exit(rows.every((row) => row.ok) ? 0 : 1);
