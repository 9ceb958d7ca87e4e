// Session rows: create, end, reopen, read; and the two one-off sweeps over old rows.
import { UserError } from "../../core/failure.ts";
import type { NewSession, SessionRow } from "../../core/store/session.ts";
import { TENANT_KEY } from "../../core/store/tenant.ts";
import { sqliteCode } from "../../lib/sqlite-error.ts";
import type { StoreContext } from "./context.ts";
import { encodeJson } from "./encoding.ts";
import { TABLES } from "./schema.ts";

const names = TABLES.find((table) => table.name === "sessions")?.columns.map((column) => column.name) ?? [];

export const SESSION_COLUMNS: readonly string[] = names;
/** The columns of lists: without the prompt, which is large and not shown there. */
export const SUMMARY_COLUMNS: readonly string[] = names.filter((name) => name !== "system_prompt");

/** `tenantOf` as SQL, over `s` (sessions). A JSON null is the owner, a missing key means that `user_id` is the tenant. */
export const TENANT = `(CASE WHEN json_valid(s.model_config) AND json_type(s.model_config, '$.${TENANT_KEY}') IS NOT NULL
  THEN json_extract(s.model_config, '$.${TENANT_KEY}') ELSE s.user_id END)`;

const SELECT_SESSION = `SELECT ${SESSION_COLUMNS.join(", ")} FROM sessions`;
const INSERT_SESSION = `INSERT OR IGNORE INTO sessions
  (id, source, user_id, model, model_config, system_prompt, parent_session_id, started_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;

/** An existing row is not changed. */
export function createSession({ db, now }: StoreContext, session: NewSession): string {
  try {
    db.prepare(INSERT_SESSION).run(
      session.id,
      session.source,
      session.userId ?? null,
      session.model ?? null,
      encodeJson(session.modelConfig),
      session.systemPrompt ?? null,
      session.parentSessionId ?? null,
      now(),
    );
  } catch (error) {
    if (sqliteCode(error) !== "SQLITE_CONSTRAINT_FOREIGNKEY") throw error;
    throw new UserError(`Session ${session.id} names a parent that does not exist: ${session.parentSessionId}.`, {
      hint: "Create the parent first, or leave it out.",
      cause: error,
    });
  }
  return session.id;
}

/** The first reason is kept; an unknown id is ignored. */
export function endSession({ db, now }: StoreContext, id: string, reason: string): void {
  db.prepare("UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ? AND ended_at IS NULL").run(
    now(),
    reason,
    id,
  );
}

export function reopenSession({ db }: StoreContext, id: string): void {
  db.prepare("UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ?").run(id);
}

export function updateSystemPrompt({ db }: StoreContext, id: string, text: string): void {
  db.prepare("UPDATE sessions SET system_prompt = ? WHERE id = ?").run(text, id);
}

export function getSession({ db }: StoreContext, id: string): SessionRow | null {
  return db.prepare<SessionRow>(`${SELECT_SESSION} WHERE id = ?`).get(id) ?? null;
}

export function getSessionByTitle({ db }: StoreContext, title: string): SessionRow | null {
  return db.prepare<SessionRow>(`${SELECT_SESSION} WHERE title = ?`).get(title) ?? null;
}

export function sessionCount({ db }: StoreContext, source?: string): number {
  const row =
    source === undefined
      ? db.prepare<{ n: number }>("SELECT count(*) AS n FROM sessions").get()
      : db.prepare<{ n: number }>("SELECT count(*) AS n FROM sessions WHERE source = ?").get(source);
  return row?.n ?? 0;
}

const WEEK = 7 * 24 * 3600;

/** Continuations that a crash left open and unused for a week are closed. */
export function finalizeOrphanedCompressionSessions({ db, now }: StoreContext): number {
  const time = now();
  return db
    .prepare(
      `UPDATE sessions SET ended_at = ?, end_reason = 'orphaned_compression'
       WHERE started_at < ? AND ended_at IS NULL AND COALESCE(api_call_count, 0) = 0
         AND EXISTS (SELECT 1 FROM sessions parent
                     WHERE parent.id = sessions.parent_session_id AND parent.end_reason = 'compression')
         AND EXISTS (SELECT 1 FROM messages m WHERE m.session_id = sessions.id)`,
    )
    .run(time, time - WEEK).changes;
}

/** Empty terminal sessions that were closed without a message, older than a day. */
export function findGhostSessions({ db, now }: StoreContext): string[] {
  return db
    .prepare<{ id: string }>(
      `SELECT id FROM sessions s
       WHERE source = 'tui' AND title IS NULL AND ended_at IS NOT NULL AND started_at < ?
         AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id)`,
    )
    .all(now() - 24 * 3600)
    .map((row) => row.id);
}
