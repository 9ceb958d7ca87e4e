// The message type of the program: OpenAI chat completions. Only transports translate it.

/** Anything JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };
export type JsonObject = { readonly [key: string]: Json | undefined };

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

export interface ImagePart {
  readonly type: "image_url";
  /** `url` is an http(s) address or a `data:` URL. */
  readonly image_url: { readonly url: string; readonly detail?: "auto" | "low" | "high" | undefined };
}

export type ContentPart = TextPart | ImagePart;
export type Content = string | readonly ContentPart[] | null;

/** `function.arguments` is always the raw JSON text that the model wrote; it is parsed only by the tool runner. */
export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
  /** Provider data that must be sent back with the call (for example a thought signature). */
  readonly extra_content?: JsonObject | undefined;
}

export interface SystemMessage {
  readonly role: "system";
  readonly content: Content;
}

export interface UserMessage {
  readonly role: "user";
  readonly content: Content;
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: Content;
  readonly tool_calls?: readonly ToolCall[] | undefined;
  readonly finish_reason?: string | undefined;
  /** Reasoning for display. Replayed only where a provider demands it for continuity. */
  readonly reasoning?: string | undefined;
  readonly reasoning_content?: string | undefined;
  /** Signed thinking blocks and the like, exactly as the provider sent them. */
  readonly reasoning_details?: readonly Json[] | undefined;
  readonly codex_reasoning_items?: readonly Json[] | undefined;
  readonly codex_message_items?: readonly Json[] | undefined;
}

export interface ToolMessage {
  readonly role: "tool";
  readonly content: Content;
  readonly tool_call_id: string;
  readonly tool_name: string;
}

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/**
 * The text of a content value: parts joined with line breaks, images left out, null as the empty string. Contents read
 * from disk may be any JSON: what is neither text nor parts is returned as JSON.
 */
export function contentText(content: Content | undefined): string {
  if (content === null || content === undefined) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  const texts: string[] = [];
  for (const part of content) if (part?.type === "text" && typeof part.text === "string") texts.push(part.text);
  return texts.join("\n");
}
