// The schema: a new file has exactly the declared objects; files of earlier versions are migrated to it.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../src/store/sqlite/connection/driver.ts";
import { SqliteSessionStore } from "../src/store/sqlite-session-store.ts";
import { writeHistoricalFile } from "./kit/store-historical-file.ts";
import { tempDir } from "./kit/temp-dir.ts";

let dir: string;
let path: string;

beforeEach(() => {
  dir = tempDir("hermes-schema-");
  path = join(dir, "state.db");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function openAndClose(): Promise<void> {
  const store = await SqliteSessionStore.open({ path });
  await store.close();
}

function inspect<T>(read: (db: Database) => T): T {
  const db = openDatabase(path);
  try {
    return read(db);
  } finally {
    db.close();
  }
}

interface ColumnInfo {
  name: string;
  type: string;
  notnull: number;
  dflt_value: string | null;
  pk: number;
}

function columns(db: Database, table: string): string[] {
  return db
    .prepare<ColumnInfo>(`PRAGMA table_info(${table})`)
    .all()
    .map(({ name, type, notnull, dflt_value, pk }) => `${name} ${type} ${notnull} ${dflt_value} ${pk}`);
}

const text = (...names: string[]) => names.map((name) => `${name} TEXT 0 null 0`);
const counter = (...names: string[]) => names.map((name) => `${name} INTEGER 0 0 0`);
const real = (...names: string[]) => names.map((name) => `${name} REAL 0 null 0`);

const SESSIONS = [
  "id TEXT 0 null 1",
  "source TEXT 1 null 0",
  ...text("user_id", "model", "model_config", "system_prompt", "parent_session_id"),
  "started_at REAL 1 null 0",
  ...real("ended_at"),
  ...text("end_reason"),
  ...counter("message_count", "tool_call_count", "input_tokens", "output_tokens"),
  ...counter("cache_read_tokens", "cache_write_tokens", "reasoning_tokens"),
  ...text("billing_provider", "billing_base_url", "billing_mode"),
  ...real("estimated_cost_usd", "actual_cost_usd"),
  ...text("cost_status", "cost_source", "pricing_version", "title"),
  ...counter("api_call_count"),
  ...text("handoff_state", "handoff_platform", "handoff_error"),
];

const MESSAGES = [
  "id INTEGER 0 null 1",
  "session_id TEXT 1 null 0",
  "role TEXT 1 null 0",
  ...text("content", "tool_call_id", "tool_calls", "tool_name"),
  "timestamp REAL 1 null 0",
  "token_count INTEGER 0 null 0",
  ...text("finish_reason", "reasoning", "reasoning_content", "reasoning_details"),
  ...text("codex_reasoning_items", "codex_message_items"),
];

/** Every object except the shadow tables that SQLite creates. */
function objects(db: Database): string[] {
  return db
    .prepare<{ type: string; name: string }>(
      "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY type, name",
    )
    .all()
    .map((row) => `${row.type} ${row.name}`)
    .filter((name) => !/_(data|idx|content|docsize|config)$/.test(name));
}

const OBJECTS = [
  "index idx_messages_session",
  "index idx_sessions_parent",
  "index idx_sessions_source",
  "index idx_sessions_started",
  "index idx_sessions_title_unique",
  "table messages",
  "table messages_fts",
  "table messages_fts_trigram",
  "table schema_version",
  "table sessions",
  "table state_meta",
  "trigger messages_fts_delete",
  "trigger messages_fts_insert",
  "trigger messages_fts_trigram_delete",
  "trigger messages_fts_trigram_insert",
  "trigger messages_fts_trigram_update",
  "trigger messages_fts_update",
];

function indexColumns(db: Database, index: string): unknown[] {
  return db
    .prepare<{ name: string | null; desc: number; key: number }>(`PRAGMA index_xinfo(${index})`)
    .all()
    .filter((row) => row.key === 1)
    .map((row) => `${row.name}${row.desc ? " DESC" : ""}`);
}

describe("a fresh file", () => {
  it("has the objects, columns, types and defaults of version 11", async () => {
    await openAndClose();
    inspect((db) => {
      expect(objects(db)).toEqual(OBJECTS);
      expect(columns(db, "sessions")).toEqual(SESSIONS);
      expect(columns(db, "messages")).toEqual(MESSAGES);
      expect(columns(db, "state_meta")).toEqual(["key TEXT 0 null 1", "value TEXT 0 null 0"]);
      expect(columns(db, "schema_version")).toEqual(["version INTEGER 1 null 0"]);
      expect(db.prepare("SELECT version FROM schema_version").all()).toEqual([{ version: 11 }]);
      expect(db.prepare("PRAGMA foreign_key_list(sessions)").all()).toMatchObject([
        { table: "sessions", from: "parent_session_id", to: "id", on_delete: "NO ACTION" },
      ]);
      expect(db.prepare("PRAGMA foreign_key_list(messages)").all()).toMatchObject([
        { table: "sessions", from: "session_id", to: "id", on_delete: "NO ACTION" },
      ]);
      expect(indexColumns(db, "idx_sessions_started")).toEqual(["started_at DESC"]);
      expect(indexColumns(db, "idx_messages_session")).toEqual(["session_id", "timestamp"]);
      expect(db.pragma("journal_mode")).toBe("wal");
      expect([db.pragma("page_size"), db.pragma("auto_vacuum"), db.pragma("user_version")]).toEqual([4096, 0, 0]);
      const fts = db
        .prepare<{ sql: string }>(
          "SELECT sql FROM sqlite_master WHERE name LIKE 'messages_fts%' AND type = 'table' AND sql LIKE '%USING fts5%'",
        )
        .all();
      expect(fts.map((row) => row.sql.includes("content="))).toEqual([false, false]);
      expect(fts.filter((row) => row.sql.includes("trigram'"))).toHaveLength(1);
      expect(db.prepare("SELECT sql FROM sqlite_master WHERE name = 'messages'").get()).toMatchObject({
        sql: expect.stringContaining("AUTOINCREMENT"),
      });
    });
  });
  it("is left alone by a second opening", async () => {
    await openAndClose();
    const before = inspect((db) => [db.pragma("schema_version"), db.pragma("data_version"), objects(db)]);
    await openAndClose();
    expect(inspect((db) => [db.pragma("schema_version"), db.pragma("data_version"), objects(db)])).toEqual(before);
  });
  it("keeps the version of a later release, and columns it does not know", async () => {
    await openAndClose();
    inspect((db) => {
      db.exec("UPDATE schema_version SET version = 12");
      db.exec("ALTER TABLE sessions ADD COLUMN mood TEXT");
    });
    await openAndClose();
    inspect((db) => {
      expect(db.prepare("SELECT version FROM schema_version").all()).toEqual([{ version: 12 }]);
      expect(columns(db, "sessions")).toEqual([...SESSIONS, "mood TEXT 0 null 0"]);
    });
  });
});

describe.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])("a file of version %i", (version) => {
  it("becomes version 11 with everything in it", async () => {
    writeHistoricalFile(path, version);
    const store = await SqliteSessionStore.open({ path });
    expect(await store.getSession("old")).toMatchObject({
      source: "cli",
      title: version >= 3 ? "Old times" : null,
      api_call_count: 0,
    });
    expect((await store.getMessages("old")).map((row) => row.content)).toEqual([
      "remember the lighthouse",
      null,
      "部署完成了",
    ]);
    expect((await store.searchMessages("lighthouse")).hits).toHaveLength(1);
    expect((await store.searchMessages("kourou")).hits).toHaveLength(1);
    expect((await store.searchMessages("部署完成")).hits).toHaveLength(1);
    await store.appendMessage("old", { role: "assistant", content: "and on we go", reasoning_content: "r" });
    expect((await store.searchMessages("on we go")).hits).toHaveLength(1);
    await store.createSession({ id: "twin", source: "cli" });
    if (version >= 3) await expect(store.setSessionTitle("twin", "Old times")).rejects.toThrow(/in use/);
    await store.close();
    inspect((db) => {
      expect(db.prepare("SELECT version FROM schema_version").all()).toEqual([{ version: 11 }]);
      expect(objects(db)).toEqual(OBJECTS);
      expect(columns(db, "sessions").sort()).toEqual([...SESSIONS].sort());
      expect(columns(db, "messages").sort()).toEqual([...MESSAGES].sort());
      expect(db.pragma("integrity_check")).toBe("ok");
    });
  });
});

describe("files with a history", () => {
  it("gain a column that a renumbered release skipped", async () => {
    writeHistoricalFile(path, 8, { without: ["reasoning_content"] });
    await openAndClose();
    inspect((db) => expect(columns(db, "messages").sort()).toEqual([...MESSAGES].sort()));
  });
  it("number titles that were given twice before titles were unique", async () => {
    writeHistoricalFile(path, 3);
    inspect((db) =>
      db.exec("INSERT INTO sessions (id, source, started_at, title) VALUES ('late', 'cli', 99, 'Old times')"),
    );
    const notices: string[] = [];
    const store = await SqliteSessionStore.open({ path, onNotice: (notice) => void notices.push(notice) });
    expect(await store.getSessionTitle("old")).toBe("Old times");
    expect(await store.getSessionTitle("late")).toBe("Old times #2");
    expect(notices.join()).toContain("Old times #2");
    await store.close();
  });
});
