import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { tempDir } from "../../../../test/kit/temp-dir.ts";
import { type Database, immediate, openDatabase } from "../connection/driver.ts";
import { createBaseSchema } from "../schema.ts";
import { checkIndexHealth, ensureIndex, guardIndex } from "./health.ts";
import { readCatalog } from "./layout.ts";
import { readPlan, rebuildStep } from "./rebuild.ts";

let folder: string;
let db: Database;

beforeEach(() => {
  folder = tempDir("hermes-index-");
  db = openFresh(join(folder, "state.db"));
});

afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true, force: true });
});

function openFresh(path: string): Database {
  const fresh = openDatabase(path);
  fresh.pragma("journal_mode = WAL");
  createBaseSchema(fresh);
  fresh.prepare("INSERT OR IGNORE INTO sessions(id, source, started_at) VALUES ('s', 'cli', 1)").run();
  ensureIndex(fresh);
  return fresh;
}

function append(text: string | null, target = db): number {
  return guardIndex(target, () =>
    immediate(
      target,
      () =>
        target
          .prepare("INSERT INTO messages(session_id, role, content, timestamp) VALUES ('s', 'user', ?, 1)")
          .run(text).lastInsertRowid,
    ),
  );
}

function found(word: string, target = db): number[] {
  return target
    .prepare<{ rowid: number }>("SELECT rowid FROM messages_fts WHERE messages_fts MATCH ? ORDER BY rowid")
    .all(word)
    .map((row) => row.rowid);
}

test("a new file gets both tables and six triggers, and reports itself healthy", () => {
  expect(readCatalog(db)).toEqual({ layout: "inline", missingTables: [], missingTriggers: [] });
  expect(checkIndexHealth(db)).toEqual({ state: "ok", layout: "inline" });
  expect(found("hello")).toEqual([]);
  const id = append("hello world");
  expect(found("hello")).toEqual([id]);
});

test("rows written while a trigger was missing are found again after the next open", () => {
  db.exec("DROP TRIGGER messages_fts_insert");
  const lost = append("lost and found");
  db.exec("DELETE FROM state_meta");
  expect(checkIndexHealth(db).state).toBe("index_damaged");
  expect(ensureIndex(db).state).toBe("ok");
  expect(found("lost")).toEqual([lost]);
});

test("a gap of unknown origin is detected by the newest row", () => {
  db.exec("DROP TRIGGER messages_fts_insert");
  const lost = append("silent gap");
  db.exec(
    "CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN INSERT INTO messages_fts(rowid, content) VALUES (new.id, COALESCE(new.content, '') || ' ' || COALESCE(new.tool_name, '') || ' ' || COALESCE(new.tool_calls, '')); END",
  );
  ensureIndex(db);
  expect(found("silent")).toEqual([lost]);
});

test("text deleted while the delete trigger was missing is removed from the index", () => {
  const id = append("secret word");
  db.exec("DROP TRIGGER messages_fts_delete");
  db.prepare("DELETE FROM messages WHERE id = ?").run(id);
  append("another");
  ensureIndex(db);
  expect(found("secret")).toEqual([]);
  expect(found("another")).toHaveLength(1);
});

test("an append succeeds when a search table is missing, and the table is created again", () => {
  append("before");
  db.exec("DROP TABLE messages_fts_trigram");
  const id = append("after the loss");
  expect(db.prepare("SELECT content FROM messages WHERE id = ?").get(id)).toEqual({ content: "after the loss" });
  const health = checkIndexHealth(db);
  expect(health.state).toBe("index_damaged");
  expect(health.notice).toMatch(/being rebuilt/);
  while (rebuildStep(db));
  expect(checkIndexHealth(db).state).toBe("ok");
  expect(found("after")).toEqual([id]);
});

test("a rebuild that stops half-way continues in the next process, and rows appended meanwhile are not doubled", () => {
  for (let i = 0; i < 3000; i++) append(`row number ${i} common`);
  db.exec("DROP TABLE messages_fts");
  append("common tail");
  for (let i = 0; i < 5; i++) rebuildStep(db);
  const half = readPlan(db);
  expect(half?.next).toBeGreaterThan(1);
  expect(checkIndexHealth(db).progress).toBeGreaterThan(0);
  const second = openDatabase(db.path);
  ensureIndex(second);
  append("common newcomer", second);
  second.prepare("UPDATE messages SET content = 'changed' WHERE id = 2900").run();
  second.prepare("DELETE FROM messages WHERE id = 2901").run();
  while (rebuildStep(second));
  expect(found("common", second)).toHaveLength(3000);
  expect(found("changed", second)).toEqual([2900]);
  second.exec("INSERT INTO messages_fts(messages_fts) VALUES ('integrity-check')");
  second.close();
});
