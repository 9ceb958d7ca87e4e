// A stored session as text, for `@session:ID`.
import { type Content, contentText } from "../../core/message.ts";
import type { SessionIndex, SessionLog } from "../../core/store/session.ts";
import { truncate } from "../../lib/text/truncate.ts";

const MESSAGES = 40;
const MESSAGE_CHARS = 2_000;

/** The last messages of the session with this id or title; rejects when there is none. */
export async function sessionText(store: SessionLog & SessionIndex, name: string): Promise<string> {
  const id = (await store.resolveSessionId(name)) ?? (await store.resolveSessionByTitle(name));
  if (id === null) throw new Error(`@session:${name} is not attached: there is no such session`);
  const rows = (await store.getMessages(id)).filter(({ role }) => role === "user" || role === "assistant");
  const lines = rows.slice(-MESSAGES).flatMap(({ role, content }) => {
    const text = typeof content === "string" ? content : contentText(content as Content);
    return text.trim() === "" ? [] : [`${role}: ${truncate(text.trim(), MESSAGE_CHARS)}`];
  });
  const left = rows.length > MESSAGES ? [`[${rows.length - MESSAGES} earlier messages are not shown]`] : [];
  return [...left, ...lines].join("\n\n");
}
