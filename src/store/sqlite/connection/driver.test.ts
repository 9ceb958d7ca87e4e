// The SQLite driver that this Node version uses, and the choice of the driver.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, it } from "vitest";
import { tempDir } from "../../../../test/kit/temp-dir.ts";
import { isLocked, sqliteCode } from "../../../lib/sqlite-error.ts";
import { consistent, type Database, immediate, openDatabase } from "./driver.ts";
import { explainLoadError, isUsable, type SqliteModule, sqliteModule } from "./sqlite-module.ts";

let dir: string;
let path: string;
let db: Database;

beforeEach(() => {
  dir = tempDir("hermes-driver-");
  path = join(dir, "x.db");
  db = openDatabase(path);
  db.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v); CREATE TABLE c (t REFERENCES t(id))");
});
afterEach(() => {
  if (db.open) db.close();
  rmSync(dir, { recursive: true, force: true });
});

function catchCode(action: () => unknown): string | undefined {
  try {
    action();
  } catch (error) {
    return sqliteCode(error);
  }
  return "no error";
}

it("values are read back unchanged: NUL and all of Unicode, bytes, numbers, NULL", () => {
  const insert = db.prepare("INSERT INTO t (v) VALUES (?)");
  const values = ["a\u0000b 备份 🎉", "", 1.5, 7, null, new Uint8Array([0, 1, 255])];
  for (const [index, value] of values.entries()) expect(insert.run(value).lastInsertRowid).toBe(index + 1);
  const rows = db.prepare<{ v: unknown }>("SELECT v FROM t ORDER BY id").all();
  expect(rows.map(({ v }) => v)).toEqual(values);
  expect([...db.prepare<{ id: number }>("SELECT id FROM t").iterate()].map((row) => row.id)).toHaveLength(6);
  expect(db.prepare("SELECT v FROM t WHERE id = 99").get()).toBeUndefined();
});

it("searches words and trigrams", () => {
  db.exec("CREATE VIRTUAL TABLE f USING fts5(x, tokenize='trigram')");
  db.prepare("INSERT INTO f VALUES (?)").run("每天备份数据库");
  const found = db.prepare<{ s: string }>("SELECT snippet(f, 0, '>>>', '<<<', '...', 40) AS s FROM f WHERE f MATCH ?");
  expect(found.get("备份数据")?.s).toBe("每天>>>备份数据<<<库");
});

it("errors carry SQLite's symbolic code", () => {
  db.pragma("foreign_keys = ON");
  db.exec("CREATE UNIQUE INDEX u ON t(v); INSERT INTO t (v) VALUES (1)");
  expect(catchCode(() => db.exec("SELCT"))).toBe("SQLITE_ERROR");
  expect(catchCode(() => db.prepare("INSERT INTO c VALUES (?)").run(5))).toBe("SQLITE_CONSTRAINT_FOREIGNKEY");
  expect(catchCode(() => db.prepare("INSERT INTO t (v) VALUES (?)").run(1))).toMatch(/^SQLITE_CONSTRAINT/);
  expect(catchCode(() => openDatabase(join(dir, "none.db"), { readOnly: true }))).toBe("SQLITE_CANTOPEN");
  const reader = openDatabase(path, { readOnly: true });
  expect(catchCode(() => reader.exec("DELETE FROM t"))).toMatch(/^SQLITE_READONLY/);
  reader.close();
  expect(sqliteCode(new Error("database is locked"))).toBeUndefined();
});

it("a lock is distinguished from other errors, and a failed transaction changes nothing", () => {
  const other = openDatabase(path, { busyTimeoutMs: 1 });
  immediate(db, () => {
    expect(db.inTransaction).toBe(true);
    expect(() => other.exec("INSERT INTO t (v) VALUES (2)")).toThrow(expect.toSatisfy(isLocked));
    return db.prepare("INSERT INTO t (v) VALUES (1)").run();
  });
  expect(() =>
    immediate(db, () => {
      db.exec("DELETE FROM t");
      throw new Error("stop");
    }),
  ).toThrow("stop");
  expect(db.inTransaction).toBe(false);
  expect(consistent(other, () => other.prepare("SELECT v FROM t").all())).toHaveLength(1);
  other.close();
});

it("backs up, writes to the catalog only when asked to, and closes", async () => {
  db.exec("INSERT INTO t (v) VALUES ('kept')");
  await db.backup(join(dir, "copy.db"));
  const copy = openDatabase(join(dir, "copy.db"));
  expect(copy.prepare("SELECT v FROM t").get()).toEqual({ v: "kept" });
  const cut = "DELETE FROM sqlite_master WHERE name = 'c'";
  expect(() => copy.exec(`PRAGMA writable_schema = ON; ${cut}`)).toThrow();
  copy.withCatalogWrites(() => copy.exec(cut));
  expect(copy.prepare("SELECT name FROM sqlite_master WHERE name = 'c'").all()).toEqual([]);
  expect(copy.pragma("user_version")).toBe(0);
  copy.close();
  expect(copy.open).toBe(false);
});

it("works after unused statements were garbage-collected", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let round = 0; round < 20; round++) {
    const short = openDatabase(path);
    for (let n = 0; n < 50; n++) short.prepare(`SELECT ${n}`).get();
    short.close();
    collect();
  }
  expect(db.prepare("SELECT count(*) AS n FROM t").get()).toEqual({ n: 0 });
});

it("uses a SQLite module only when it supports everything that the store needs", () => {
  const module = sqliteModule();
  expect(isUsable(module)).toBe(true);
  expect(isUsable({ DatabaseSync: module.DatabaseSync } as SqliteModule)).toBe(false);
  class WithoutFts extends module.DatabaseSync {
    override exec(sql: string): void {
      if (sql.includes("fts5")) throw new Error("no such module: fts5");
      super.exec(sql);
    }
  }
  expect(isUsable({ DatabaseSync: WithoutFts, backup: module.backup })).toBe(false);
});

it("says what to do when no SQLite can be loaded", () => {
  expect(explainLoadError(new Error("no such file"))).toMatchObject({
    message: expect.stringContaining("SQLite could not be loaded"),
    hint: expect.stringContaining("Node 24.19"),
  });
});
