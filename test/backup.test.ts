// Backups: other programs can read them, they are consistent while Hermes writes, damaged ones are refused, nothing is half restored.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { backups } from "../src/backup/api.ts";
import { openHome } from "../src/home/api.ts";
import { copyDatabase, verifyDatabase } from "../src/store/api/copy-database.ts";
import { sqliteModule } from "../src/store/sqlite/connection/sqlite-module.ts";
import { runHermes } from "./kit/run-hermes.ts";

const databases = { copy: copyDatabase, verify: verifyDatabase };
let base: string;
let home: string;
let archive: string;
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "hermes-backup-test-"));
  home = join(base, "home");
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, ".env"), "LAB_KEY=abc\n", { mode: 0o600 });
  expect((await runHermes(["-z", "hello backup"], { home })).code).toBe(0);
  mkdirSync(join(home, "profiles", "work"), { recursive: true });
  writeFileSync(join(home, "profiles", "work", "config.yaml"), "timezone: Asia/Tokyo\n");
  mkdirSync(join(home, "cache"), { recursive: true });
  writeFileSync(join(home, "cache", "big.bin"), "x");
  symlinkSync("/etc/passwd", join(home, "link"));
  archive = join(base, "made.zip");
  const made = await runHermes(["backup", "-o", archive, "-l", "test"], { home });
  expect([made.code, made.stderr]).toEqual([0, ""]);
  expect(made.stdout).toContain("verified");
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const python = (code: string, ...args: string[]) => spawnSync("python3", ["-c", code, ...args], { encoding: "utf8" });

it("is a zip that another program reads, without caches and links", () => {
  const names = JSON.parse(
    python(
      "import zipfile,sys,json; z=zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print(json.dumps(z.namelist()))",
      archive,
    ).stdout,
  ) as string[];
  expect(names).toEqual(
    expect.arrayContaining([".env", "state.db", "profiles/work/config.yaml", "hermes-backup.json"]),
  );
  expect(names.filter((name) => /cache\/|link|-wal|\.lease/.test(name))).toEqual([]);
  expect(statSync(archive).mode & 0o777).toBe(0o600);
  expect(readdirSync(base).filter((name) => name.includes(".part") || name.startsWith(".hermes-backup"))).toEqual([]);
});

it("restores everything into another home, keeps what it replaces, and the home works", async () => {
  const other = join(base, "other");
  mkdirSync(other, { mode: 0o700 });
  writeFileSync(join(other, ".env"), "MINE=1\n");
  writeFileSync(join(other, "kept.txt"), "stays");
  const refused = await runHermes(["import", archive], { home: other });
  expect([refused.code, readFileSync(join(other, ".env"), "utf8")]).toEqual([1, "MINE=1\n"]);
  const run = await runHermes(["import", archive, "--force"], { home: other });
  expect([run.code, run.stderr]).toEqual([0, ""]);
  expect(readFileSync(join(other, ".env"), "utf8")).toBe("LAB_KEY=abc\n");
  expect(statSync(join(other, ".env")).mode & 0o777).toBe(0o600);
  expect(existsSync(join(other, "kept.txt"))).toBe(true);
  const before = /are in (\S+)\./.exec(run.stdout)?.[1] ?? "";
  expect(readFileSync(join(before, ".env"), "utf8")).toBe("MINE=1\n");
  expect((await runHermes(["sessions", "search", "backup"], { home: other })).stdout).toContain("hello ");
  expect(readdirSync(other).filter((name) => name.startsWith(".restore"))).toEqual([]);
});

it("takes a backup that Python made without a list of sums", async () => {
  const zip = join(base, "python.zip");
  python(
    "import zipfile,sys; z=zipfile.ZipFile(sys.argv[1],'w',zipfile.ZIP_DEFLATED); z.writestr('config.yaml','timezone: UTC\\n'); z.writestr('memories/MEMORY.md','note'); z.close()",
    zip,
  );
  const other = join(base, "from-python");
  mkdirSync(other, { mode: 0o700 });
  expect((await runHermes(["import", zip, "-f"], { home: other })).code).toBe(0);
  expect(readFileSync(join(other, "memories", "MEMORY.md"), "utf8")).toBe("note");
});

const HOSTILE: readonly (readonly [string, string])[] = [
  ["a path out of the home", "z.writestr('config.yaml','x'); z.writestr('../evil.txt','x')"],
  ["an absolute path", "z.writestr('config.yaml','x'); z.writestr('/tmp/evil.txt','x')"],
  [
    "a link",
    "i=zipfile.ZipInfo('config.yaml'); i.create_system=3; i.external_attr=0o120777<<16; z.writestr(i,'/etc/passwd')",
  ],
  ["no home at all", "z.writestr('holiday.jpg','x')"],
  ["a file twice", "z.writestr('config.yaml','a'); z.writestr('config.yaml','b')"],
  [
    "a database that is none",
    "z.writestr('config.yaml','x: 1'); z.writestr('state.db','not a database at all, really not')",
  ],
];

