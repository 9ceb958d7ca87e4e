// After a crash: finds out how far the turn of a message got.

import { type Content, contentText } from "../../core/message.ts";
import type { InboxRow, Mailbox } from "../../core/store/mailbox.ts";
import type { MessageRow, SessionIndex, SessionLog } from "../../core/store/session.ts";
import { isMirrored } from "../../delivery/api/mirror.ts";

export type Recovered =
  /** The answer was stored before the crash and has to be sent. */
  | { readonly state: "answered"; readonly text: string; readonly sessionId: string }
  /** The message is in the log, the answer is not. */
  | { readonly state: "begun"; readonly sessionId: string }
  /** Neither is stored. */
  | { readonly state: "new" };

/** A partial answer is stored with the reason for its end. */
const CUT_OFF = ["interrupted", "error", "incomplete"];

function isFinal(row: MessageRow | undefined): boolean {
  if (row?.role !== "assistant" || CUT_OFF.includes(row.finish_reason ?? "")) return false;
  return row.tool_calls === null || row.tool_calls.length === 0;
}

export async function recover(store: SessionLog & SessionIndex, row: InboxRow): Promise<Recovered> {
  const { sessionId, logAfter } = row;
  if (row.state !== "running" || sessionId === null) return { state: "new" };
  if (!(await store.getSession(sessionId))) return { state: "new" };
  const tip = await store.getCompressionTip(sessionId);
  const rows = await store.getMessages(tip);
  // A compaction during the turn opened another session, which begins with the turn's own messages.
  const all = tip === sessionId ? rows.slice(logAfter ?? 0) : rows;
  const since = all.filter((each) => each.role !== "assistant" || !isMirrored(each.content));
  if (!since.some((each) => each.role === "user")) return { state: "new" };
  const last = since.at(-1);
  if (!last || !isFinal(last)) return { state: "begun", sessionId: tip };
  const text = typeof last.content === "string" ? last.content : contentText(last.content as Content);
  return { state: "answered", text, sessionId: tip };
}

/** The id of the message that showed the partial answer before a crash; `key` is the key prefix of the turn's messages. */
export async function streamed(mailbox: Mailbox, key: string): Promise<string | null> {
  const [shown, interim] = await Promise.all([
    mailbox.findOutgoing(`${key}:stream0`),
    mailbox.findOutgoing(`${key}:m0:0`),
  ]);
  // This message was reused for a text between tool calls.
  return interim === null && shown?.state === "sent" ? shown.messageId : null;
}

export const RESUME_NOTE =
  "[The program was restarted while you were working on this message. Look at what is done already, do not repeat it, and answer.]";
