// Token estimates without a tokenizer: good to about 10 % over English, code and CJK, and cheap enough for every turn.
import type { Content, Message } from "./message.ts";
import type { ToolSchema } from "./provider.ts";

/** What providers charge for an image of ordinary size. */
export const IMAGE_TOKENS = 1_500;
const MESSAGE_OVERHEAD = 4;

/** Wide scripts spend about one token a character, Latin text and code about one in four. */
export function estimateTextTokens(text: string): number {
  let wide = 0;
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) >= 0x0e00) wide++;
  return Math.ceil(wide * 0.8 + (text.length - wide) / 4);
}

function estimateContent(content: Content): number {
  if (content === null) return 0;
  if (typeof content === "string") return estimateTextTokens(content);
  let total = 0;
  for (const part of content) total += part.type === "text" ? estimateTextTokens(part.text) : IMAGE_TOKENS;
  return total;
}

export function estimateMessageTokens(message: Message): number {
  let total = MESSAGE_OVERHEAD + estimateContent(message.content);
  if (message.role === "assistant") {
    for (const call of message.tool_calls ?? []) {
      total += MESSAGE_OVERHEAD + estimateTextTokens(call.function.name) + estimateTextTokens(call.function.arguments);
    }
  }
  return total;
}

export function estimateMessagesTokens(messages: readonly Message[]): number {
  let total = 0;
  for (const message of messages) total += estimateMessageTokens(message);
  return total;
}

export function estimateSchemaTokens(tools: readonly ToolSchema[]): number {
  let total = 0;
  for (const tool of tools) total += estimateTextTokens(JSON.stringify(tool));
  return total;
}
