// Joins head, summary and tail in an order of roles that every transport accepts.
import type { Content, Message } from "../../core/message.ts";
import { joinContent } from "./summary-message.ts";

export interface Pieces {
  readonly head: readonly Message[];
  readonly summary: string;
  readonly tail: readonly Message[];
  /** A user message that follows the summary inside the same message. */
  readonly lastUser: Message | undefined;
}

function appendToUser(message: Message, content: Content): Message {
  const before: Content = message.content;
  if (typeof before === "string" && typeof content === "string")
    return { role: "user", content: `${before}\n\n${content}` };
  const parts = (value: Content) =>
    value === null ? [] : typeof value === "string" ? [{ type: "text" as const, text: value }] : [...value];
  return { role: "user", content: [...parts(before), ...parts(content)] };
}

/**
 * The summary gets the role `user` before an assistant message and `assistant` before a user message. Where a
 * neighbour has that role already, it is joined with the user's message, never with the assistant's.
 */
export function assemble(pieces: Pieces): Message[] {
  const { head, tail, summary, lastUser } = pieces;
  const before = head.at(-1)?.role;
  const after = tail[0];
  const content = lastUser === undefined ? summary : joinContent(summary, lastUser.content);
  if (after?.role === "user") {
    if (lastUser === undefined && (before === "user" || before === "tool")) {
      return [...head, { role: "assistant", content }, ...tail];
    }
    const joined = typeof content === "string" ? joinContent(content, after.content) : content;
    const first: Message =
      typeof content === "string"
        ? { role: "user", content: joined }
        : appendToUser({ role: "user", content }, after.content);
    return before === "user"
      ? [...head.slice(0, -1), appendToUser(head.at(-1) as Message, first.content), ...tail.slice(1)]
      : [...head, first, ...tail.slice(1)];
  }
  if (before === "user") return [...head.slice(0, -1), appendToUser(head.at(-1) as Message, content), ...tail];
  return [...head, { role: "user", content }, ...tail];
}
