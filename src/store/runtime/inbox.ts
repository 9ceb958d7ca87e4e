// The durable inbox: every event that a platform delivered, once per key, until it is done.

import type { InboundEvent } from "../../core/chat/platform.ts";
import type { InboxOutcome, InboxRow } from "../../core/store/mailbox.ts";
import type { Database } from "../sqlite/connection/driver.ts";

interface Row {
  readonly id: number;
  readonly platform: string;
  readonly event: string;
  readonly state: InboxRow["state"];
  readonly session_id: string | null;
  readonly log_after: number | null;
  readonly attempts: number;
  readonly received_at: number;
}

function inboxRow(row: Row): InboxRow {
  return {
    id: row.id,
    platform: row.platform,
    event: JSON.parse(row.event) as InboundEvent,
    state: row.state,
    sessionId: row.session_id,
    logAfter: row.log_after,
    attempts: row.attempts,
    receivedAt: row.received_at,
  };
}

const COLUMNS = "id, platform, event, state, session_id, log_after, attempts, received_at";

export function acceptEvents(
  db: Database,
  platform: string,
  events: readonly InboundEvent[],
  now: number,
): readonly InboxRow[] {
  const insert = db.prepare<Row>(
    `INSERT INTO gateway_inbox(platform, account, chat_id, message_id, event, state, received_at)
     VALUES (?, ?, ?, ?, ?, 'received', ?) ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
  );
  const rows: InboxRow[] = [];
  for (const event of events) {
    const { chatId } = event.source;
    const row = insert.get(platform, event.account, chatId, event.messageId, JSON.stringify(event), now);
    if (row) rows.push(inboxRow(row));
  }
  return rows;
}

export function pendingEvents(db: Database): InboxRow[] {
  return db.prepare<Row>(`SELECT ${COLUMNS} FROM gateway_inbox WHERE state <> 'done' ORDER BY id`).all().map(inboxRow);
}

export function beginEvents(
  db: Database,
  ids: readonly number[],
  place: { readonly sessionId: string; readonly logAfter: number },
): void {
  const update = db.prepare(
    "UPDATE gateway_inbox SET state = 'running', session_id = ?, log_after = ?, attempts = attempts + 1 WHERE id = ? AND state <> 'done'",
  );
  for (const id of ids) update.run(place.sessionId, place.logAfter, id);
}

/** How many of them were not done before: answers are written only for those. */
export function finishEvents(db: Database, ids: readonly number[], outcome: InboxOutcome, now: number): number {
  const update = db.prepare(
    "UPDATE gateway_inbox SET state = 'done', outcome = ?, done_at = ? WHERE id = ? AND state <> 'done'",
  );
  return ids.reduce((changed, id) => changed + update.run(outcome, now, id).changes, 0);
}

export function pruneEvents(db: Database, before: number): number {
  return db.prepare("DELETE FROM gateway_inbox WHERE done_at < ?").run(before).changes;
}

export function receivedIds(db: Database, platform: string, since: number): string[] {
  return db
    .prepare<{ message_id: string }>("SELECT message_id FROM gateway_inbox WHERE platform = ? AND received_at >= ?")
    .all(platform, since)
    .map((row) => row.message_id);
}

export function countEvents(db: Database): { open: number; oldest: number | null } {
  const sql = "SELECT COUNT(*) AS open, MIN(received_at) AS oldest FROM gateway_inbox WHERE state <> 'done'";
  return db.prepare<{ open: number; oldest: number | null }>(sql).get() ?? { open: 0, oldest: null };
}
