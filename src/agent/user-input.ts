// The user message of an input, with what is put before and after it.
import { UserError } from "../core/failure.ts";
import type { ContentPart, Message, ToolMessage, UserMessage } from "../core/message.ts";
import { wellFormed } from "../core/model/well-formed.ts";

export function userMessage(input: string | readonly ContentPart[]): UserMessage {
  const content =
    typeof input === "string"
      ? wellFormed(input)
      : input.map((part) => (part.type === "text" ? { ...part, text: wellFormed(part.text) } : part));
  const empty = typeof content === "string" ? content.trim() === "" : content.length === 0;
  if (empty) throw new UserError("There is nothing to send.", { hint: "Type a message first." });
  return { role: "user", content };
}

export function prepend(text: string, input: string | readonly ContentPart[]): string | readonly ContentPart[] {
  if (text === "") return input;
  return typeof input === "string" ? `${text}\n\n${input}` : [{ type: "text", text }, ...input];
}

export function append(input: string | readonly ContentPart[], parts: readonly ContentPart[]) {
  if (parts.length === 0) return input;
  return [...(typeof input === "string" ? [{ type: "text" as const, text: input }] : input), ...parts];
}

export function isAnswerTo(message: Message, callId: string): boolean {
  return message.role === "tool" && message.tool_call_id === callId;
}

/** What a turn begins with besides its message. */
export interface Input {
  readonly after: Promise<unknown> | undefined;
  readonly results: readonly ToolMessage[] | undefined;
}
