// Commands against homes and disks that cannot be used: one error line, exit code 1, no files left behind. The full form runs
// every command in every case; the short form a fifth of them, another fifth in the next case.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sample } from "./kit/full-proof.ts";
import { type HermesRun, hermesProgram, runHermes } from "./kit/run-hermes.ts";
import { tempDir } from "./kit/temp-dir.ts";

const NOBODY = 65_534;

/** Commands that only read: they work on a home that cannot be written to. */
const READING: readonly (readonly string[])[] = [
  ["sessions", "list"],
  ["sessions", "search", "hello"],
  ["sessions", "stats"],
  ["usage"],
  ["cron", "list"],
  ["config", "show"],
  ["config", "get", "timezone"],
  ["config", "check"],
  ["config", "path"],
  ["auth", "list"],
  ["model", "list"],
  ["tools", "list"],
  ["skills", "list"],
  ["plugins", "list"],
  ["hooks", "list"],
  ["memory", "status"],
  ["webhook", "list"],
  ["pairing", "list"],
  ["checkpoints", "list"],
  ["gateway", "status"],
];

const WRITING: readonly (readonly string[])[] = [
  ["config", "set", "timezone", "Asia/Tokyo"],
  ["config", "set", "LAB_KEY", "abcdefgh12345678"],
  ["config", "unset", "timezone"],
  ["auth", "add", "xai", "--api-key", "xai-0123456789abcdef"],
  ["cron", "create", "every 1h", "say hello", "--name", "greet"],
  ["model", "set", "m", "--provider", "ollama"],
];

const TALKING: readonly (readonly string[])[] = [
  ["-z", "hello"],
  ["chat", "-q", "hello"],
];
const SERVING: readonly (readonly string[])[] = [
  ["gateway", "run"],
  ["api", "run"],
];
const ALL = [...READING, ...WRITING, ...TALKING, ...SERVING, ["security", "audit"], ["sessions", "rename", "x", "y"]];

let base: string;
/** A home with a conversation, a job, settings and a key in it. */
let model: string;
beforeAll(async () => {
  base = tempDir("hermes-broken-");
  chmodSync(base, 0o755);
  model = join(base, "model");
  await runHermes(["-z", "hello"], { home: mkdirSync(model, { recursive: true }) ?? model });
  for (const args of WRITING.slice(0, 5)) await runHermes(args, { home: model });
}, 60_000);
afterAll(() => rmSync(base, { recursive: true, force: true }));

let count = 0;
function copyOfHome(): string {
  const home = join(base, `home-${++count}`);
  cpSync(model, home, { recursive: true });
  return home;
}

function own(path: string, uid: number): void {
  chownSync(path, uid, uid);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) own(inner, uid);
    else chownSync(inner, uid, uid);
  }
}

/** The wrong properties of a result; empty when it is right. `gateway status` has its own code for a stopped gateway. */
function faults(args: readonly string[], run: HermesRun, codes: readonly number[], says = /./): string[] {
  const code = args.join(" ") === "gateway status" && run.code === 3 ? 0 : (run.code ?? -1);
  const trace = /^ {4}at |unexpected error|SqliteError/m.test(run.stderr);
  const silent = code === 1 && args[0] !== "security" && !says.test(run.stderr);
  const right = codes.includes(code) && !trace && !silent && run.stderr.split("error:").length <= 2;
  return right ? [] : [`${args.join(" ")} → ${run.code}: ${run.stderr.slice(0, 400)}`];
}

function strays(home: string): string[] {
  return readdirSync(home).filter((name) => /\.lease\.|\.tmp$|\.stale$/.test(name));
}

let offset = 0;
function some(list: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return sample(list, 5, offset++);
}

async function each(all: readonly (readonly string[])[], work: (args: readonly string[]) => Promise<string[]>) {
  const found: string[] = [];
  const list = some(all);
  for (let at = 0; at < list.length; at += 3)
    found.push(...(await Promise.all(list.slice(at, at + 3).map(work))).flat());
  expect(found).toEqual([]);
}

const asRoot = process.getuid?.() === 0;
if (!asRoot) process.stderr.write("test/broken-home: not root; what needs another user or a mount is skipped\n");

describe("an unusable home", () => {
  test.each(["a file", "inside a file"])(
    "%s",
    async (kind) => {
      const file = join(base, `file-${kind.length}`);
      writeFileSync(file, "");
      const home = kind === "a file" ? file : join(file, "home");
      await each(ALL, async (args) => {
        return faults(args, await runHermes(args, { home, cwd: base }), [1], new RegExp(`${home}[^]*HERMES_HOME`));
      });
      expect((await runHermes(["--version"], { home, cwd: base })).code).toBe(0);
      expect((await runHermes(["--help"], { home, cwd: base })).code).toBe(0);
    },
    120_000,
  );

  test.skipIf(!asRoot)(
    "of another user",
    async () => {
      const home = copyOfHome();
      chmodSync(home, 0o700);
      await each(ALL, async (args) => {
        const run = await runHermes(args, { home, cwd: base, uid: NOBODY });
        return faults(args, run, [1], new RegExp(`the home ${home} cannot be opened`));
      });
    },
    120_000,
  );

  test.skipIf(!asRoot)(
    "in a HOME that does not exist and cannot be made",
    async () => {
      const env = { HOME: join(base, "no-such-home"), HERMES_HOME: "" };
      await each([...WRITING, ...TALKING], async (args) => {
        return faults(args, await runHermes(args, { home: base, cwd: base, uid: NOBODY, env }), [1], /no-such-home/);
      });
    },
    120_000,
  );
});

