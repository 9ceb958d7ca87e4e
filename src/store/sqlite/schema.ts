// The declared schema of state.db, version 11: the single source of truth for creating and reconciling tables.
// The search tables and their triggers are declared in index/layout.ts.
import { errorMessage } from "../../lib/error-message.ts";
import type { Database } from "./connection/driver.ts";

export const SCHEMA_VERSION = 11;

export interface Column {
  readonly name: string;
  readonly type: "TEXT" | "INTEGER" | "REAL";
  /** Constraint text after the type, as written when the table is created. */
  readonly constraint?: string | undefined;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly tail?: string | undefined;
}

function text(...names: string[]): Column[] {
  return names.map((name) => ({ name, type: "TEXT" }));
}

function counters(...names: string[]): Column[] {
  return names.map((name) => ({ name, type: "INTEGER", constraint: "DEFAULT 0" }));
}

function real(...names: string[]): Column[] {
  return names.map((name) => ({ name, type: "REAL" }));
}

export const TABLES: readonly Table[] = [
  { name: "schema_version", columns: [{ name: "version", type: "INTEGER", constraint: "NOT NULL" }] },
  {
    name: "sessions",
    columns: [
      { name: "id", type: "TEXT", constraint: "PRIMARY KEY" },
      { name: "source", type: "TEXT", constraint: "NOT NULL" },
      ...text("user_id", "model", "model_config", "system_prompt", "parent_session_id"),
      { name: "started_at", type: "REAL", constraint: "NOT NULL" },
      ...real("ended_at"),
      ...text("end_reason"),
      ...counters("message_count", "tool_call_count", "input_tokens", "output_tokens"),
      ...counters("cache_read_tokens", "cache_write_tokens", "reasoning_tokens"),
      ...text("billing_provider", "billing_base_url", "billing_mode"),
      ...real("estimated_cost_usd", "actual_cost_usd"),
      ...text("cost_status", "cost_source", "pricing_version", "title"),
      ...counters("api_call_count"),
      ...text("handoff_state", "handoff_platform", "handoff_error"),
    ],
    tail: "FOREIGN KEY (parent_session_id) REFERENCES sessions(id)",
  },
  {
    name: "messages",
    columns: [
      { name: "id", type: "INTEGER", constraint: "PRIMARY KEY AUTOINCREMENT" },
      { name: "session_id", type: "TEXT", constraint: "NOT NULL REFERENCES sessions(id)" },
      { name: "role", type: "TEXT", constraint: "NOT NULL" },
      ...text("content", "tool_call_id", "tool_calls", "tool_name"),
      { name: "timestamp", type: "REAL", constraint: "NOT NULL" },
      { name: "token_count", type: "INTEGER" },
      ...text("finish_reason", "reasoning", "reasoning_content", "reasoning_details", "codex_reasoning_items"),
      ...text("codex_message_items"),
    ],
  },
  {
    name: "state_meta",
    columns: [{ name: "key", type: "TEXT", constraint: "PRIMARY KEY" }, ...text("value")],
  },
];

export const BASE_INDEXES: readonly string[] = [
  "CREATE INDEX IF NOT EXISTS idx_sessions_source ON sessions(source)",
  "CREATE INDEX IF NOT EXISTS idx_sessions_parent ON sessions(parent_session_id)",
  "CREATE INDEX IF NOT EXISTS idx_sessions_started ON sessions(started_at DESC)",
  "CREATE INDEX IF NOT EXISTS idx_messages_session ON messages(session_id, timestamp)",
];

export const TITLE_INDEX =
  "CREATE UNIQUE INDEX IF NOT EXISTS idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL";

export function createTableSql(table: Table): string {
  const lines = table.columns.map((column) => `${column.name} ${column.type} ${column.constraint ?? ""}`.trimEnd());
  if (table.tail) lines.push(table.tail);
  return `CREATE TABLE IF NOT EXISTS ${table.name} (\n  ${lines.join(",\n  ")}\n)`;
}

export function createBaseSchema(db: Database): void {
  for (const table of TABLES) db.exec(createTableSql(table));
  for (const index of BASE_INDEXES) db.exec(index);
}

function columnNames(db: Database, table: string): Set<string> {
  const rows = db.prepare<{ name: string }>(`PRAGMA table_info(${table})`).all();
  return new Set(rows.map((row) => row.name));
}

/** `sessions.title` and the like that the file lacks; empty for an up-to-date file. */
export function missingColumns(db: Database): { table: string; column: Column }[] {
  const missing: { table: string; column: Column }[] = [];
  for (const table of TABLES) {
    const live = columnNames(db, table.name);
    for (const column of table.columns) if (!live.has(column.name)) missing.push({ table: table.name, column });
  }
  return missing;
}

/** The part of a constraint that SQLite accepts in ADD COLUMN: NOT NULL (not on a key) and DEFAULT. */
function addableConstraint(column: Column): string {
  const constraint = column.constraint ?? "";
  if (constraint.includes("PRIMARY KEY")) return "";
  const parts: string[] = [];
  if (constraint.includes("NOT NULL")) parts.push("NOT NULL");
  const value = /DEFAULT \S+/.exec(constraint);
  if (value) parts.push(value[0]);
  return parts.join(" ");
}

/** Adds what is missing. Nothing is dropped, renamed or retyped; a column that cannot be added is reported. */
export function reconcileColumns(db: Database): string[] {
  const refused: string[] = [];
  for (const { table, column } of missingColumns(db)) {
    try {
      db.exec(`ALTER TABLE ${table} ADD COLUMN ${column.name} ${column.type} ${addableConstraint(column)}`);
    } catch (error) {
      refused.push(`${table}.${column.name}: ${errorMessage(error)}`);
    }
  }
  return refused;
}
