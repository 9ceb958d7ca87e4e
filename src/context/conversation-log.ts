// The whole conversation of a session: the messages of all sessions in its compaction chain, each once, numbered.
import type { Content, Message } from "../core/message.ts";
import { contentText } from "../core/message.ts";
import type { MessageRow, SessionIndex, SessionLog } from "../core/store/session.ts";
import { findSummary, isCarriedNote } from "./compaction/summary-message.ts";

/** What recall needs of the store. */
export type LogStore = Pick<SessionLog & SessionIndex, "ancestors" | "getSession" | "getMessages" | "searchMessages">;

export interface LoggedTurn {
  /** As in the pointer of a summary: counted from 1 over the whole conversation. */
  readonly number: number;
  readonly row: MessageRow;
}

const PAGE = 500;

/** Sessions that compaction chained together, oldest first, the given one last. A parent that was only branched from is not among them. */
export async function compactionChain(store: LogStore, sessionId: string): Promise<string[]> {
  const ancestors = await store.ancestors(sessionId);
  const chain = [sessionId];
  for (const id of ancestors.filter((ancestor) => ancestor !== sessionId).reverse()) {
    const session = await store.getSession(id);
    if (session?.end_reason !== "compression") break;
    chain.unshift(id);
  }
  return chain;
}

async function readRows(store: LogStore, sessionId: string): Promise<MessageRow[]> {
  const rows: MessageRow[] = [];
  for (;;) {
    const afterId = rows.at(-1)?.id;
    const page = await store.getMessages(sessionId, { limit: PAGE, afterId });
    rows.push(...page);
    if (page.length < PAGE) return rows;
  }
}

export function rowText(row: MessageRow): string {
  const { content } = row;
  if (content === null || typeof content === "string") return content ?? "";
  return Array.isArray(content) ? contentText(content as Content) : JSON.stringify(content);
}

function callIds(row: MessageRow): string {
  return (row.tool_calls ?? []).map((call) => (call as { id?: unknown } | null)?.id ?? "").join(",");
}

/** Equal for an original and the copy that compaction carried over, pruned or not. */
function rowKey(row: MessageRow): string {
  if (row.role === "tool") return `tool ${row.tool_call_id}`;
  const calls = callIds(row);
  return calls === "" ? `${row.role} ${rowText(row)}` : `calls ${calls}`;
}

/** The row with the user's text only, where a message also has a summary; undefined when it has nothing else. */
function isNote(row: MessageRow): boolean {
  const message = { role: row.role, content: rowText(row) } as Message;
  return findSummary(message) !== undefined || isCarriedNote(message);
}

const ROLES = ["user", "assistant", "tool"];

/** Reads the conversation; costs time in proportion to its length. */
export async function readConversation(store: LogStore, sessionId: string): Promise<LoggedTurn[]> {
  const turns: LoggedTurn[] = [];
  const known = new Set<string>();
  for (const id of await compactionChain(store, sessionId)) {
    let carried = turns.length > 0;
    for (const row of await readRows(store, id)) {
      if (!ROLES.includes(row.role) || isNote(row)) continue;
      const key = rowKey(row);
      if (carried && known.has(key)) continue;
      carried = false;
      known.add(key);
      turns.push({ number: turns.length + 1, row });
    }
  }
  return turns;
}
