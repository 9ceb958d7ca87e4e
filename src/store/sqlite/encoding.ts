// Encodes and decodes column text: structured content after a NUL, JSON columns as UTF-8.
import type { Content, Json, ToolCall } from "../../core/message.ts";
import type { NewMessage } from "../../core/store/session.ts";
import type { SqlValue } from "./connection/driver.ts";

/** Marks `content` that is JSON rather than plain text. */
export const CONTENT_SENTINEL = "\u0000json:";

export function encodeContent(content: Content | Json | undefined): SqlValue {
  if (content === null || content === undefined) return null;
  if (typeof content === "string" || typeof content === "number") return content;
  if (typeof content === "boolean") return content ? 1 : 0;
  return CONTENT_SENTINEL + JSON.stringify(content);
}

export function decodeContent(stored: SqlValue, notice: (text: string) => void): Content | Json {
  if (stored instanceof Uint8Array) return new TextDecoder().decode(stored);
  if (typeof stored === "bigint") return stored.toString();
  if (typeof stored !== "string" || !stored.startsWith(CONTENT_SENTINEL)) return stored;
  try {
    return JSON.parse(stored.slice(CONTENT_SENTINEL.length)) as Json;
  } catch {
    notice("A stored message holds structured content that cannot be parsed; it is shown as raw text.");
    return stored;
  }
}

function isEmpty(value: Json | readonly ToolCall[] | undefined): boolean {
  if (value === null || value === undefined || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** JSON text, or NULL for anything empty. */
export function encodeJson(value: Json | readonly ToolCall[] | undefined): string | null {
  return isEmpty(value) ? null : JSON.stringify(value);
}

/** Stored tool calls as an array; unreadable text gives an empty one. */
export function decodeToolCalls(stored: string | null, notice: (text: string) => void): readonly Json[] | null {
  if (stored === null || stored === "") return null;
  try {
    const parsed = JSON.parse(stored) as Json;
    return Array.isArray(parsed) ? parsed : [parsed];
  } catch {
    notice("A stored message holds tool calls that cannot be parsed; they are left out.");
    return [];
  }
}

/** A JSON column, or undefined when it is empty or unreadable. */
export function decodeJson(stored: string | null): Json | undefined {
  if (stored === null || stored === "") return undefined;
  try {
    return JSON.parse(stored) as Json;
  } catch {
    return undefined;
  }
}

/** How many calls a message adds to its session's counter. */
export function countToolCalls(role: string, toolCalls: NewMessage["tool_calls"]): number {
  if (role === "tool" || toolCalls === null || toolCalls === undefined) return 0;
  return Array.isArray(toolCalls) ? toolCalls.length : 1;
}

/** The readable text of structured content: text parts joined; images named. */
export function readableText(content: Content | Json): string {
  if (typeof content === "string") return content;
  if (content === null || typeof content !== "object") return content === null ? "" : String(content);
  const parts: readonly Json[] = Array.isArray(content) ? content : [content as Json];
  const words: string[] = [];
  for (const part of parts) {
    if (typeof part === "string") words.push(part);
    else if (part !== null && typeof part === "object" && !Array.isArray(part)) words.push(partText(part));
  }
  return words.filter((word) => word !== "").join(" ");
}

function partText(part: object): string {
  if ("text" in part && typeof part.text === "string") return part.text;
  if ("type" in part && typeof part.type === "string" && part.type.includes("image")) return "[image]";
  return "";
}
