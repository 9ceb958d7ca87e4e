// Message rows: append, replace, clear, read.
import { UserError } from "../../core/failure.ts";
import type { MessagePage, MessageRow, NewMessage, ToolResultRow } from "../../core/store/session.ts";
import { sqliteCode } from "../../lib/sqlite-error.ts";
import type { SqlValue } from "./connection/driver.ts";
import type { StoreContext } from "./context.ts";
import { countToolCalls, decodeContent, decodeToolCalls, encodeContent, encodeJson } from "./encoding.ts";
import { TABLES } from "./schema.ts";
import { withoutUndone } from "./undone.ts";

export const MESSAGE_COLUMNS: readonly string[] =
  TABLES.find((table) => table.name === "messages")?.columns.map((column) => column.name) ?? [];

const INSERT = `INSERT INTO messages
  (session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp, token_count, finish_reason,
   reasoning, reasoning_content, reasoning_details, codex_reasoning_items, codex_message_items)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const COUNT = `UPDATE sessions SET message_count = COALESCE(message_count, 0) + ?,
  tool_call_count = COALESCE(tool_call_count, 0) + ? WHERE id = ?`;

const NOTHING_UNDONE = { condition: "", params: [] };

export interface StoredMessage extends Omit<MessageRow, "content" | "tool_calls"> {
  readonly content: SqlValue;
  readonly tool_calls: string | null;
}

function insert({ db, now }: StoreContext, sessionId: string, message: NewMessage): number {
  try {
    return db
      .prepare(INSERT)
      .run(
        sessionId,
        message.role,
        encodeContent(message.content),
        message.tool_call_id ?? null,
        encodeJson(message.tool_calls),
        message.tool_name ?? null,
        now(),
        message.token_count ?? null,
        message.finish_reason ?? null,
        message.reasoning ?? null,
        message.reasoning_content ?? null,
        encodeJson(message.reasoning_details),
        encodeJson(message.codex_reasoning_items),
        encodeJson(message.codex_message_items),
      ).lastInsertRowid;
  } catch (error) {
    throw sqliteCode(error) === "SQLITE_CONSTRAINT_FOREIGNKEY" ? unknownSession(sessionId, error) : error;
  }
}

function unknownSession(id: string, cause: unknown): UserError {
  return new UserError(`Session ${id} does not exist, so a message cannot be added to it.`, {
    hint: "Create the session first.",
    cause,
  });
}

export function appendMessage(context: StoreContext, sessionId: string, message: NewMessage): number {
  const id = insert(context, sessionId, message);
  context.db.prepare(COUNT).run(1, countToolCalls(message.role, message.tool_calls), sessionId);
  return id;
}

export function appendMessages(context: StoreContext, sessionId: string, messages: readonly NewMessage[]): number[] {
  let calls = 0;
  const ids: number[] = [];
  for (const message of messages) {
    ids.push(insert(context, sessionId, message));
    calls += countToolCalls(message.role, message.tool_calls);
  }
  if (ids.length > 0) context.db.prepare(COUNT).run(ids.length, calls, sessionId);
  return ids;
}

/** Reasoning belongs to assistant rows only when a whole transcript is rewritten. */
function withoutForeignReasoning(message: NewMessage): NewMessage {
  const role = message.role || "unknown";
  if (role === "assistant") return message;
  return {
    ...message,
    role,
    reasoning: null,
    reasoning_content: null,
    reasoning_details: null,
    codex_reasoning_items: null,
    codex_message_items: null,
  };
}

export function replaceMessages(context: StoreContext, sessionId: string, messages: readonly NewMessage[]): void {
  clearMessages(context, sessionId);
  appendMessages(context, sessionId, messages.map(withoutForeignReasoning));
}

export function clearMessages({ db }: StoreContext, sessionId: string): void {
  db.prepare("DELETE FROM messages WHERE session_id = ?").run(sessionId);
  db.prepare("UPDATE sessions SET message_count = 0, tool_call_count = 0 WHERE id = ?").run(sessionId);
}

// `+id` keeps the query on the session's index; a range over ids would read rows of other sessions.
const selectPage = (condition: string) => `SELECT ${MESSAGE_COLUMNS.join(", ")} FROM messages
  WHERE session_id = ? AND +id > ?${condition} ORDER BY id LIMIT ?`;
const SELECT_PAGE = selectPage("");

export function storedMessages(context: StoreContext, sessionId: string, page: MessagePage = {}): StoredMessage[] {
  const { db } = context;
  const { afterId = -1, limit = -1 } = page;
  const { condition, params } = page.withoutUndone ? withoutUndone(context, [sessionId]) : NOTHING_UNDONE;
  const select = condition === "" ? SELECT_PAGE : selectPage(condition);
  return db.prepare<StoredMessage>(select).all(sessionId, afterId, ...params, limit);
}

export function getMessages(context: StoreContext, sessionId: string, page: MessagePage = {}): MessageRow[] {
  return storedMessages(context, sessionId, page).map((row) => ({
    ...row,
    content: decodeContent(row.content, context.notice),
    tool_calls: decodeToolCalls(row.tool_calls, context.notice),
  }));
}

export function messageCount({ db }: StoreContext, sessionId?: string): number {
  const row =
    sessionId === undefined
      ? db.prepare<{ n: number }>("SELECT count(*) AS n FROM messages").get()
      : db.prepare<{ n: number }>("SELECT count(*) AS n FROM messages WHERE session_id = ?").get(sessionId);
  return row?.n ?? 0;
}

/** The results of tools in these sessions, in the order of their rows. */
export function toolResults({ db }: StoreContext, sessionIds: readonly string[]): ToolResultRow[] {
  const sql = `SELECT id, session_id, tool_call_id, tool_name FROM messages
    WHERE session_id IN (SELECT value FROM json_each(?)) AND role = 'tool' ORDER BY id`;
  return db.prepare<ToolResultRow>(sql).all(JSON.stringify(sessionIds));
}
