// Errors of the file and the disk: damaged, read-only, full, locked, without WAL. Nothing is overwritten, and no feature stays disabled.
import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { UserError } from "../src/core/failure.ts";
import { type Database, openDatabase } from "../src/store/sqlite/connection/driver.ts";
import { applyJournalMode } from "../src/store/sqlite/connection/journal.ts";
import { SqliteSessionStore } from "../src/store/sqlite-session-store.ts";
import { openWorkerSessionStore } from "../src/store/worker-host.ts";
import { bundle } from "./kit/bundle.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { until } from "./kit/until.ts";

let dir: string;
let path: string;

beforeEach(() => {
  dir = tempDir("hermes-trouble-");
  path = join(dir, "state.db");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A connection that does not support WAL. */
function withoutWal(message: string): typeof openDatabase {
  return (file, options) => {
    const db = openDatabase(file, options);
    const pragma = (text: string): unknown => {
      if (/journal_mode = WAL/.test(text)) throw new Error(message);
      return db.pragma(text);
    };
    return Object.create(db, { pragma: { value: pragma } }) as Database;
  };
}

async function seeded(): Promise<void> {
  const store = await SqliteSessionStore.open({ path });
  await store.createSession({ id: "s", source: "cli" });
  await store.appendMessage("s", { role: "user", content: "kept words" });
  await store.close();
}

describe("a file that is not a database", () => {
  it.each(["just text", "x".repeat(10_000), "SQLite format 3\u0000 but then nonsense".padEnd(5000, "?")])(
    "is named with its hint and left as it is (%#)",
    async (content) => {
      writeFileSync(path, content);
      const error = await SqliteSessionStore.open({ path }).catch((failure: unknown) => failure);
      expect(error).toBeInstanceOf(UserError);
      expect((error as UserError).message).toContain(path);
      expect((error as UserError).hint).toContain("hermes sessions repair");
      expect(readFileSync(path, "utf8")).toBe(content);
    },
  );
  it("is initialised when it is empty", async () => {
    writeFileSync(path, "");
    await seeded();
    expect(readFileSync(path).subarray(0, 15).toString()).toBe("SQLite format 3");
  });
  it("fails in a worker with the same message, and leaves no worker running", async () => {
    writeFileSync(path, "just text");
    const workerFile = await bundle("src/store/worker-entry.ts");
    const error = await openWorkerSessionStore({ path, workerFile }).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).hint).toContain("hermes sessions repair");
  });
});

const isRoot = process.getuid?.() === 0;

describe("a read-only place", () => {
  beforeEach(async () => {
    await seeded();
    // File modes do not restrict root, so the store is then used by a child process of another user.
    if (isRoot) for (const item of [dir, path]) chownSync(item, 65534, 65534);
  });
  it.each(["folder", "file"])("(%s) can be read and searched, says so, and recovers", async (what) => {
    const child = await bundle("test/children/store-read-only-child.ts");
    const user = isRoot ? { uid: 65534, gid: 65534 } : {};
    const { stderr, status } = spawnSync(process.execPath, [child, path, what], { encoding: "utf8", ...user });
    expect(`${stderr}${status}`).toBe("0");
  });
  it("cannot be written through a read-only store", async () => {
    const store = await SqliteSessionStore.open({ path, readOnly: true });
    expect(await store.messageCount()).toBe(1);
    await expect(store.setMeta("a", "b")).rejects.toThrow(/read-only/);
    await store.close();
    await expect(SqliteSessionStore.open({ path: join(dir, "none.db"), readOnly: true })).rejects.toThrow(/not exist/);
  });
});

const volume = tempDir("hermes-volume-");
const mounted = isRoot && spawnSync("/bin/mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", volume]).status === 0;
if (mounted) spawnSync("/bin/umount", [volume]);
rmSync(volume, { recursive: true, force: true });

