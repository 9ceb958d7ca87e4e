// Messages that were taken back with /undo: they stay in the table and in the search, and are left out of the conversation.
import { isRecord } from "../../lib/json/is-record.ts";
import type { StoreContext } from "./context.ts";
import { getMeta, setMeta } from "./meta.ts";

/** First and last row id of messages that were taken back together. */
type IdRange = readonly [number, number];

function metaKey(sessionId: string): string {
  return `undone:${sessionId}`;
}

function isIdRange(value: unknown): value is IdRange {
  return Array.isArray(value) && value.length === 2 && value.every((id) => Number.isInteger(id));
}

/** The ranges of one session; unreadable ones count as none, so that nothing is hidden by mistake. */
export function undoneRanges(context: StoreContext, sessionId: string): readonly IdRange[] {
  const text = getMeta(context, metaKey(sessionId));
  if (text === null) return [];
  try {
    const parsed: unknown = JSON.parse(text);
    const ranges = isRecord(parsed) ? parsed.ranges : undefined;
    return Array.isArray(ranges) ? ranges.filter(isIdRange) : [];
  } catch {
    // Not written by this program.
    return [];
  }
}

/** A condition for rows of `messages`, to be added with AND, and its parameters. Empty when nothing was taken back. */
export function withoutUndone(
  context: StoreContext,
  sessionIds: readonly string[],
): { readonly condition: string; readonly params: readonly (string | number)[] } {
  const hidden = sessionIds.flatMap((id) => undoneRanges(context, id).map((range) => [id, ...range] as const));
  return {
    condition: hidden.map(() => " AND NOT (session_id = ? AND +id BETWEEN ? AND ?)").join(""),
    params: hidden.flat(),
  };
}

/** Takes back the last `count` messages that are not taken back yet. The first of them must be of the user. */
export function undoMessages(context: StoreContext, sessionId: string, count: number): void {
  const { condition, params } = withoutUndone(context, [sessionId]);
  const rows = context.db
    .prepare<{ id: number; role: string }>(
      `SELECT id, role FROM messages WHERE session_id = ?${condition} ORDER BY +id DESC LIMIT CAST(? AS INTEGER)`,
    )
    .all(sessionId, ...params, count);
  const last = rows[0];
  const first = rows.at(-1);
  if (!first || !last || rows.length !== count || first.role !== "user")
    throw new Error(`The last ${count} messages of session ${sessionId} are not an exchange.`);
  const ranges = [...undoneRanges(context, sessionId), [first.id, last.id]];
  setMeta(context, metaKey(sessionId), JSON.stringify({ ranges }));
}
