// Writes state.db as an earlier schema version left it: its tables, its index, three messages.
import { openDatabase } from "../../src/store/sqlite/connection/driver.ts";

interface Added {
  readonly version: number;
  readonly table: "sessions" | "messages";
  readonly column: string;
}

const ADDED: readonly Added[] = [
  { version: 2, table: "messages", column: "finish_reason TEXT" },
  { version: 3, table: "sessions", column: "title TEXT" },
  ...[
    "cache_read_tokens INTEGER DEFAULT 0",
    "cache_write_tokens INTEGER DEFAULT 0",
    "reasoning_tokens INTEGER DEFAULT 0",
    "billing_provider TEXT",
    "billing_base_url TEXT",
    "billing_mode TEXT",
    "estimated_cost_usd REAL",
    "actual_cost_usd REAL",
    "cost_status TEXT",
    "cost_source TEXT",
    "pricing_version TEXT",
  ].map((column): Added => ({ version: 5, table: "sessions", column })),
  ...["reasoning TEXT", "reasoning_details TEXT", "codex_reasoning_items TEXT"].map(
    (column): Added => ({ version: 6, table: "messages", column }),
  ),
  { version: 7, table: "messages", column: "reasoning_content TEXT" },
  { version: 8, table: "sessions", column: "api_call_count INTEGER DEFAULT 0" },
  { version: 9, table: "messages", column: "codex_message_items TEXT" },
];

const BASE = [
  "CREATE TABLE schema_version (version INTEGER NOT NULL)",
  `CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT,
    system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
    message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,
    output_tokens INTEGER DEFAULT 0, FOREIGN KEY (parent_session_id) REFERENCES sessions(id))`,
  `CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
    role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL,
    token_count INTEGER)`,
  "CREATE INDEX idx_sessions_source ON sessions(source)",
  "CREATE INDEX idx_sessions_parent ON sessions(parent_session_id)",
  "CREATE INDEX idx_sessions_started ON sessions(started_at DESC)",
  "CREATE INDEX idx_messages_session ON messages(session_id, timestamp)",
];

/** The index of versions 1 to 10: external content, the message text only. */
function externalIndex(table: string, tokenizer: string): string[] {
  const remove = `INSERT INTO ${table}(${table}, rowid, content) VALUES ('delete', old.id, old.content);`;
  const insert = `INSERT INTO ${table}(rowid, content) VALUES (new.id, new.content);`;
  return [
    `CREATE VIRTUAL TABLE ${table} USING fts5(content, content=messages, content_rowid=id${tokenizer})`,
    `CREATE TRIGGER ${table}_insert AFTER INSERT ON messages BEGIN ${insert} END`,
    `CREATE TRIGGER ${table}_delete AFTER DELETE ON messages BEGIN ${remove} END`,
    `CREATE TRIGGER ${table}_update AFTER UPDATE ON messages BEGIN ${remove} ${insert} END`,
  ];
}

const CALLS =
  '[{"id": "1", "type": "function", "function": {"name": "launch", "arguments": "{\\"pad\\": \\"kourou\\"}"}}]';

export function writeHistoricalFile(
  path: string,
  version: number,
  options: { readonly without?: readonly string[] } = {},
): void {
  const db = openDatabase(path);
  for (const sql of [...BASE, ...externalIndex("messages_fts", "")]) db.exec(sql);
  for (const added of ADDED) {
    const skipped = options.without?.some((name) => added.column.startsWith(`${name} `)) ?? false;
    if (added.version <= version && !skipped) db.exec(`ALTER TABLE ${added.table} ADD COLUMN ${added.column}`);
  }
  if (version >= 4) {
    db.exec("CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL");
  }
  if (version >= 10) for (const sql of externalIndex("messages_fts_trigram", ", tokenize='trigram'")) db.exec(sql);
  db.prepare("INSERT INTO schema_version VALUES (?)").run(version);
  db.exec("INSERT INTO sessions (id, source, started_at, message_count) VALUES ('old', 'cli', 10.5, 3)");
  if (version >= 3) db.exec("UPDATE sessions SET title = 'Old times'");
  const insert = db.prepare(
    "INSERT INTO messages (session_id, role, content, tool_calls, timestamp) VALUES ('old', ?, ?, ?, ?)",
  );
  insert.run("user", "remember the lighthouse", null, 11);
  insert.run("assistant", null, CALLS, 12);
  insert.run("user", "部署完成了", null, 13);
  db.close();
}
