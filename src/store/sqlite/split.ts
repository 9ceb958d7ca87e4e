// Compaction and branching: the old session ends and the next one begins with its messages, in one transaction.
import { UserError } from "../../core/failure.ts";
import type { NewMessage, NewSession } from "../../core/store/session.ts";
import type { StoreContext } from "./context.ts";
import { appendMessages } from "./messages.ts";
import { createSession, endSession, getSession } from "./sessions.ts";
import { getNextTitleInLineage, setSessionTitle } from "./titles.ts";

export interface Split {
  readonly fromId: string;
  /** Default: `compression`. */
  readonly reason?: "compression" | "branched" | undefined;
  readonly session: NewSession;
  readonly title?: string | undefined;
  readonly messages: readonly NewMessage[];
}

/** Row ids of the continuation's messages. */
export function splitSession(context: StoreContext, split: Split): number[] {
  const { fromId, session, messages } = split;
  const old = getSession(context, fromId);
  if (!old) {
    throw new UserError(`Session ${fromId} does not exist, so it cannot be continued.`, {
      hint: "List the stored sessions with `hermes sessions list`.",
    });
  }
  if (getSession(context, session.id)) {
    throw new UserError(`Session ${session.id} exists already, so it cannot become a continuation.`, {
      hint: "Use a new session id.",
    });
  }
  const { reason = "compression" } = split;
  endSession(context, fromId, reason);
  createSession(context, { ...session, parentSessionId: fromId });
  // A branch always has a title: the list shows it beside the session that it came from.
  const base = old.title ?? (reason === "branched" ? "branch" : null);
  const title = split.title ?? (base === null ? null : getNextTitleInLineage(context, base));
  if (title !== null) setSessionTitle(context, session.id, title);
  if (reason === "compression") moveGoal(context, fromId, session.id);
  return appendMessages(context, session.id, messages);
}

function moveGoal({ db }: StoreContext, fromId: string, toId: string): void {
  db.prepare("UPDATE OR REPLACE state_meta SET key = ? WHERE key = ?").run(`goal:${toId}`, `goal:${fromId}`);
}
