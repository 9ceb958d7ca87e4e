// The two layouts of the search index: `inline` is exactly that of version 11; `compact` has the same table and
// trigger names but reads its text through a view, and puts only rows that hold CJK into the trigram table.
import type { Database } from "../connection/driver.ts";

export type IndexLayout = "inline" | "compact";

export const FTS_TABLES = ["messages_fts", "messages_fts_trigram"] as const;
export type FtsTable = (typeof FTS_TABLES)[number];

export const TEXT_VIEW = "messages_fts_text";
const TRIGGER_EVENTS = ["insert", "delete", "update"] as const;

/** U+3000–30FF, 3400–4DBF, 4E00–9FFF, AC00–D7AF, 20000–2A6DF. */
const CJK_CLASS = "[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u{20000}-\u{2a6df}]";

/** The text that version 11 indexes, of the row called `row` (`new`, `old`, or a table name). */
function inlineText(row: string): string {
  return `COALESCE(${row}.content, '') || ' ' || COALESCE(${row}.tool_name, '') || ' ' || COALESCE(${row}.tool_calls, '')`;
}

/**
 * The same text without the NUL in front of structured content: GLOB, and the trigram tokenizer of older
 * SQLite, stop at a NUL.
 */
function compactText(row: string): string {
  const content = `${row}.content`;
  const clean = `CASE WHEN substr(${content}, 1, 1) = '' AND ${content} <> '' THEN CAST(substr(CAST(${content} AS BLOB), 2) AS TEXT) ELSE ${content} END`;
  return `COALESCE(${clean}, '') || ' ' || COALESCE(${row}.tool_name, '') || ' ' || COALESCE(${row}.tool_calls, '')`;
}

/** The SQL expression of the text that `layout` indexes. */
export function indexedText(layout: IndexLayout, row: string): string {
  return layout === "inline" ? inlineText(row) : compactText(row);
}

/** True in SQL when the text expression holds a CJK character. */
export function holdsCjk(text: string): string {
  return `(${text}) GLOB '*${CJK_CLASS}*'`;
}

/** The SQL condition under which `layout` puts a row into `table`, or undefined when every row goes in. */
export function indexCondition(layout: IndexLayout, table: FtsTable, row: string): string | undefined {
  return layout === "compact" && table === "messages_fts_trigram" ? holdsCjk(compactText(row)) : undefined;
}

function tokenizer(table: FtsTable): string {
  return table === "messages_fts_trigram" ? ", tokenize='trigram'" : "";
}

function inlineObjects(table: FtsTable): string[] {
  const insert = `INSERT INTO ${table}(rowid, content) VALUES (new.id, ${inlineText("new")});`;
  const remove = `DELETE FROM ${table} WHERE rowid = old.id;`;
  return [
    `CREATE VIRTUAL TABLE ${table} USING fts5(content${tokenizer(table)})`,
    `CREATE TRIGGER ${table}_insert AFTER INSERT ON messages BEGIN ${insert} END`,
    `CREATE TRIGGER ${table}_delete AFTER DELETE ON messages BEGIN ${remove} END`,
    `CREATE TRIGGER ${table}_update AFTER UPDATE ON messages BEGIN ${remove} ${insert} END`,
  ];
}

/**
 * An external-content table needs the old text on delete, and must never be asked to delete a row that it does
 * not contain; its docsize table lists the rows it contains, also during a rebuild.
 */
function compactObjects(table: FtsTable): string[] {
  const condition = indexCondition("compact", table, "new");
  const insert = `INSERT INTO ${table}(rowid, content) SELECT new.id, ${compactText("new")}${condition ? ` WHERE ${condition}` : ""};`;
  const remove = `INSERT INTO ${table}(${table}, rowid, content) SELECT 'delete', old.id, ${compactText("old")} WHERE EXISTS (SELECT 1 FROM ${table}_docsize WHERE id = old.id);`;
  return [
    `CREATE VIRTUAL TABLE ${table} USING fts5(content${tokenizer(table)}, content='${TEXT_VIEW}', content_rowid='id')`,
    `CREATE TRIGGER ${table}_insert AFTER INSERT ON messages BEGIN ${insert} END`,
    `CREATE TRIGGER ${table}_delete AFTER DELETE ON messages BEGIN ${remove} END`,
    `CREATE TRIGGER ${table}_update AFTER UPDATE ON messages BEGIN ${remove} ${insert} END`,
  ];
}

export function triggerNames(table: FtsTable): string[] {
  return TRIGGER_EVENTS.map((event) => `${table}_${event}`);
}

function listObjects(layout: IndexLayout, table: FtsTable): string[] {
  return layout === "inline" ? inlineObjects(table) : compactObjects(table);
}

/** The table and its triggers, empty. The names must be free; call inside a transaction. */
export function createIndexTable(db: Database, layout: IndexLayout, table: FtsTable): void {
  if (layout === "compact") {
    db.exec(`CREATE VIEW IF NOT EXISTS ${TEXT_VIEW} AS SELECT id, ${compactText("messages")} AS content FROM messages`);
  }
  for (const sql of listObjects(layout, table)) db.exec(sql);
}

/** Creates those of the three triggers that are missing on an existing table. */
export function createMissingTriggers(db: Database, layout: IndexLayout, table: FtsTable): void {
  const [, ...triggers] = listObjects(layout, table);
  for (const sql of triggers) db.exec(sql.replace("CREATE TRIGGER", "CREATE TRIGGER IF NOT EXISTS"));
}

export function dropTriggers(db: Database): void {
  for (const table of FTS_TABLES) for (const name of triggerNames(table)) db.exec(`DROP TRIGGER IF EXISTS ${name}`);
}

/** What the file holds of the index, read from its catalog only. */
export interface IndexCatalog {
  readonly layout: IndexLayout;
  readonly missingTables: readonly FtsTable[];
  readonly missingTriggers: readonly string[];
}

export function readCatalog(db: Database): IndexCatalog {
  const rows = db
    .prepare<{ name: string; sql: string | null }>(
      "SELECT name, sql FROM sqlite_master WHERE name LIKE 'messages\\_fts%' ESCAPE '\\'",
    )
    .all();
  const byName = new Map(rows.map((row) => [row.name, row.sql ?? ""]));
  const external = FTS_TABLES.some((table) => byName.get(table)?.includes(`content='${TEXT_VIEW}'`));
  const present = FTS_TABLES.filter((table) => byName.has(table));
  return {
    layout: external || (present.length === 0 && byName.has(TEXT_VIEW)) ? "compact" : "inline",
    missingTables: FTS_TABLES.filter((table) => !byName.has(table)),
    missingTriggers: present.flatMap(triggerNames).filter((name) => !byName.has(name)),
  };
}

/** The layout of the file. */
export function readIndexLayout(db: Database): IndexLayout {
  return readCatalog(db).layout;
}