describe("a full disk", () => {
  // Needs the right to mount a small volume; elsewhere this is skipped.
  it.skipIf(!mounted)("refuses appends with the reason, loses nothing, and continues when there is space", async () => {
    const small = join(dir, "small");
    mkdirSync(small);
    expect(spawnSync("/bin/mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", small]).status).toBe(0);
    try {
      const store = await SqliteSessionStore.open({ path: join(small, "state.db") });
      await store.createSession({ id: "s", source: "cli" });
      writeFileSync(join(small, "ballast"), Buffer.alloc(1_000_000));
      let kept = 0;
      const failure = await (async () => {
        for (; kept < 500; kept++) await store.appendMessage("s", { role: "user", content: "words ".repeat(800) });
      })().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(UserError);
      expect(String(failure)).toContain("full");
      expect((await store.health()).state).toBe("full");
      expect(await store.messageCount("s")).toBe(kept);
      rmSync(join(small, "ballast"));
      await store.appendMessage("s", { role: "user", content: "space again" });
      expect((await store.health()).state).toBe("ok");
      expect(await store.messageCount("s")).toBe(kept + 1);
      await store.close();
    } finally {
      spawnSync("/bin/umount", [small]);
    }
  });
});

describe("a lock", () => {
  it("is waited for without blocking the process, and disables nothing", async () => {
    await seeded();
    const store = await SqliteSessionStore.open({ path });
    const other = openDatabase(path);
    other.exec("BEGIN IMMEDIATE");
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    const append = store.appendMessage("s", { role: "user", content: "waited" });
    await until(() => ticks > 10);
    expect(await store.messageCount("s")).toBe(1);
    other.exec("COMMIT");
    await append;
    clearInterval(timer);
    expect(await store.messageCount("s")).toBe(2);
    other.close();
    await store.close();
  });
});

describe("journal mode", () => {
  it("is WAL where that works", () => {
    const db = openDatabase(path);
    expect(applyJournalMode(db, "state.db", () => undefined)).toBe("wal");
    db.close();
  });
  it.each(["locking protocol", "not authorized", "disk I/O error"])(
    "falls back to %j, with one notice per label",
    (cause) => {
      const warnings: string[] = [];
      const db = withoutWal(cause)(path);
      for (const label of [`${cause} a.db`, `${cause} a.db`, `${cause} b.db`]) {
        expect(applyJournalMode(db, label, (warning) => void warnings.push(warning))).toBe("delete");
      }
      expect(warnings).toHaveLength(2);
      expect(warnings[0]).toMatch(/a\.db.*DELETE/);
      expect(warnings[0]).toContain(cause);
      expect(db.pragma("journal_mode")).toBe("delete");
      db.close();
    },
  );
  it("passes other errors on", () => {
    const db = withoutWal("something else")(path);
    expect(() => applyJournalMode(db, "a.db", () => undefined)).toThrow("something else");
    db.close();
  });
  it("serves a whole store without WAL", async () => {
    const notices: string[] = [];
    const open = withoutWal("locking protocol");
    const store = await SqliteSessionStore.open({ path, open, onNotice: (notice) => void notices.push(notice) });
    await store.createSession({ id: "s", source: "cli" });
    await store.appendMessage("s", { role: "user", content: "fallback words" });
    expect((await store.searchMessages("fallback")).hits).toHaveLength(1);
    expect(notices).toHaveLength(1);
    await store.close();
  });
});

describe("a worker that dies", () => {
  let workerFile: string;
  beforeAll(async () => {
    workerFile = await bundle("src/store/worker-entry.ts");
  });
  it("fails what was under way and is replaced by the next call", async () => {
    const crashing = join(dir, "crashing.mjs");
    writeFileSync(
      crashing,
      `import { parentPort } from "node:worker_threads";
       await import(${JSON.stringify(workerFile)});
       parentPort.on("message", (calls) => { if (calls.some((call) => call.args[0] === "die")) process.exit(3); });`,
    );
    const store = await openWorkerSessionStore({ path, workerFile: crashing });
    await store.setMeta("a", "1");
    await expect(store.getMeta("die")).rejects.toThrow(/worker ended/);
    expect(await store.getMeta("a")).toBe("1");
    await store.close();
    await expect(store.getMeta("a")).rejects.toThrow(/closed/);
  });
});
