// The floor: the same SQL statements on the API of node:sqlite, without any other code.
import { type DatabaseSync, sqliteModule } from "../src/store/sqlite/connection/sqlite-module.ts";

export interface Raw {
  append(session: string, text: string): void;
  list(): unknown[];
  listByActivity(): unknown[];
  replay(session: string): unknown[];
  match(table: string, expression: string, source?: string): unknown[];
  like(text: string): unknown[];
  close(): void;
}

const HIT = "m.id, m.session_id, m.role, m.timestamp, m.tool_name, s.source, s.model, s.started_at AS session_started";
const PREVIEW = `COALESCE((SELECT substr(replace(replace(m.content, char(10), ' '), char(13), ' '), 1, 63) FROM messages m
  WHERE m.session_id = s.id AND m.role = 'user' AND m.content IS NOT NULL ORDER BY m.timestamp, m.id LIMIT 1), '') AS preview`;
const ACTIVE =
  "COALESCE((SELECT MAX(m2.timestamp) FROM messages m2 WHERE m2.session_id = s.id), s.started_at) AS last_active";
const VISIBLE = `(s.parent_session_id IS NULL OR EXISTS (SELECT 1 FROM sessions p WHERE p.id = s.parent_session_id
  AND p.end_reason = 'branched' AND s.started_at >= p.ended_at))`;
const CHAIN = `WITH RECURSIVE chain(root_id, cur_id) AS (
    SELECT s.id, s.id FROM sessions s WHERE ${VISIBLE}
    UNION ALL
    SELECT c.root_id, child.id FROM chain c JOIN sessions parent ON parent.id = c.cur_id
      JOIN sessions child ON child.parent_session_id = c.cur_id
      WHERE parent.end_reason = 'compression' AND child.started_at >= parent.ended_at),
  activity AS (SELECT root_id, MAX(COALESCE((SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id = cur_id),
    (SELECT started_at FROM sessions ss WHERE ss.id = cur_id))) AS effective FROM chain GROUP BY root_id)`;

interface Row {
  readonly id: number;
  readonly session_id: string;
  readonly timestamp: number;
}

/** The found rows with the messages around each, as a user sees them. */
function withContext(db: DatabaseSync): (rows: Row[]) => unknown[] {
  const before = db.prepare(
    "SELECT role, content FROM messages WHERE session_id = ? AND (timestamp, id) < (?, ?) ORDER BY timestamp DESC, id DESC LIMIT 1",
  );
  const after = db.prepare(
    "SELECT role, content FROM messages WHERE session_id = ? AND (timestamp, id) > (?, ?) ORDER BY timestamp, id LIMIT 1",
  );
  const itself = db.prepare("SELECT role, content FROM messages WHERE id = ?");
  return (rows) =>
    rows.map((row) => ({
      ...row,
      context: [
        before.get(row.session_id, row.timestamp, row.id),
        itself.get(row.id),
        after.get(row.session_id, row.timestamp, row.id),
      ],
    }));
}

function appender(db: DatabaseSync): Raw["append"] {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const insert = db.prepare(
    `INSERT INTO messages(session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp, token_count,
      finish_reason, reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items)
     VALUES (?, 'user', ?, NULL, NULL, NULL, ?, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
  );
  const count = db.prepare("UPDATE sessions SET message_count = message_count + 1 WHERE id = ?");
  let writes = 0;
  return (session, text) => {
    begin.run();
    insert.run(session, text, Date.now() / 1000);
    count.run(session);
    commit.run();
    if (++writes % 50 === 0) db.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
  };
}

function finder(db: DatabaseSync): Raw["match"] {
  const decorate = withContext(db);
  return (table, expression, source) => {
    const filter = source === undefined ? "" : "AND s.source IN (?)";
    const statement = db.prepare(
      `SELECT ${HIT}, snippet(${table}, 0, '>>>', '<<<', '...', 40) AS snippet FROM ${table}
       JOIN messages m ON m.id = ${table}.rowid JOIN sessions s ON s.id = m.session_id
       WHERE ${table} MATCH ? ${filter} ORDER BY rank LIMIT 20 OFFSET 0`,
    );
    const values = source === undefined ? [expression] : [expression, source];
    return decorate(statement.all(...values) as Row[]);
  };
}

export function openRaw(path: string): Raw {
  const db = new (sqliteModule().DatabaseSync)(path, { readOnly: false, timeout: 1000 });
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  const list = db.prepare(
    `SELECT s.*, ${PREVIEW}, ${ACTIVE} FROM sessions s WHERE ${VISIBLE} ORDER BY s.started_at DESC LIMIT 20 OFFSET 0`,
  );
  const byActivity = db.prepare(
    `${CHAIN} SELECT s.*, ${PREVIEW}, ${ACTIVE} FROM sessions s JOIN activity a ON a.root_id = s.id
     ORDER BY a.effective DESC, s.started_at DESC, s.id DESC LIMIT 20 OFFSET 0`,
  );
  const replay = db.prepare(
    `SELECT role, content, tool_call_id, tool_calls, tool_name, finish_reason, reasoning, reasoning_content,
      reasoning_details, codex_reasoning_items, codex_message_items FROM messages WHERE session_id = ? ORDER BY id`,
  );
  const like = db.prepare(
    `SELECT ${HIT}, substr(m.content, max(1, instr(m.content, ?) - 40), 120) AS snippet FROM messages m
     JOIN sessions s ON s.id = m.session_id
     WHERE (m.content LIKE ? OR m.tool_name LIKE ? OR m.tool_calls LIKE ?) ORDER BY m.timestamp DESC LIMIT 20 OFFSET 0`,
  );
  const decorate = withContext(db);
  return {
    append: appender(db),
    list: () => list.all(),
    listByActivity: () => byActivity.all(),
    replay: (session) => {
      const rows = replay.all(session) as { tool_calls: string | null }[];
      return rows.map((row) => ({ ...row, tool_calls: row.tool_calls ? JSON.parse(row.tool_calls) : null }));
    },
    match: finder(db),
    like: (text) => decorate(like.all(text, `%${text}%`, `%${text}%`, `%${text}%`) as Row[]),
    close: () => db.close(),
  };
}
