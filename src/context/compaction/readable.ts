// Messages read from disk may hold any JSON; compaction needs the declared types.
import type { ContentPart, Message, ToolCall } from "../../core/message.ts";

function isPart(part: unknown): part is ContentPart {
  if (typeof part !== "object" || part === null) return false;
  const { type, text, image_url } = part as { type?: unknown; text?: unknown; image_url?: { url?: unknown } | null };
  return (type === "text" && typeof text === "string") || (type === "image_url" && typeof image_url?.url === "string");
}

function isCall(call: unknown): call is ToolCall {
  if (typeof call !== "object" || call === null) return false;
  const { id, function: made } = call as { id?: unknown; function?: { name?: unknown; arguments?: unknown } | null };
  return typeof id === "string" && typeof made?.name === "string" && typeof made.arguments === "string";
}

function withContent(message: Message): Message {
  const { content } = message;
  if (content === null || typeof content === "string") return message;
  if (Array.isArray(content)) {
    return content.every(isPart) ? message : ({ ...message, content: content.filter(isPart) } as Message);
  }
  return { ...message, content: content === undefined ? null : JSON.stringify(content) } as Message;
}

function withCalls(message: Message): Message {
  if (message.role !== "assistant" || message.tool_calls === undefined) return message;
  const calls: unknown = message.tool_calls;
  if (Array.isArray(calls) && calls.every(isCall)) return message;
  const { tool_calls: _broken, ...rest } = message;
  const good = Array.isArray(calls) ? calls.filter(isCall) : [];
  return good.length > 0 ? { ...rest, tool_calls: good } : rest;
}

const ROLES: readonly string[] = ["system", "user", "assistant", "tool"];

/** Valid messages as the same objects; damaged ones are repaired, rows of other roles left out. */
export function readable(messages: readonly Message[]): Message[] {
  return messages.filter((message) => ROLES.includes(message.role)).map((message) => withCalls(withContent(message)));
}
