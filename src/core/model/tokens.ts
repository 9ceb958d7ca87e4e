// Token estimates without a tokenizer: good to about 10 % over English, code and CJK, and cheap enough for every turn.
import type { Content, Message } from "../message.ts";
import { contentText } from "../message.ts";
import type { ToolSchema } from "./provider.ts";

/** What providers charge for an image of ordinary size. */
export const IMAGE_TOKENS = 1_500;
const MESSAGE_OVERHEAD = 4;

/** Latin text and code need about one token for four characters, Greek to Arabic one for two, Indic, Thai and CJK more. */
export function estimateTextTokens(text: string): number {
  let middle = 0;
  let wide = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code >= 0x0900) wide++;
    else if (code >= 0x0370) middle++;
  }
  return Math.ceil(wide * 0.8 + middle * 0.5 + (text.length - wide - middle) / 4);
}

function estimateContent(content: Content): number {
  if (!Array.isArray(content)) return estimateTextTokens(contentText(content));
  let total = estimateTextTokens(contentText(content));
  for (const part of content) if (part?.type === "image_url") total += IMAGE_TOKENS;
  return total;
}

function countMessage(message: Message): number {
  let total = MESSAGE_OVERHEAD + estimateContent(message.content);
  if (message.role === "assistant") {
    for (const call of message.tool_calls ?? []) {
      total += MESSAGE_OVERHEAD + estimateTextTokens(call.function.name) + estimateTextTokens(call.function.arguments);
    }
  }
  return total;
}

/** Messages are never changed in place, so a long history is counted once and not at every turn. */
const counted = new WeakMap<Message, number>();

export function estimateMessageTokens(message: Message): number {
  let tokens = counted.get(message);
  if (tokens === undefined) {
    tokens = countMessage(message);
    counted.set(message, tokens);
  }
  return tokens;
}

export function estimateMessagesTokens(messages: readonly Message[]): number {
  let total = 0;
  for (const message of messages) total += estimateMessageTokens(message);
  return total;
}

/** Parameters are constants of the tools' files: all conversations of a process share them. */
const countedParameters = new WeakMap<object, number>();

function parameterTokens(parameters: object): number {
  const tokens = countedParameters.get(parameters) ?? estimateTextTokens(JSON.stringify(parameters));
  countedParameters.set(parameters, tokens);
  return tokens;
}

export function estimateSchemaTokens(tools: readonly ToolSchema[]): number {
  let total = 0;
  for (const { parameters, ...rest } of tools)
    total += parameterTokens(parameters) + estimateTextTokens(JSON.stringify(rest));
  return total;
}
