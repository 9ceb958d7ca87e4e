// `hermes doctor`: a healthy home is green; faults are made with plain files and programs, and each must be named with a remedy.
import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runDoctor } from "../src/care/doctor/doctor.ts";
import { openHome } from "../src/home/api.ts";
import { runDoctor as runDoctorOfHome } from "../src/index.ts";
import { sqliteModule } from "../src/store/sqlite/connection/sqlite-module.ts";
import { runHermes } from "./kit/run-hermes.ts";
import { type FakeLlm, startFakeLlm, status, text } from "./servers/fake-llm.ts";

interface Result {
  readonly id: string;
  readonly status: string;
  readonly what: string;
  readonly remedy: string | null;
  readonly fixed: string | null;
}

let base: string;
let good: FakeLlm;
let angry: FakeLlm;
let lost: FakeLlm;
/** A home that was used: a conversation, a job, a note. */
let used: string;
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "hermes-doctor-"));
  [good, angry, lost] = await Promise.all([
    startFakeLlm({ script: () => text("OK") }),
    startFakeLlm({ script: () => status(401, { message: "User not found" }) }),
    startFakeLlm({ script: () => status(404, { message: "The model `nope` does not exist" }) }),
  ]);
  used = freshHome("used");
  expect((await runHermes(["-z", "hello there"], { home: used })).code).toBe(0);
});
afterAll(async () => {
  rmSync(base, { recursive: true, force: true });
  await Promise.all([good, angry, lost].map((server) => server.close()));
});

const modelLines = (server: { url: string }) =>
  `model:\n  default: test-model\n  provider: custom\n  base_url: ${server.url}/v1\n  context_length: 128000\n`;

function freshHome(name: string, server: { url: string } = good, more = ""): string {
  const home = join(base, name);
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, "config.yaml"), modelLines(server) + more, { mode: 0o600 });
  return home;
}

function usedHome(name: string, server: { url: string } = good, more = ""): string {
  const home = freshHome(name, server, more);
  for (const file of ["state.db", "runtime.db"])
    writeFileSync(join(home, file), readFileSync(join(used, file)), { mode: 0o600 });
  return home;
}

function sql(path: string, statement: string): void {
  const db = new (sqliteModule().DatabaseSync)(path, { readOnly: false, timeout: 1000 });
  db.exec(statement);
  db.close();
}

async function examine(
  home: string,
  options: { env?: { [name: string]: string }; args?: string[]; uid?: number } = {},
) {
  const { args = [], ...rest } = options;
  const run = await runHermes(["doctor", "--json", ...args], { home, ...rest });
  const report = run.stdout.startsWith("{")
    ? (JSON.parse(run.stdout) as { ok: boolean; results: Result[] })
    : undefined;
  return { ...run, ok: report?.ok, results: report?.results ?? [] };
}

