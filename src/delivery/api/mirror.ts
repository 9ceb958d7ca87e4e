// Adds messages that other processes sent to a chat to the session of that chat.
import type { DeliveryTarget } from "../../core/job.ts";
import type { SessionIndex, SessionLog } from "../../core/store/session.ts";

/** The used fields of an entry of sessions.json. */
export interface ChatEntry {
  readonly session_key: string;
  readonly session_id: string;
  readonly updated_at: string;
  readonly platform: string;
  readonly origin?: { readonly [name: string]: unknown };
}

/**
 * The entry of the chat's session. Null when several users have separate sessions there: the message belongs to none of
 * them.
 */
export function findChatEntry<E extends ChatEntry>(entries: Iterable<E>, target: DeliveryTarget): E | null {
  const found = [...entries].filter(({ origin, platform }) => {
    if (platform !== target.platform || String(origin?.chat_id ?? "") !== target.chatId) return false;
    return target.threadId === undefined || String(origin?.thread_id ?? "") === target.threadId;
  });
  if (new Set(found.map(({ origin }) => String(origin?.user_id ?? ""))).size > 1) return null;
  return found.sort((a, b) => b.updated_at.localeCompare(a.updated_at))[0] ?? null;
}

function mirrorText(from: string, text: string): string {
  return `[Delivered from ${from}]\n${text}`;
}

/** True for a mirrored message: it is not an answer to a message of the chat. */
export function isMirrored(content: unknown): boolean {
  return typeof content === "string" && /^\[Delivered from [^\]\n]+\]\n/.test(content);
}

/** Appends to the session's newest continuation. Only while no turn of that session runs. */
export async function mirror(
  store: SessionLog & SessionIndex,
  sessionId: string,
  from: string,
  text: string,
): Promise<void> {
  if (!(await store.getSession(sessionId))) return;
  const tip = await store.getCompressionTip(sessionId);
  await store.appendMessage(tip, { role: "assistant", content: mirrorText(from, text) });
}
