// A file shared with Hermes Agent v0.14: each program opens, extends and searches what the other wrote.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SqliteSessionStore } from "../src/store/sqlite-session-store.ts";
import { tempDir } from "./kit/temp-dir.ts";

const python = spawnSync("python3", ["-c", "import sqlite3; print(sqlite3.sqlite_version)"], { encoding: "utf8" });
const reason = python.status === 0 ? "" : " (skipped: python3 with sqlite3 was not found)";

let dir: string;
let path: string;

beforeEach(() => {
  dir = tempDir("hermes-interchange-");
  path = join(dir, "state.db");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function runPython(script: string): unknown {
  const file = join(dir, "script.py");
  writeFileSync(file, `import sqlite3, json, time\nPATH = ${JSON.stringify(path)}\n${script}`);
  const { stdout, stderr, status } = spawnSync("python3", [file], { encoding: "utf8" });
  expect(`${stderr}${status}`).toBe("0");
  return stdout === "" ? undefined : JSON.parse(stdout);
}

const TEXT = "COALESCE(new.content,'') || ' ' || COALESCE(new.tool_name,'') || ' ' || COALESCE(new.tool_calls,'')";

/** Tables as version 11 makes them, with rows as Python's json module writes them. */
const WRITE = `
db = sqlite3.connect(PATH)
db.execute("PRAGMA journal_mode=WAL")
db.executescript("""
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES (11);
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT,
  system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
  message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,
  output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0,
  reasoning_tokens INTEGER DEFAULT 0, billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT,
  estimated_cost_usd REAL, actual_cost_usd REAL, cost_status TEXT, cost_source TEXT, pricing_version TEXT,
  title TEXT, api_call_count INTEGER DEFAULT 0, handoff_state TEXT, handoff_platform TEXT, handoff_error TEXT,
  FOREIGN KEY (parent_session_id) REFERENCES sessions(id));
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
  role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL,
  token_count INTEGER, finish_reason TEXT, reasoning TEXT, reasoning_content TEXT, reasoning_details TEXT,
  codex_reasoning_items TEXT, codex_message_items TEXT);
CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT);
CREATE INDEX idx_sessions_source ON sessions(source);
CREATE INDEX idx_sessions_parent ON sessions(parent_session_id);
CREATE INDEX idx_sessions_started ON sessions(started_at DESC);
CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;
""")
for table, options in (("messages_fts", ""), ("messages_fts_trigram", ", tokenize='trigram'")):
    insert = "INSERT INTO %s(rowid, content) VALUES (new.id, ${TEXT});" % table
    remove = "DELETE FROM %s WHERE rowid = old.id;" % table
    db.execute("CREATE VIRTUAL TABLE %s USING fts5(content%s)" % (table, options))
    db.execute("CREATE TRIGGER %s_insert AFTER INSERT ON messages BEGIN %s END" % (table, insert))
    db.execute("CREATE TRIGGER %s_delete AFTER DELETE ON messages BEGIN %s END" % (table, remove))
    db.execute("CREATE TRIGGER %s_update AFTER UPDATE ON messages BEGIN %s %s END" % (table, remove, insert))
db.execute("INSERT INTO sessions (id, source, model, model_config, started_at, title, message_count) VALUES (?,?,?,?,?,?,4)",
  ("20260101_101010_abcdef", "cli", "m", json.dumps({"note": "grün"}), 1767262210.25, "Alte Zeiten"))
parts = "\\x00json:" + json.dumps([{"type": "text", "text": "schöne Giraffe im Zoo"}, {"type": "image_url", "image_url": {"url": "x"}}])
calls = json.dumps([{"id": "1", "type": "function", "function": {"name": "suche", "arguments": json.dumps({"q": "Köln"})}}])
rows = [("user", parts, None, None), ("assistant", None, calls, None), ("tool", "Ergebnis", None, "suche"), ("assistant", "备份数据库完成", None, None)]
for n, (role, content, tool_calls, tool_name) in enumerate(rows):
    db.execute("INSERT INTO messages (session_id, role, content, tool_calls, tool_name, timestamp) VALUES (?,?,?,?,?,?)",
      ("20260101_101010_abcdef", role, content, tool_calls, tool_name, 1767262211.5 + n))
db.commit()
db.close()
`;

describe(`a file written by Python${reason}`, () => {
  it.skipIf(reason !== "")("lists, searches, replays, exports and continues here", async () => {
    runPython(WRITE);
    const store = await SqliteSessionStore.open({ path });
    const [row] = await store.listSessions();
    expect(row).toMatchObject({
      id: "20260101_101010_abcdef",
      title: "Alte Zeiten",
      preview: "schöne Giraffe im Zoo [image]",
    });
    expect(JSON.parse(row?.model_config ?? "")).toEqual({ note: "grün" });
    for (const query of ["Giraffe", "suche", "Ergebnis", "备份数据库", "备份"]) {
      expect((await store.searchMessages(query)).hits.length, query).toBeGreaterThan(0);
    }
    const conversation = await store.getConversation("20260101_101010_abcdef");
    expect(conversation[1]).toMatchObject({
      tool_calls: [{ function: { name: "suche", arguments: '{"q": "K\\u00f6ln"}' } }],
    });
    await store.appendMessage("20260101_101010_abcdef", { role: "user", content: "und weiter geht es" });
    expect((await store.getSession("20260101_101010_abcdef"))?.message_count).toBe(5);
    expect((await store.exportSession("20260101_101010_abcdef"))?.messages).toHaveLength(5);
    expect((await store.health()).state).toBe("ok");
    await store.close();
    expect(
      runPython(`db = sqlite3.connect(PATH)
print(json.dumps(db.execute("SELECT rowid FROM messages_fts WHERE messages_fts MATCH 'weiter'").fetchall()))`),
    ).toEqual([[5]]);
  });
});

describe(`a file written here${reason}`, () => {
  it.skipIf(reason !== "").each(["inline", "compact"] as const)(
    "(%s) opens, extends and searches in Python",
    async (layout) => {
      const store = await SqliteSessionStore.open({ path });
      if (layout === "compact") await store.setIndexLayout("compact");
      await store.createSession({ id: "s", source: "cli", modelConfig: { note: "grün" } });
      await store.appendMessage("s", { role: "user", content: [{ type: "text", text: "fröhliches Walross" }] });
      await store.appendMessage("s", { role: "assistant", content: "the lighthouse 备份数据库" });
      await store.close();
      const seen = runPython(`
db = sqlite3.connect(PATH, isolation_level=None, timeout=1.0)
db.execute("PRAGMA foreign_keys=ON")
match = lambda table, query: [r[0] for r in db.execute("SELECT m.id FROM %s f JOIN messages m ON m.id = f.rowid WHERE %s MATCH ? ORDER BY rank" % (table, table), (query,))]
content = db.execute("SELECT content FROM messages WHERE id = 1").fetchone()[0]
db.execute("BEGIN IMMEDIATE")
db.execute("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'from python with 新的内容', ?)", (time.time(),))
db.execute("UPDATE sessions SET message_count = message_count + 1 WHERE id = 's'")
db.execute("COMMIT")
db.execute("DELETE FROM messages WHERE id = 2")
print(json.dumps({
  "version": db.execute("SELECT version FROM schema_version").fetchone()[0],
  "parts": json.loads(content[6:]), "sentinel": content[:6],
  "walrus": match("messages_fts", "Walross"), "python": match("messages_fts", "python"),
  "gone": match("messages_fts", "lighthouse"), "cjk": match("messages_fts_trigram", '"新的内容"'),
  "snippet": db.execute("SELECT snippet(messages_fts, 0, '>>>', '<<<', '...', 40) FROM messages_fts WHERE messages_fts MATCH 'python'").fetchone()[0],
  "check": db.execute("PRAGMA integrity_check").fetchone()[0],
}))`);
      expect(seen).toMatchObject({
        version: 11,
        parts: [{ type: "text", text: "fröhliches Walross" }],
        sentinel: "\u0000json:",
        walrus: [1],
        python: [3],
        gone: [],
        cjk: [3],
        check: "ok",
      });
      expect((seen as { snippet: string }).snippet).toContain(">>>python<<<");
      const again = await SqliteSessionStore.open({ path });
      expect((await again.searchMessages("python")).hits.map((hit) => hit.id)).toEqual([3]);
      expect((await again.health()).state).toBe("ok");
      await again.close();
    },
  );
});