/** Every pattern is found in a warning or error that has a remedy, and the texts hold no stack. */
function expectNamed(results: readonly Result[], faults: readonly (readonly [string, RegExp])[]): void {
  const bad = results.filter((result) => result.status === "warning" || result.status === "error");
  const texts = bad.map((result) => `${result.what} → ${result.remedy}`);
  const missing = faults.filter(
    ([, pattern]) => !bad.some(({ what, remedy }) => remedy && pattern.test(`${what} ${remedy}`)),
  );
  expect([missing.map(([name]) => name), missing.length > 0 ? texts : []]).toEqual([[], []]);
  expect(texts.filter((line) => /\n {4}at |undefined|\[object/.test(line))).toEqual([]);
}

it("a healthy home is green, in text, as JSON and in the library", async () => {
  const home = usedHome("healthy");
  const run = await runHermes(["doctor"], { home });
  expect([run.code, run.stderr]).toEqual([0, ""]);
  expect(run.stdout).toContain("All is well.");
  expect(run.stdout).not.toMatch(/^[!✗]/m);
  expect(run.stdout).toMatch(/test-model \(custom\) answers after \d+ ms; window 128,000 tokens/);
  expect(await runDoctorOfHome({ home })).toMatchObject({ ok: true, errors: 0, warnings: 0 });
});

function spoil(home: string): void {
  const at = (name: string) => join(home, name);
  appendFileSync(at("config.yaml"), "compresion:\n  enabled: true\n_config_version: 12\n");
  appendFileSync(at("config.yaml"), "fallback_providers:\n  - provider: nosuchprovider\n    model: x\n");
  appendFileSync(at("config.yaml"), "hooks:\n  pre_tool_call:\n    - command: /nowhere/hook.sh\n");
  appendFileSync(at("config.yaml"), "terminal:\n  backend: ssh\nplugins:\n  enabled: [broken]\n");
  appendFileSync(at("config.yaml"), "approvals:\n  mode: 'off'\nmemory:\n  provider: nosuchmemory\n");
  writeFileSync(
    at(".env"),
    "OPENROUTER_APIKEY=sk-or-v1-0123456789abcdef0123456789abcdef\nTELEGRAM_ALLOW_ALL_USERS=true\n",
  );
  writeFileSync(at("auth.json"), "{ this is not json");
  mkdirSync(at("memories"));
  writeFileSync(at("memories/MEMORY.md"), `A note. ${"word ".repeat(2000)}`);
  mkdirSync(at("skills/mine"), { recursive: true });
  writeFileSync(at("skills/mine/SKILL.md"), "---\nname: [unclosed\n---\nDo it.\n");
  mkdirSync(at("plugins/broken"), { recursive: true });
  writeFileSync(at("plugins/broken/plugin.yaml"), "name: broken\nversion: 1.0.0\ndescription: x\n");
  writeFileSync(at("plugins/broken/index.js"), "throw new Error('kaput');\n");
  writeFileSync(at("gateway_state.json"), JSON.stringify({ gateway_state: "running", pid: 4_000_000, platforms: {} }));
  writeFileSync(at("config.yaml.lease"), JSON.stringify({ pid: 4_000_000, host: hostname(), token: "00" }));
  writeFileSync(at("auth.json.77.abcd.tmp"), "half");
  utimesSync(at("auth.json.77.abcd.tmp"), new Date(0), new Date(0));
  sql(at("state.db"), "DELETE FROM messages_fts; DROP TRIGGER IF EXISTS messages_fts_insert;");
  sql(at("state.db"), "UPDATE sessions SET started_at = started_at + 200000000;");
  const later = new Date(Date.now() + 400 * 86_400_000);
  utimesSync(at("runtime.db"), later, later);
  chmodSync(home, 0o777);
}

const TOGETHER: readonly (readonly [string, RegExp])[] = [
  ["a misspelled key", /compresion.*compression.*config edit/s],
  ["an old layout", /layout 12 of.*config migrate/],
  ["an unknown fallback", /nosuchprovider.*fallback_providers/],
  ["a hook that does not exist", /hook\.sh/],
  ["ssh without a host", /ssh_host is not set/],
  ["a plugin that throws", /plugin broken does not work.*kaput.*plugins disable/],
  ["approvals switched off", /without approval.*config set approvals\.mode/],
  ["a memory provider that does not exist", /nosuchmemory.*memory off/],
  ["a secret in config.yaml", /clear-text secret at model\.api_key.*\.env/],
  ["a misspelled variable", /OPENROUTER_APIKEY.*OPENROUTER_API_KEY/],
  ["everybody may write to the bot", /TELEGRAM_ALLOW_ALL_USERS/],
  ["auth.json that is not JSON", /auth\.json is not JSON.*auth add/],
  ["notes above their limit", /MEMORY\.md has .*Shorten/],
  ["a skill that cannot be parsed", /SKILL\.md, line/],
  ["a gateway that died", /ended unexpectedly.*gateway start/],
  ["a lock of a dead process", /config\.yaml\.lease/],
  ["a temporary file", /auth\.json\.77\.abcd\.tmp/],
  ["messages without an index", /search index is incomplete.*sessions repair/],
  ["sessions in the future", /in the future.*clock/],
  ["a file of tomorrow", /clock says .*runtime\.db/],
  ["a home that others may change", /can be changed by other users.*chmod 700/],
  ["no git", /git is not installed/],
];

/** A folder with links to the programs that the tests need, without git. */
function pathWithoutGit(): string {
  const folder = join(base, "bin");
  mkdirSync(folder, { recursive: true });
  for (const program of ["sh", "bash", "ssh"]) {
    const found = spawnSync("which", [program], { encoding: "utf8" }).stdout.trim();
    if (found && !existsSync(join(folder, program))) symlinkSync(found, join(folder, program));
  }
  return folder;
}

it("names faults that stand beside each other, repairs what is safe, and loses nothing", async () => {
  const home = usedHome("together", good, "  api_key: sk-abcdefghijklmnopqrstuvwxyz0123456789\n");
  spoil(home);
  const env = { PATH: pathWithoutGit() };
  const before = await examine(home, { env });
  expect([before.code, before.ok]).toEqual([1, false]);
  expectNamed(before.results, TOGETHER);
  expect(JSON.stringify(before.results)).not.toContain("0123456789abcdef");

  const fixed = await examine(home, { env, args: ["--fix"] });
  const repaired = fixed.results.filter((result) => result.fixed !== null).map((result) => result.fixed ?? "");
  for (const pattern of [/layout/, /other users/, /removed .*\.tmp/, /gateway_state/])
    expect([pattern, repaired.some((line) => pattern.test(line))]).toEqual([pattern, true]);
  const after = await examine(home, { env });
  const left = after.results
    .filter(({ status: state }) => state !== "ok")
    .map(({ what }) => what)
    .join("\n");
  for (const gone of [/layout/, /\.lease|\.tmp/, /search index/, /ended unexpectedly/, /changed by other users/])
    expect(left).not.toMatch(gone);
  expect(readFileSync(join(home, "auth.json"), "utf8")).toBe("{ this is not json");
  expect(readFileSync(join(home, ".env"), "utf8")).toContain("OPENROUTER_APIKEY=");
  expect((await runHermes(["sessions", "search", "hello"], { home })).stdout).toContain("hello");
});

interface Alone {
  readonly name: string;
  make(): string | Promise<string>;
  readonly env?: { readonly [name: string]: string };
  readonly says: RegExp;
  /** The fault ends the program before the report. */
  readonly thrown?: boolean;
}

const ALONE: readonly Alone[] = [
  {
    name: "config.yaml that cannot be parsed",
    make: () => {
      const home = freshHome("syntax");
      writeFileSync(join(home, "config.yaml"), "model:\n  default: [x\n");
      return home;
    },
    says: /config\.yaml cannot be read.*line 3.*config edit/s,
  },
  {
    name: "a value of the wrong type",
    make: () => freshHome("type", good, "agent:\n  max_turns: many\n"),
    says: /agent\.max_turns: found the text "many"; allowed is a whole number.*config edit/s,
  },
  {
    name: ".env that is a folder",
    make: () => {
      const home = freshHome("envfolder");
      mkdirSync(join(home, ".env"));
      return home;
    },
    says: /\.env cannot be read: it is a folder/,
  },
  {
    name: "state.db that is not a database",
    make: () => {
      const home = freshHome("notadb");
      writeFileSync(join(home, "state.db"), "just some text, long enough to be read as a header ".repeat(50));
      return home;
    },
    says: /state\.db.*not a database.*(?:backup|repair)/s,
  },
  {
    name: "damaged pages in state.db",
    make: () => {
      const home = usedHome("pages");
      const path = join(home, "state.db");
      const bytes = readFileSync(path);
      for (let page = 2; page * 4096 + 512 < bytes.length; page += 2)
        bytes.fill(0xa5, page * 4096 + 8, page * 4096 + 512);
      writeFileSync(path, bytes);
      return home;
    },
    says: /state\.db.*(?:malformed|damaged|corrupt|tree|page|btree).*(?:repair|backup)/is,
  },
  {
    name: "state.db of a newer program",
    make: () => {
      const home = usedHome("newer");
      sql(join(home, "state.db"), "UPDATE schema_version SET version = 99");
      return home;
    },
    says: /version 99, newer than 11/,
  },
  {
    name: "runtime.db that is not a database",
    make: () => {
      const home = usedHome("runtime");
      writeFileSync(join(home, "runtime.db"), "x".repeat(9000));
      return home;
    },
    says: /runtime\.db.*(?:not a database|cannot be)/s,
  },
  {
    name: "a model server that refuses the key",
    make: () => freshHome("key", angry, "  api_key: abcdefgh12345678\n"),
    says: /refused the key \(401\).*auth/s,
  },
  {
    name: "a model server that is not there",
    make: () => freshHome("down", { url: "http://127.0.0.1:9" }),
    says: /at http:\/\/127\.0\.0\.1:9 .*(?:ECONNREFUSED|connection).*base URL/s,
  },
  { name: "an unknown model", make: () => freshHome("model404", lost), says: /does not know the model.*hermes model/s },
  {
    name: "a provider without a key",
    make: () => {
      const home = freshHome("nokey");
      writeFileSync(join(home, "config.yaml"), "model:\n  default: claude-sonnet-4-6\n  provider: anthropic\n");
      return home;
    },
    says: /No key for Anthropic.*auth add anthropic/s,
  },
  {
    name: "an address that is none",
    make: () => freshHome("address", { url: "foo" }),
    says: /needs an address.*model\.base_url/s,
  },
  {
    name: "a wrong bot token, and docker that is not installed",
    make: () => freshHome("token", good, "terminal:\n  backend: docker\n"),
    env: {
      TELEGRAM_BOT_TOKEN: "123456:wrong-token-wrong-token-wrong-tok",
      TELEGRAM_API_ROOT: "http://127.0.0.1:9",
      PATH: "/nonexistent",
    },
    says: /Telegram.*gateway setup telegram[\s\S]*|neither docker nor podman/,
  },
  {
    name: "a backend that does not run here, and a broken list of jobs",
    make: () => {
      const home = freshHome("modal", good, "terminal:\n  backend: modal\n");
      mkdirSync(join(home, "cron"));
      writeFileSync(join(home, "cron", "jobs.json"), "[{]");
      return home;
    },
    says: /modal is not available yet.*terminal\.backend[\s\S]*jobs/,
  },
  {
    name: "a job that nothing runs, and a folder for commands that is gone",
    make: async () => {
      const home = freshHome("job", good, "terminal:\n  cwd: /nowhere/at/all\n");
      await runHermes(["cron", "create", "every 1h", "say hello", "--name", "greet"], { home });
      return home;
    },
    says: /\/nowhere\/at\/all, which does not exist[\s\S]*no process runs them/,
  },
  {
    name: "a profile that was removed",
    make: () => {
      const home = freshHome("profile");
      writeFileSync(join(home, "active_profile"), "gone\n");
      return home;
    },
    says: /profile "gone".*there is no such profile[\s\S]*profile create/,
    thrown: true,
  },
  {
    name: "logs and SOUL.md of the wrong kind",
    make: () => {
      const home = freshHome("kinds");
      writeFileSync(join(home, "logs"), "");
      mkdirSync(join(home, "SOUL.md"));
      return home;
    },
    says: /logs is a file[\s\S]*SOUL\.md is not a file/,
  },
];

/** In this process, which is quicker; the environment is that of the fault and nothing else. */
async function examineHere(home: string, env: { readonly [name: string]: string } = {}) {
  const host = {
    env: { PATH: process.env.PATH, HOME: home, HERMES_HOME: home, ...env },
    cwd: home,
    platform: "linux",
    homedir: home,
  };
  return runDoctor(openHome([], host).home);
}

it.each(ALONE.map((fault) => [fault.name, fault] as const))("names %s", async (_, fault) => {
  const home = await fault.make();
  if (fault.thrown) {
    const run = await examine(home);
    expect([run.code, run.stderr]).toEqual([1, expect.stringMatching(fault.says)]);
    return;
  }
  const report = await examineHere(home, fault.env);
  const bad = report.results.filter(({ status: state }) => state === "error" || state === "warning");
  expect(bad.map(({ what, remedy }) => `${what} → ${remedy}`).join("\n")).toMatch(fault.says);
  expect(bad.filter(({ remedy }) => !remedy)).toEqual([]);
  expect(JSON.stringify(report.results)).not.toMatch(/\\n {4}at |EISDIR|TypeError/);
});

const isRoot = process.getuid?.() === 0;

it.runIf(isRoot)("names a full disk, and a folder of another user", async () => {
  const disk = freshHome("disk");
  rmSync(disk, { recursive: true });
  mkdirSync(disk, { mode: 0o700 });
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", disk]).status === 0;
  if (mounted)
    try {
      writeFileSync(join(disk, "config.yaml"), modelLines(good));
      expectNamed((await examine(disk)).results, [["space", /only .* free on the disk.*(?:prune|space)/]]);
    } finally {
      execFileSync("umount", [disk]);
    }
  const home = freshHome("owner");
  mkdirSync(join(home, "sessions"), { mode: 0o755 });
  for (const name of [home, join(home, "config.yaml")]) chownSync(name, 65_534, 65_534);
  chmodSync(base, 0o755);
  expectNamed((await examine(home, { uid: 65_534, env: { HOME: home } })).results, [
    ["owner", /sessions cannot be written.*another user.*chown/],
  ]);
});
