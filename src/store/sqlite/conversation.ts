// Reads a stored session as the messages of a conversation.
import type { Json, Message } from "../../core/message.ts";
import { consistent } from "./connection/driver.ts";
import { marks, type StoreContext } from "./context.ts";
import { decodeContent, decodeJson, decodeToolCalls } from "./encoding.ts";
import { ancestors } from "./lineage.ts";
import type { StoredMessage } from "./messages.ts";
import { SPACE, trim } from "./text.ts";
import { withoutUndone } from "./undone.ts";

const S = `[${SPACE}]*`;
const MEMORY_BLOCK = new RegExp(`<${S}memory-context${S}>[^]*?</${S}memory-context${S}>`, "gi");
const MEMORY_NOTE = new RegExp(
  `\\[${S}System note:[^\\]]*recalled memory[^\\]]*(?:informational background data|authoritative reference data)[^\\]]*\\]${S}`,
  "gi",
);
const MEMORY_FENCE = new RegExp(`</?${S}memory-context${S}>`, "gi");

/** Removes recalled memory that leaked into a transcript: whole blocks, the note about them, stray tags. */
export function scrubMemory(text: string): string {
  if (!/memory-context|recalled memory/i.test(text)) return text;
  return text.replace(MEMORY_BLOCK, "").replace(MEMORY_NOTE, "").replace(MEMORY_FENCE, "");
}

type Draft = { role: string; content: Json; [field: string]: Json | undefined };

function addAssistantFields(item: Draft, row: ReplayedRow): void {
  if (row.finish_reason) item.finish_reason = row.finish_reason;
  if (row.reasoning) item.reasoning = row.reasoning;
  if (row.reasoning_content !== null) item.reasoning_content = row.reasoning_content;
  for (const field of ["reasoning_details", "codex_reasoning_items", "codex_message_items"] as const) {
    const value = decodeJson(row[field]);
    if (value !== undefined && value !== null) item[field] = value;
  }
}

function toItem({ notice }: StoreContext, row: ReplayedRow): Draft {
  const decoded = decodeContent(row.content, notice) as Json;
  const speaks = row.role === "user" || row.role === "assistant";
  const content = speaks && typeof decoded === "string" ? trim(scrubMemory(decoded)) : decoded;
  const item: Draft = { role: row.role, content };
  if (row.tool_call_id) item.tool_call_id = row.tool_call_id;
  if (row.tool_name) item.tool_name = row.tool_name;
  const calls = decodeToolCalls(row.tool_calls, notice);
  if (calls !== null) item.tool_calls = calls;
  if (row.role === "assistant") addAssistantFields(item, row);
  return item;
}

function hasSubstance(item: Draft): boolean {
  const { content, tool_calls: calls } = item;
  const hasContent = typeof content === "string" ? content !== "" : content !== null;
  return hasContent || (Array.isArray(calls) && calls.length > 0);
}

/** A prompt that was sent again on resume, without an answer in between, is returned once. */
function withoutRepeatedPrompts(items: readonly Draft[]): Draft[] {
  const unanswered = new Set<string>();
  const result: Draft[] = [];
  for (const item of items) {
    if (item.role === "user" && typeof item.content === "string" && item.content !== "") {
      if (unanswered.has(item.content)) continue;
      unanswered.add(item.content);
    }
    if (item.role === "assistant" && hasSubstance(item)) unanswered.clear();
    result.push(item);
  }
  return result;
}

/** Only what a conversation shows: every further column costs time on each of hundreds of rows. */
const REPLAYED = `role, content, tool_call_id, tool_calls, tool_name, finish_reason, reasoning, reasoning_content,
  reasoning_details, codex_reasoning_items, codex_message_items`;

type ReplayedRow = Omit<StoredMessage, "id" | "session_id" | "timestamp" | "token_count">;

function readChain(context: StoreContext, ids: readonly string[]): ReplayedRow[] {
  const { condition, params } = withoutUndone(context, ids);
  const where = `session_id ${ids.length === 1 ? "= ?" : `IN (${marks(ids)})`}${condition}`;
  return context.db
    .prepare<ReplayedRow>(`SELECT ${REPLAYED} FROM messages WHERE ${where} ORDER BY id`)
    .all(...ids, ...params);
}

export function getConversation(
  context: StoreContext,
  sessionId: string,
  options: { includeAncestors?: boolean | undefined } = {},
): Message[] {
  const rows = options.includeAncestors
    ? consistent(context.db, () => readChain(context, ancestors(context, sessionId)))
    : readChain(context, [sessionId]);
  const items = rows.map((row) => toItem(context, row));
  const result = options.includeAncestors ? withoutRepeatedPrompts(items) : items;
  // Rows are returned as stored; callers that need a valid request project them first.
  return result as unknown as Message[];
}
