// The durable outbox: one row per visible message, with the state of its sending.
import type { NewOutgoing, OutboxPayload, OutboxRow } from "../../core/store/mailbox.ts";
import type { Database } from "../sqlite/connection/driver.ts";

interface Row {
  readonly id: number;
  readonly key: string;
  readonly platform: string;
  readonly chat_id: string;
  readonly thread_id: string | null;
  readonly payload: string;
  readonly ephemeral: number;
  readonly state: OutboxRow["state"];
  readonly attempts: number;
  readonly mark: string | null;
  readonly message_id: string | null;
  readonly error: string | null;
  readonly created_at: number;
}

const COLUMNS =
  "id, key, platform, chat_id, thread_id, payload, ephemeral, state, attempts, mark, message_id, error, created_at";

function outboxRow(row: Row): OutboxRow {
  return {
    id: row.id,
    key: row.key,
    platform: row.platform,
    to: { chatId: row.chat_id, threadId: row.thread_id ?? undefined },
    payload: JSON.parse(row.payload) as OutboxPayload,
    ephemeral: row.ephemeral === 1,
    state: row.state,
    attempts: row.attempts,
    mark: row.mark,
    messageId: row.message_id,
    error: row.error,
    createdAt: row.created_at,
  };
}

/** `sending` stores the first row as being sent already, with its mark. */
export function enqueueRows(
  db: Database,
  outgoing: readonly NewOutgoing[],
  now: number,
  sending?: { readonly mark: string | null },
): OutboxRow[] {
  const insert = db.prepare<Row>(
    `INSERT INTO gateway_outbox(key, platform, chat_id, thread_id, payload, ephemeral, state, attempts, mark, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
  );
  const rows: OutboxRow[] = [];
  for (const [index, { key, platform, to, payload, ephemeral }] of outgoing.entries()) {
    const leaves = index === 0 ? sending : undefined;
    const address = [key, platform, to.chatId, to.threadId ?? null];
    const state = leaves ? ["sending", 1, leaves.mark] : ["queued", 0, null];
    const row = insert.get(...address, JSON.stringify(payload), ephemeral ? 1 : 0, ...state, now);
    if (row) rows.push(outboxRow(row));
  }
  return rows;
}

export function rowByKey(db: Database, key: string): OutboxRow | null {
  const row = db.prepare<Row>(`SELECT ${COLUMNS} FROM gateway_outbox WHERE key = ?`).get(key);
  return row ? outboxRow(row) : null;
}

/** Closes the rows that a crash made obsolete, then returns what must still be sent. */
export function pendingRows(db: Database, now: number): OutboxRow[] {
  db.prepare(
    "UPDATE gateway_outbox SET state = 'failed', error = 'the gateway restarted', done_at = ? WHERE state IN ('queued', 'sending') AND ephemeral = 1",
  ).run(now);
  return db
    .prepare<Row>(`SELECT ${COLUMNS} FROM gateway_outbox WHERE state IN ('queued', 'sending') ORDER BY id`)
    .all()
    .map(outboxRow);
}

export function markSending(db: Database, id: number, mark: string | null): void {
  db.prepare("UPDATE gateway_outbox SET state = 'sending', mark = ?, attempts = attempts + 1 WHERE id = ?").run(
    mark,
    id,
  );
}

export function markSent(db: Database, id: number, messageId: string, now: number): void {
  db.prepare("UPDATE gateway_outbox SET state = 'sent', message_id = ?, error = NULL, done_at = ? WHERE id = ?").run(
    messageId,
    now,
    id,
  );
}

export function markPostponed(db: Database, id: number, reason: string): void {
  db.prepare("UPDATE gateway_outbox SET state = 'queued', error = ? WHERE id = ?").run(reason, id);
}

export function markFailed(db: Database, id: number, reason: string, now: number): void {
  db.prepare("UPDATE gateway_outbox SET state = 'failed', error = ?, done_at = ? WHERE id = ?").run(reason, now, id);
}

export function pruneRows(db: Database, before: number): number {
  return db.prepare("DELETE FROM gateway_outbox WHERE done_at < ?").run(before).changes;
}

export function sentIds(db: Database, platform: string, since: number): string[] {
  return db
    .prepare<{ message_id: string }>(
      "SELECT message_id FROM gateway_outbox WHERE platform = ? AND done_at >= ? AND message_id IS NOT NULL",
    )
    .all(platform, since)
    .map((row) => row.message_id);
}

/** The last received and the last sent message of each chat. */
export function newestIds(db: Database, platform: string): { chatId: string; messageId: string }[] {
  const newest = (table: string, condition: string) =>
    `SELECT chat_id AS chatId, message_id AS messageId, MAX(id) FROM ${table} WHERE platform = ? ${condition} GROUP BY chat_id`;
  const sql = `${newest("gateway_inbox", "")} UNION ALL ${newest("gateway_outbox", "AND message_id IS NOT NULL")}`;
  return db
    .prepare<{ chatId: string; messageId: string }>(sql)
    .all(platform, platform)
    .map(({ chatId, messageId }) => ({ chatId, messageId }));
}

export function failedRows(db: Database, limit: number): OutboxRow[] {
  return db
    .prepare<Row>(
      `SELECT ${COLUMNS} FROM gateway_outbox WHERE state = 'failed' AND ephemeral = 0 ORDER BY done_at DESC LIMIT ?`,
    )
    .all(limit)
    .map(outboxRow);
}

export function countRows(db: Database, dayAgo: number): { open: number; failed: number } {
  const open = db
    .prepare<{ n: number }>("SELECT COUNT(*) AS n FROM gateway_outbox WHERE state IN ('queued', 'sending')")
    .get();
  const failed = db
    .prepare<{ n: number }>(
      "SELECT COUNT(*) AS n FROM gateway_outbox WHERE done_at >= ? AND state = 'failed' AND ephemeral = 0",
    )
    .get(dayAgo);
  return { open: open?.n ?? 0, failed: failed?.n ?? 0 };
}
