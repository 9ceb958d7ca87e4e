// Files that Hermes creates in a home are private to their owner with every umask; wider modes of existing files are narrowed.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fullProof, sample } from "./kit/full-proof.ts";
import { hermesProgram, runHermes } from "./kit/run-hermes.ts";
import { tempDir } from "./kit/temp-dir.ts";

let base: string;
let home: string;
beforeEach(() => {
  base = tempDir("hermes-modes-");
  home = join(base, "home");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function run(umask: string, args: readonly string[], env: { [name: string]: string } = {}) {
  const script = `umask ${umask}; exec "$NODE" "$PROGRAM" "$@" </dev/null`;
  return spawnSync("sh", ["-c", script, "sh", ...args], {
    cwd: base,
    encoding: "utf8",
    env: {
      PATH: process.env.PATH ?? "",
      HOME: base,
      HERMES_HOME: home,
      NODE: process.execPath,
      PROGRAM: hermesProgram(),
      ...env,
    },
  });
}

/** Every path in the home that other users can access, except copies of bundled skills. */
function open(path = home, inside = ""): string[] {
  const info = lstatSync(path);
  const own = (info.mode & 0o077) === 0 || inside.startsWith("skills/");
  const found = own ? [] : [`${(info.mode & 0o777).toString(8)} ${inside || "."}`];
  if (!info.isDirectory()) return found;
  return [
    ...found,
    ...readdirSync(path).flatMap((name) => open(join(path, name), inside ? `${inside}/${name}` : name)),
  ];
}

const COMMANDS: readonly (readonly string[])[] = [
  ["-z", "hello"],
  ["chat", "-q", "hello"],
  ["sessions", "list"],
  ["usage"],
  ["config", "set", "timezone", "UTC"],
  ["config", "set", "LAB_KEY", "abcdefgh12345678"],
  ["auth", "add", "xai", "--api-key", "xai-0123456789abcdef"],
  ["cron", "create", "every 1h", "say hello"],
  ["skills", "list"],
  ["gateway", "status"],
];

/** The short form runs a third of the commands with each umask: together all of them. */
describe.each([
  ["022", 0],
  ["000", 1],
  ["077", 2],
] as const)("with umask %s", (umask, offset) => {
  const commands = sample(COMMANDS, 3, offset);
  test.each(commands.map((args) => [args]))("%j makes a private home", (args) => {
    expect(run(umask, args).stderr).not.toMatch(/^ {4}at /m);
    if (existsSync(home)) expect(open()).toEqual([]);
    if (!fullProof && args !== commands[0]) return;
    const audit = run(umask, ["security", "audit", "--json"]);
    expect(audit.stdout).not.toContain("file_mode");
  });
});

test("modes of existing files that others may read are narrowed when they are opened", () => {
  run("022", ["-z", "hello"]);
  run("022", ["config", "set", "LAB_KEY", "abcdefgh12345678"]);
  run("022", ["config", "set", "timezone", "UTC"]);
  for (const name of ["state.db", "runtime.db", ".env", "config.yaml"]) chmodSync(join(home, name), 0o666);
  writeFileSync(join(home, "auth.json"), "{}", { mode: 0o644 });
  expect(open().length).toBe(5);
  run("022", ["sessions", "list"]);
  expect(open()).toEqual([]);
});

test("a home that is shared on purpose, or managed, keeps its modes", () => {
  mkdirSync(home);
  run("022", ["-z", "hello"]);
  chmodSync(join(home, "state.db"), 0o660);
  for (const env of [{ HERMES_HOME_MODE: "770" }, { HERMES_MANAGED: "nixos" }, { HERMES_SKIP_CHMOD: "1" }] as const) {
    run("007", ["sessions", "list"], env as unknown as { [name: string]: string });
    expect(lstatSync(join(home, "state.db")).mode & 0o777).toBe(0o660);
  }
  rmSync(home, { recursive: true });
  run("022", ["-z", "hello"], { HERMES_HOME_MODE: "750" });
  expect(lstatSync(home).mode & 0o777).toBe(0o750);
  expect(lstatSync(join(home, "state.db")).mode & 0o777).toBe(0o600);
});

test.skipIf(process.getuid?.() !== 0)("files of somebody else are left as they are, and used", async () => {
  run("022", ["-z", "hello"]);
  run("022", ["config", "set", "timezone", "UTC"]);
  chmodSync(base, 0o755);
  for (const name of [home, join(home, "config.yaml"), join(home, "state.db")])
    chmodSync(name, name === home ? 0o755 : 0o644);
  chownSync(join(home, "config.yaml"), 1, 1);
  const listed = await runHermes(["sessions", "list"], { home, cwd: base, uid: 65_534 });
  expect([listed.code, listed.stderr]).toEqual([0, expect.not.stringContaining("error")]);
  expect(lstatSync(join(home, "config.yaml")).mode & 0o777).toBe(0o644);
});