it.each(HOSTILE)("refuses %s and changes nothing", async (_, code) => {
  const zip = join(base, "hostile.zip");
  rmSync(zip, { force: true });
  expect(
    python(
      `import zipfile,sys,warnings; warnings.simplefilter('ignore'); z=zipfile.ZipFile(sys.argv[1],'w'); ${code}; z.close()`,
      zip,
    ).status,
  ).toBe(0);
  const target = mkdtempSync(join(base, "target-"));
  writeFileSync(join(target, "config.yaml"), "timezone: UTC\n");
  const restoring = backups.restore({ home: target, file: zip, databases: databases });
  await expect(restoring).rejects.toMatchObject({
    name: "UserError",
    hint: expect.stringContaining("Nothing was changed"),
  });
  expect([readdirSync(target), readFileSync(join(target, "config.yaml"), "utf8")]).toEqual([
    ["config.yaml"],
    "timezone: UTC\n",
  ]);
  expect(existsSync(join(base, "evil.txt"))).toBe(false);
});

it("refuses a backup in which any byte was changed, or that is cut off", async () => {
  const bytes = readFileSync(archive);
  const bad = join(base, "bad.zip");
  let refused = 0;
  const places = Array.from({ length: 10 }, (_, index) => Math.floor((bytes.length * index) / 10) + 31);
  for (const at of places) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 0x55;
    writeFileSync(bad, changed);
    // A byte of a header may have no meaning for the content; then the content must be right.
    const result = await backups.verify(bad).catch(() => null);
    if (result === null) refused++;
  }
  expect(refused).toBeGreaterThan(places.length / 2);
  writeFileSync(bad, bytes.subarray(0, bytes.length - 200));
  await expect(backups.verify(bad)).rejects.toMatchObject({ name: "UserError" });
});

it("an import that is killed at any step leaves the home as it was", async () => {
  const count = async (stopAt: number) => {
    const target = mkdtempSync(join(base, "killed-"));
    writeFileSync(join(target, "config.yaml"), "timezone: UTC\n");
    writeFileSync(join(target, "state.db-wal"), "old log");
    let step = 0;
    const onStep = () => {
      if (step++ === stopAt) throw new Error("killed");
    };
    const result = await backups
      .restore({ home: target, file: archive, databases: databases, onStep })
      .catch((error: Error) => error.message);
    if (result !== "killed") return step;
    openHome([], { env: { HERMES_HOME: target }, cwd: base, platform: "linux", homedir: base });
    expect([
      stopAt,
      readFileSync(join(target, "config.yaml"), "utf8"),
      readFileSync(join(target, "state.db-wal"), "utf8"),
    ]).toEqual([stopAt, "timezone: UTC\n", "old log"]);
    expect(existsSync(join(target, "state.db"))).toBe(false);
    return 0;
  };
  const steps = await count(-1);
  expect(steps).toBeGreaterThan(10);
  for (let stop = 0; stop < steps; stop += Math.ceil(steps / 6)) await count(stop);
});

it("is consistent while another process writes", async () => {
  const busy = join(base, "busy");
  mkdirSync(busy, { mode: 0o700 });
  const db = new (sqliteModule().DatabaseSync)(join(busy, "state.db"), { readOnly: false, timeout: 5000 });
  db.exec("PRAGMA journal_mode = WAL; CREATE TABLE pair (a INTEGER, b INTEGER); INSERT INTO pair VALUES (0, 0)");
  db.close();
  const writer = spawn("python3", [
    "-c",
    "import sqlite3,sys,time\nc=sqlite3.connect(sys.argv[1],timeout=9)\nwhile True:\n  c.execute('UPDATE pair SET a=a+1, b=b+1'); c.execute('INSERT INTO pair SELECT a,b FROM pair LIMIT 20'); c.commit()",
    join(busy, "state.db"),
  ]);
  try {
    for (let round = 0; round < 2; round++) {
      const zip = join(base, `busy-${round}.zip`);
      await backups.make({
        home: busy,
        target: zip,
        quick: false,
        label: "",
        version: "1",
        databases: databases,
      });
      execFileSync("python3", [
        "-c",
        "import zipfile,sys; zipfile.ZipFile(sys.argv[1]).extract('state.db', sys.argv[2])",
        zip,
        join(base, `busy-${round}`),
      ]);
      const copy = new (sqliteModule().DatabaseSync)(join(base, `busy-${round}`, "state.db"), {
        readOnly: true,
        timeout: 1000,
      });
      expect(copy.prepare("SELECT count(*) AS wrong FROM pair WHERE a <> b").get()).toEqual({ wrong: 0 });
      copy.close();
    }
  } finally {
    writer.kill("SIGKILL");
  }
});

it("quick copies go into the home, and the target is never overwritten", async () => {
  const quick = await runHermes(["backup", "--quick", "--json"], { home });
  const { file } = JSON.parse(quick.stdout) as { file: string };
  expect(file.startsWith(join(home, "state-snapshots"))).toBe(true);
  const again = await runHermes(["backup", "-o", archive], { home });
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("exists already")]);
});
