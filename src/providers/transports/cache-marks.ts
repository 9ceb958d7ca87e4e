// Sets prompt-cache marks: on the system prompt and on the last three messages.
import type { Json, JsonObject } from "../../core/message.ts";
import { isJsonObject } from "./json-values.ts";

export interface CacheMarkOptions {
  /** `native` is for the Anthropic dialect; `envelope` for chat completions whose host forwards marks. */
  readonly layout: "native" | "envelope";
  readonly ttl: "5m" | "1h";
}

const MAX_MARKS = 4;

function markLast(parts: readonly Json[], mark: JsonObject): Json[] {
  const last = parts.at(-1);
  return isJsonObject(last) ? [...parts.slice(0, -1), { ...last, cache_control: mark }] : [...parts];
}

function marked(message: JsonObject, mark: JsonObject, layout: CacheMarkOptions["layout"]): JsonObject | null {
  if (message.role === "tool") return layout === "native" ? { ...message, cache_control: mark } : null;
  const content = message.content;
  if (typeof content === "string" && content !== "")
    return { ...message, content: [{ type: "text", text: content, cache_control: mark }] };
  if (Array.isArray(content) && content.length > 0) return { ...message, content: markLast(content, mark) };
  return { ...message, cache_control: mark };
}

/**
 * Returns copies of chat-shaped messages with at most four marks: on a leading system message and on the newest
 * messages. Over chat completions tool messages cannot have a mark; theirs is not given to another message.
 */
export function applyCacheMarks(messages: readonly JsonObject[], options: CacheMarkOptions): JsonObject[] {
  const mark: JsonObject = options.ttl === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
  const result = [...messages];
  const role = messages[0]?.role;
  const first = role === "system" || role === "developer" ? 1 : 0;
  const from = Math.max(first, messages.length - (MAX_MARKS - first));
  for (const [index, message] of messages.entries())
    if (index < first || index >= from) result[index] = marked(message, mark, options.layout) ?? message;
  return result;
}
