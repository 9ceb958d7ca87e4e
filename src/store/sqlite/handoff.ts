// Moving a live session to a chat platform: NULL → pending → running → completed | failed.
import type { HandoffState } from "../../core/store/handoff.ts";
import type { SessionRow } from "../../core/store/session.ts";
import type { StoreContext } from "./context.ts";
import { SESSION_COLUMNS } from "./sessions.ts";
import { cut } from "./text.ts";

const MAX_ERROR = 500;

/** False while a handoff of this session is under way, or for an unknown id. */
export function requestHandoff({ db }: StoreContext, id: string, platform: string): boolean {
  const { changes } = db
    .prepare(
      `UPDATE sessions SET handoff_state = 'pending', handoff_platform = ?, handoff_error = NULL
       WHERE id = ? AND (handoff_state IS NULL OR handoff_state IN ('completed', 'failed'))`,
    )
    .run(platform, id);
  return changes > 0;
}

/** True for exactly one of several claimants. */
export function claimHandoff({ db }: StoreContext, id: string): boolean {
  return (
    db.prepare("UPDATE sessions SET handoff_state = 'running' WHERE id = ? AND handoff_state = 'pending'").run(id)
      .changes > 0
  );
}

export function completeHandoff({ db }: StoreContext, id: string): void {
  db.prepare("UPDATE sessions SET handoff_state = 'completed', handoff_error = NULL WHERE id = ?").run(id);
}

export function failHandoff({ db }: StoreContext, id: string, error: string): void {
  db.prepare("UPDATE sessions SET handoff_state = 'failed', handoff_error = ? WHERE id = ?").run(
    cut(error, MAX_ERROR),
    id,
  );
}

export function getHandoffState({ db }: StoreContext, id: string): HandoffState | null {
  const row = db
    .prepare<HandoffState>(
      "SELECT handoff_state AS state, handoff_platform AS platform, handoff_error AS error FROM sessions WHERE id = ?",
    )
    .get(id);
  return row ?? null;
}

/** Oldest first. */
export function listPendingHandoffs({ db }: StoreContext): SessionRow[] {
  return db
    .prepare<SessionRow>(
      `SELECT ${SESSION_COLUMNS.join(", ")} FROM sessions WHERE handoff_state = 'pending' ORDER BY started_at`,
    )
    .all();
}
