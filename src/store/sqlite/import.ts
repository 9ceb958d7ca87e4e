// Imports exported sessions: ids, counters and titles are kept; what cannot be kept is reported.

import type { Json } from "../../core/message.ts";
import type { ExportedSession, ImportResult, MessageRow } from "../../core/store/session.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { SqlValue } from "./connection/driver.ts";
import type { StoreContext } from "./context.ts";
import { encodeContent, encodeJson } from "./encoding.ts";
import { MESSAGE_COLUMNS } from "./messages.ts";
import { SESSION_COLUMNS } from "./sessions.ts";
import { sanitizeTitle } from "./titles.ts";

const DEFAULTS: { readonly [column: string]: SqlValue } = { source: "unknown" };
const COUNTER = /_count$|_tokens$/;

/** Text, number or null as they are; anything else as JSON text. */
function scalar(value: unknown): SqlValue {
  if (value === null || value === undefined) return null;
  if (typeof value === "string" || typeof value === "number") return value;
  return JSON.stringify(value);
}

/** Children whose parent has not been seen yet, by the parent's id; linked when it arrives. */
export type PendingLinks = Map<string, string[]>;

function usableTitle({ db }: StoreContext, session: ExportedSession, problems: string[]): string | null {
  try {
    const title = sanitizeTitle(session.title);
    if (title === null || !db.prepare("SELECT 1 FROM sessions WHERE title = ?").get(title)) return title;
    problems.push(`${session.id}: the title "${title}" is in use here, so it was left out.`);
  } catch (error) {
    problems.push(`${session.id}: ${errorMessage(error)}; the title was left out.`);
  }
  return null;
}

function usableParent({ db }: StoreContext, session: ExportedSession, problems: string[]): string | null {
  const parent = session.parent_session_id ?? null;
  if (parent === null || db.prepare("SELECT 1 FROM sessions WHERE id = ?").get(parent)) return parent;
  problems.push(`${session.id}: its parent ${parent} is not in this store; it is linked if the parent follows.`);
  return null;
}

function insertSession(context: StoreContext, session: ExportedSession, problems: string[]): void {
  const fields: { [column: string]: unknown } = {
    ...session,
    title: usableTitle(context, session, problems),
    parent_session_id: usableParent(context, session, problems),
    started_at: typeof session.started_at === "number" ? session.started_at : context.now(),
  };
  const values = SESSION_COLUMNS.map((column) => {
    const value = scalar(fields[column]);
    return value ?? DEFAULTS[column] ?? (COUNTER.test(column) ? 0 : null);
  });
  context.db
    .prepare(
      `INSERT INTO sessions (${SESSION_COLUMNS.join(", ")}) VALUES (${SESSION_COLUMNS.map(() => "?").join(", ")})`,
    )
    .run(...values);
}

/** Message ids are kept when all of them are free and follow those of the parent, on which replay order depends. */
function keepsIds({ db }: StoreContext, session: ExportedSession): boolean {
  const ids = session.messages.map((message) => message.id);
  if (ids.some((id, index) => !Number.isSafeInteger(id) || id <= (ids[index - 1] ?? 0))) return false;
  const taken = db.prepare("SELECT 1 FROM messages WHERE id = ?");
  if (ids.some((id) => taken.get(id) !== undefined)) return false;
  const parent = session.parent_session_id ?? "";
  const last = db.prepare<{ id: number | null }>("SELECT max(id) AS id FROM messages WHERE session_id = ?").get(parent);
  return (last?.id ?? 0) < (ids[0] ?? Number.POSITIVE_INFINITY);
}

function messageValues(context: StoreContext, sessionId: string, message: MessageRow, id: number | null): SqlValue[] {
  const fields: { [column: string]: unknown } = { ...message };
  return MESSAGE_COLUMNS.map((column) => {
    if (column === "id") return id;
    if (column === "session_id") return sessionId;
    if (column === "content") return encodeContent(message.content);
    if (column === "tool_calls") return encodeJson(message.tool_calls as Json);
    if (column === "role") return message.role || "unknown";
    if (column === "timestamp") return typeof message.timestamp === "number" ? message.timestamp : context.now();
    return scalar(fields[column]);
  });
}

function insertMessages(context: StoreContext, session: ExportedSession): void {
  const keep = keepsIds(context, session);
  const insert = context.db.prepare(
    `INSERT INTO messages (${MESSAGE_COLUMNS.join(", ")}) VALUES (${MESSAGE_COLUMNS.map(() => "?").join(", ")})`,
  );
  for (const message of session.messages) {
    insert.run(...messageValues(context, session.id, message, keep ? message.id : null));
  }
}

function linkChildren({ db }: StoreContext, parentId: string, pending: PendingLinks): void {
  for (const child of pending.get(parentId) ?? []) {
    db.prepare("UPDATE sessions SET parent_session_id = ? WHERE id = ? AND parent_session_id IS NULL").run(
      parentId,
      child,
    );
  }
}

const REFUSED = { imported: 0, skipped: 1, messages: 0 };

/** A session that exists already is skipped and reported, never changed. */
export function importSession(
  context: StoreContext,
  session: ExportedSession,
  pending: ReadonlyMap<string, string[]>,
): ImportResult {
  if (typeof session?.id !== "string" || session.id === "" || !Array.isArray(session.messages)) {
    return { ...REFUSED, problems: ["An entry has no id or no messages; it was skipped."] };
  }
  if (context.db.prepare("SELECT 1 FROM sessions WHERE id = ?").get(session.id)) {
    return { ...REFUSED, problems: [`${session.id}: exists already; it was skipped.`] };
  }
  const problems: string[] = [];
  insertSession(context, session, problems);
  insertMessages(context, session);
  linkChildren(context, session.id, pending as PendingLinks);
  return { imported: 1, skipped: 0, messages: session.messages.length, problems };
}
