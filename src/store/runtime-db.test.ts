import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import type { LedgerEntry } from "../core/store/usage.ts";
import { createCjkIndex, splitPairs } from "./runtime/cjk-index.ts";
import { createUsageLedger } from "./runtime/usage-ledger.ts";
import { openRuntimeDb } from "./runtime-db.ts";
import { type Database, openDatabase } from "./sqlite/connection/driver.ts";
import { createBaseSchema } from "./sqlite/schema.ts";

let folder: string;

beforeEach(() => {
  folder = tempDir("hermes-runtime-");
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function stateDb(name: string): Database {
  const db = openDatabase(join(folder, name));
  createBaseSchema(db);
  db.prepare("INSERT OR IGNORE INTO sessions(id, source, started_at) VALUES ('s', 'cli', 1)").run();
  return db;
}

function add(db: Database, content: string, timestamp = 1): number {
  return db
    .prepare("INSERT INTO messages(session_id, role, content, timestamp) VALUES ('s', 'user', ?, ?)")
    .run(content, timestamp).lastInsertRowid;
}

const entry: LedgerEntry = {
  at: 1_700_000_000,
  purpose: "turn",
  sessionId: "s1",
  jobId: null,
  provider: "p",
  model: "big",
  baseUrl: "",
  usage: { input: 10, output: 5, cacheRead: 1, cacheWrite: 2, reasoning: 3 },
  cost: { usd: 0.25, status: "actual", source: "official_docs_snapshot" },
  durationMs: 12,
  outcome: "ok",
};

test("a new file is durable and opening it again changes nothing", () => {
  const path = join(folder, "deep", "runtime.db");
  const db = openRuntimeDb(path);
  expect(db.pragma("journal_mode")).toBe("wal");
  expect(db.pragma("synchronous")).toBe(2);
  const schema = db.prepare("SELECT name, sql FROM sqlite_master ORDER BY name").all();
  db.close();
  const again = openRuntimeDb(path);
  expect(again.prepare("SELECT name, sql FROM sqlite_master ORDER BY name").all()).toEqual(schema);
  again.close();
});

test("a damaged file is renamed, not overwritten, and the user is notified of the consequences", () => {
  const path = join(folder, "runtime.db");
  writeFileSync(path, "this is not a database, but the user may still need it".repeat(100));
  const notices: string[] = [];
  const db = openRuntimeDb(path, { onNotice: (text) => notices.push(text) });
  expect(notices.join()).toMatch(/runtime\.db was damaged.*past spending/);
  expect(readdirSync(folder).some((name) => name.startsWith("runtime.db.corrupt-"))).toBe(true);
  expect(db.prepare("SELECT count(*) AS n FROM usage_ledger").get()).toEqual({ n: 0 });
  db.close();
});

test("spending adds up by time, session and job; unknown prices are counted separately", async () => {
  const db = openRuntimeDb(join(folder, "runtime.db"));
  const ledger = createUsageLedger(() => db);
  await ledger.record(entry);
  await ledger.record({ ...entry, at: entry.at + 100, jobId: "job", cost: { ...entry.cost, usd: 0.5 } });
  await ledger.record({
    ...entry,
    sessionId: null,
    model: "odd",
    purpose: "compression",
    cost: { usd: null, status: "unknown", source: "none" },
  });
  expect(await ledger.spent({})).toBe(0.75);
  expect(await ledger.spent({ since: entry.at + 1 })).toBe(0.5);
  expect(await ledger.spent({ sessionId: "s1" })).toBe(0.75);
  expect(await ledger.spent({ jobId: "job" })).toBe(0.5);
  expect(await ledger.spent({ sessionId: "nobody" })).toBe(0);
  const byModel = await ledger.report({ since: 0, by: "model" });
  expect(byModel.map((group) => [group.key, group.calls, group.usd, group.unpriced])).toEqual([
    ["big", 2, 0.75, 0],
    ["odd", 1, 0, 1],
  ]);
  expect(byModel[0]?.usage).toEqual({ input: 20, output: 10, cacheRead: 2, cacheWrite: 4, reasoning: 6 });
  expect((await ledger.report({ since: 0, by: "session" })).map((group) => group.key)).toEqual(["s1", ""]);
  expect((await ledger.report({ since: 0, by: "purpose" })).map((group) => group.key)).toEqual(["turn", "compression"]);
  expect(await ledger.report({ since: 0, by: "day" })).toHaveLength(1);
  db.close();
});

test("a row is on disk when record resolves, and record waits for a lock held by another process", async () => {
  const path = join(folder, "runtime.db");
  const db = openRuntimeDb(path);
  const other = openRuntimeDb(path);
  other.exec("BEGIN IMMEDIATE");
  const recorded = createUsageLedger(() => db).record(entry);
  setTimeout(() => other.exec("COMMIT"), 50);
  await recorded;
  expect(other.prepare("SELECT count(*) AS n FROM usage_ledger").get()).toEqual({ n: 1 });
  db.close();
  other.close();
});

test("the side index adds new rows only, and is rebuilt for another state.db", () => {
  const runtime = openRuntimeDb(join(folder, "runtime.db"));
  const state = stateDb("state.db");
  const first = add(state, "数据库备份", 5);
  add(state, "nothing here", 6);
  const index = createCjkIndex(runtime, state);
  expect(index.catchUp(1000)).toBe(2);
  expect(index.find("备份")).toEqual([first]);
  expect(index.find("据库备")).toEqual([first]);
  expect(index.find("库据")).toEqual([]);
  const second = add(state, "另一个备份", 7);
  expect(index.catchUp(1000)).toBe(second);
  expect(index.find("备份")).toEqual([second, first]);
  expect(index.find("备份", { limit: 1 })).toEqual([second]);
  expect(index.find("备份", { below: second })).toEqual([first]);
  const restored = stateDb("older.db");
  const only = add(restored, "旧的备份", 3);
  const fresh = createCjkIndex(runtime, restored);
  fresh.catchUp(1000);
  expect(fresh.find("备份")).toEqual([only]);
  for (const db of [runtime, state, restored]) db.close();
});

test("grams are pairs within a run, and its last character", () => {
  expect(splitPairs("数据库 and 备")).toBe("数据 据库 库 备");
  expect(splitPairs("plain")).toBe("");
  expect(splitPairs("𠀀𠀁")).toBe("𠀀𠀁 𠀁");
});
