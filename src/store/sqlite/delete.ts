// Deletes sessions: unlinks their children, then deletes the messages and the row.
import { chunks, marks, type StoreContext } from "./context.ts";

function topicTableExists({ db }: StoreContext): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'telegram_dm_topic_bindings'").get() !== undefined;
}

/** Works on any number of ids; unknown ones are ignored. Returns the number of deleted rows. */
export function deleteSessions(context: StoreContext, ids: readonly string[]): number {
  const { db } = context;
  const topics = topicTableExists(context);
  let deleted = 0;
  for (const part of chunks(ids)) {
    const list = marks(part);
    db.prepare(`UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id IN (${list})`).run(...part);
    db.prepare(`DELETE FROM messages WHERE session_id IN (${list})`).run(...part);
    // Tables from before the cascade was declared would otherwise refuse the delete.
    if (topics) db.prepare(`DELETE FROM telegram_dm_topic_bindings WHERE session_id IN (${list})`).run(...part);
    const keys = part.flatMap((id) => [`undone:${id}`, `goal:${id}`]);
    db.prepare(`DELETE FROM state_meta WHERE key IN (${marks(keys)})`).run(...keys);
    deleted += db.prepare(`DELETE FROM sessions WHERE id IN (${list})`).run(...part).changes;
  }
  return deleted;
}

/** Ended sessions that started before the cutoff; never running ones. */
export function findPrunable(
  { db, now }: StoreContext,
  options: { olderThanDays?: number | undefined; source?: string | undefined },
): string[] {
  const cutoff = now() - (options.olderThanDays ?? 90) * 24 * 3600;
  const where = "started_at < ? AND ended_at IS NOT NULL";
  const rows =
    options.source === undefined
      ? db.prepare<{ id: string }>(`SELECT id FROM sessions WHERE ${where} ORDER BY started_at`).all(cutoff)
      : db
          .prepare<{ id: string }>(`SELECT id FROM sessions WHERE ${where} AND source = ? ORDER BY started_at`)
          .all(cutoff, options.source);
  return rows.map((row) => row.id);
}

/** Those of `ids` that are still ended: one may have been reopened since it was found. */
export function stillEnded({ db }: StoreContext, ids: readonly string[]): string[] {
  return db
    .prepare<{ id: string }>(`SELECT id FROM sessions WHERE id IN (${marks(ids)}) AND ended_at IS NOT NULL`)
    .all(...ids)
    .map((row) => row.id);
}