describe("a home that cannot be written to", () => {
  test.skipIf(!asRoot)(
    "by its mode: reading works, writing says why",
    async () => {
      const home = copyOfHome();
      spawnSync("chmod", ["-R", "a+rX,go-w", home]);
      await each(READING, async (args) => {
        return faults(args, await runHermes(args, { home, cwd: base, uid: NOBODY }), [0]);
      });
      await each([...WRITING, ...TALKING, ...SERVING], async (args) => {
        return faults(args, await runHermes(args, { home, cwd: base, uid: NOBODY }), [1]);
      });
      expect(strays(home)).toEqual([]);
    },
    120_000,
  );

  test.skipIf(!asRoot)(
    "and that is still empty",
    async () => {
      const home = join(base, "empty");
      mkdirSync(home);
      await each(ALL, async (args) => {
        return faults(args, await runHermes(args, { home, cwd: base, uid: NOBODY }), [0, 1]);
      });
      expect(readdirSync(home)).toEqual([]);
    },
    120_000,
  );
});

describe("files of the home that cannot be used", () => {
  test.each(["state.db", "runtime.db", "config.yaml", ".env", "auth.json", "sessions", "cron"])(
    "%s is of the wrong kind",
    async (name) => {
      const home = copyOfHome();
      rmSync(join(home, name), { recursive: true, force: true });
      if (name === "sessions" || name === "cron") writeFileSync(join(home, name), "");
      else mkdirSync(join(home, name));
      await each(
        ALL.filter((args) => !SERVING.includes(args)),
        async (args) => {
          return faults(args, await runHermes(args, { home, cwd: base }), [0, 1]);
        },
      );
      expect(strays(home)).toEqual([]);
    },
    120_000,
  );

  test.skipIf(!asRoot).each(["state.db", "config.yaml", ".env", "auth.json"])(
    "%s may not be read",
    async (name) => {
      const home = copyOfHome();
      own(home, NOBODY);
      chownSync(join(home, name), 0, 0);
      chmodSync(join(home, name), 0o600);
      await each(
        ALL.filter((args) => !SERVING.includes(args)),
        async (args) => {
          return faults(args, await runHermes(args, { home, cwd: base, uid: NOBODY }), [0, 1]);
        },
      );
      if (name !== "auth.json") {
        const run = await runHermes(["-z", "hello"], { home, cwd: base, uid: NOBODY });
        expect([run.code, run.stdout, run.stderr]).toEqual([1, "", expect.stringContaining(name)]);
      }
      expect(strays(home)).toEqual([]);
    },
    120_000,
  );
});

describe("disks", () => {
  /** Runs the command in a separate mount namespace; `prepare` mounts something at $M first. */
  function onDisk(prepare: string, args: readonly string[], home: string) {
    const place = join(base, `disk-${++count}`);
    mkdirSync(place);
    const script = `${prepare} || exit 99
HERMES_HOME="$M" HOME="$M" "$NODE" "$PROGRAM" "$@" </dev/null; code=$?
ls -A "$M" | grep -E '\\.lease\\.|\\.tmp$|\\.stale$' | sed 's/^/stray /' >&2
exit $code`;
    const env = { PATH: process.env.PATH ?? "", M: place, SRC: home, NODE: process.execPath, PROGRAM: hermesProgram() };
    const run = spawnSync("unshare", ["-m", "sh", "-c", script, "sh", ...args], { env, cwd: base, encoding: "utf8" });
    return { code: run.status, stdout: run.stdout, stderr: run.stderr };
  }

  const FULL =
    'mount -t tmpfs -o size=4m tmpfs "$M" && cp -a "$SRC/." "$M/" && { dd if=/dev/zero of="$M/filler" bs=4k 2>/dev/null; true; }';
  const READ_ONLY = 'mount --bind "$SRC" "$M" && mount -o remount,ro,bind "$M"';
  const mounts = asRoot && spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;
  if (!mounts)
    process.stderr.write("test/broken-home: mounts are not permitted here; full and read-only disks are skipped\n");

  test.skipIf(!mounts)(
    "a full one: reading works, writing says why",
    () => {
      const home = copyOfHome();
      const found = some(READING).flatMap((args) => faults(args, onDisk(FULL, args, home), [0]));
      for (const args of some([...WRITING, ...TALKING])) {
        const run = onDisk(FULL, args, home);
        found.push(...faults(args, run, [1], /the disk/i), ...(run.stderr.includes("stray") ? [run.stderr] : []));
      }
      expect(found).toEqual([]);
    },
    180_000,
  );

  test.skipIf(!mounts)(
    "a read-only one: reading works, writing says why",
    () => {
      const home = copyOfHome();
      const found = some(READING).flatMap((args) => faults(args, onDisk(READ_ONLY, args, home), [0]));
      const others = some([...WRITING, ...TALKING, ...SERVING]);
      found.push(...others.flatMap((args) => faults(args, onDisk(READ_ONLY, args, home), [1], /read-only/)));
      expect(found).toEqual([]);
    },
    180_000,
  );
});
