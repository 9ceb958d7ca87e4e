// Encodes a request as an Anthropic Messages body.

import type { MessageCreateParams } from "@anthropic-ai/sdk/resources/messages";
import type { AssistantMessage, Content, ContentPart, JsonObject, Message } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import { wellFormed } from "../../core/model/well-formed.ts";
import { cacheLayoutFor } from "../quirks.ts";
import { anthropicAnswerFields } from "./answer-shape.ts";
import { applyCacheMarks } from "./cache-marks.ts";
import { adaptiveEffort, outputCeiling, THINKING_BUDGET, takesSampling, thinkingMode } from "./claude-models.ts";
import {
  dataImage,
  isJsonObject,
  jsonObjects,
  type MutableJson,
  schemaFor,
  sendable,
  stableArguments,
  WireIds,
  withExtras,
} from "./json-values.ts";
import type { TransportCall } from "./transport.ts";
import type { WireDraft } from "./wire-fields.ts";

/** `temperature` is no longer in the types of the SDK; older models and compatible hosts accept it. */
type AnthropicBody = WireDraft<MessageCreateParams, "temperature">;

const MAX_ID = 64;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const KEPT_RESULT_IMAGES = 3;
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

function imageBlock(url: string): MutableJson {
  const image = dataImage(url);
  if (!image) return { type: "image", source: { type: "url", url } };
  if (!IMAGE_TYPES.includes(image.mediaType))
    return { type: "text", text: `[image removed: ${image.mediaType} is not supported]` };
  return { type: "image", source: { type: "base64", media_type: image.mediaType, data: image.data } };
}

function blocks(content: Content, call: TransportCall): MutableJson[] {
  const value = sendable(content, call, MAX_IMAGE_BYTES);
  if (value === null) return [];
  const list: readonly ContentPart[] = typeof value === "string" ? [{ type: "text", text: value }] : value;
  const result: MutableJson[] = [];
  for (const part of list) {
    if (part.type === "image_url") result.push(imageBlock(part.image_url.url));
    else if (part.text.trim() !== "") result.push({ type: "text", text: part.text });
  }
  return result;
}

/** Signed blocks are sent back to Anthropic; other hosts refuse them. */
function thinkingRule(call: TransportCall): "signed" | "strip" | "unsigned" {
  if (call.amend?.stripReasoning) return "strip";
  if (call.quirks.thinkingBlocks) return call.quirks.thinkingBlocks;
  const host = URL.canParse(call.endpoint.baseUrl) ? new URL(call.endpoint.baseUrl).hostname : "";
  return host === "anthropic.com" || host.endsWith(".anthropic.com") ? "signed" : "strip";
}

function thinking(message: AssistantMessage, call: TransportCall): MutableJson[] {
  if (!message.reasoning_details || message.reasoning_details.length === 0) return [];
  const rule = thinkingRule(call);
  if (rule === "strip") return [];
  const own = jsonObjects(message.reasoning_details).filter((detail) => {
    if (detail.type === "redacted_thinking") return typeof detail.data === "string";
    if (detail.type !== "thinking") return false;
    return rule === "unsigned" || (typeof detail.signature === "string" && detail.signature !== "");
  });
  return own.map((detail) => ({ ...detail }));
}

function assistantBlocks(message: AssistantMessage, call: TransportCall, ids: WireIds): MutableJson[] {
  const calls = message.tool_calls ?? [];
  ids.open(calls);
  const result = thinking(message, call);
  const text = wellFormed(contentText(message.content)).trimEnd();
  if (text.trim() !== "") result.push({ type: "text", text });
  for (const item of calls)
    result.push({
      type: "tool_use",
      id: ids.find(item.id),
      name: item.function.name,
      input: JSON.parse(stableArguments(item.function.arguments)) as JsonObject,
    });
  if (result.every((block) => String(block.type).includes("thinking")))
    result.push({ type: "text", text: "(no answer)" });
  return result;
}

/** All images in tool results but the newest: they are not sent, because each costs tokens in every request. */
function oldImages(messages: readonly Message[]): Set<ContentPart> {
  const all: ContentPart[] = [];
  for (const message of messages)
    if (message.role === "tool" && Array.isArray(message.content))
      all.push(...(message.content as readonly ContentPart[]).filter((part) => part.type === "image_url"));
  return new Set(all.slice(0, Math.max(0, all.length - KEPT_RESULT_IMAGES)));
}

function resultContent(content: Content, old: Set<ContentPart>): Content {
  if (content === null || typeof content === "string") return content;
  return content.map((part) => (old.has(part) ? { type: "text", text: "[earlier image removed]" } : part));
}

interface Turn {
  readonly role: "user" | "assistant";
  readonly content: MutableJson[];
}

function toTurn(message: Message, call: TransportCall, ids: WireIds, old: Set<ContentPart>): Turn {
  if (message.role === "assistant") return { role: "assistant", content: assistantBlocks(message, call, ids) };
  if (message.role !== "tool") {
    const content = blocks(message.content, call);
    return { role: "user", content: content.length > 0 ? content : [{ type: "text", text: "(no text)" }] };
  }
  const content = blocks(resultContent(message.content, old), call);
  const inner = content.length > 0 ? content : [{ type: "text", text: "(no output)" }];
  return {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: ids.find(message.tool_call_id), content: inner }],
  };
}

function markedIndexes(call: TransportCall): Set<number> {
  const layout = cacheLayoutFor("anthropic_messages", call.model, call.quirks);
  if (!layout) return new Set();
  // The layout is applied to the stored messages, before they are merged into turns.
  const shape: JsonObject[] = call.request.messages.map((message) => ({ role: message.role, content: "x" }));
  if (call.request.system.trim() !== "") shape.unshift({ role: "system", content: "x" });
  const marked = applyCacheMarks(shape, { layout: "native", ttl: "5m" });
  const offset = shape.length - call.request.messages.length;
  const result = new Set<number>();
  for (const [index, row] of marked.entries()) if (row !== shape[index]) result.add(index - offset);
  return result;
}

/** Marks the newest block that can have a mark. */
function mark(content: MutableJson[], control: JsonObject): void {
  const target = content.findLast((block) => !String(block.type).includes("thinking"));
  if (target) target.cache_control = control;
}

function control(call: TransportCall): JsonObject {
  return call.cacheTtl === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

/** Alternating turns that begin with the user. Consecutive tool results and user messages share a turn. */
export function anthropicTurns(call: TransportCall): JsonObject[] {
  const ids = new WireIds(MAX_ID);
  const old = oldImages(call.request.messages);
  const marks = markedIndexes(call);
  const turns: Turn[] = [];
  for (const [index, message] of call.request.messages.entries()) {
    const turn = toTurn(message, call, ids, old);
    if (marks.has(index)) mark(turn.content, control(call));
    const last = turns.at(-1);
    if (last?.role === turn.role) last.content.push(...turn.content);
    else turns.push(turn);
  }
  if (turns[0]?.role === "assistant") turns.unshift({ role: "user", content: [{ type: "text", text: "(earlier)" }] });
  return turns.map((turn) => ({ role: turn.role, content: turn.content }));
}

/** True when the newest assistant turn calls tools without a thinking block: thinking cannot be enabled then. */
function midToolsWithoutThinking(turns: readonly JsonObject[]): boolean {
  const content = jsonObjects(turns.findLast((turn) => turn.role === "assistant")?.content);
  const calls = content.some((block) => block.type === "tool_use");
  return calls && !String(content[0]?.type).includes("thinking");
}

function thinkingFields(call: TransportCall, turns: readonly JsonObject[], limit: number): AnthropicBody {
  // The API refuses thinking together with a forced tool.
  if (call.request.answer?.toolChoice !== undefined) return {};
  const effort = call.request.reasoningEffort ?? "none";
  const budgetByQuirk = call.quirks.reasoning === "budget";
  const mode = budgetByQuirk ? "budget" : thinkingMode(call.model);
  if (effort === "none" || mode === "none" || call.quirks.reasoning === "none") return {};
  if (mode === "adaptive")
    return { thinking: { type: "adaptive" }, output_config: { effort: adaptiveEffort(call.model, effort) } };
  if (midToolsWithoutThinking(turns)) return {};
  const ceiling = outputCeiling(call.model);
  const budget = Math.min(THINKING_BUDGET[effort], ceiling - 1024);
  const room = Math.min(ceiling, Math.max(limit, budget + 4096));
  return { thinking: { type: "enabled", budget_tokens: budget }, max_tokens: room, temperature: 1 };
}

export function encodeAnthropic(call: TransportCall, stream: boolean): JsonObject {
  const { request, quirks, amend } = call;
  const turns = anthropicTurns(call);
  const ceiling = outputCeiling(call.model);
  const limit = Math.min(request.maxOutputTokens ?? quirks.defaultMaxTokens ?? ceiling, ceiling);
  const body: AnthropicBody = { model: call.model, max_tokens: limit, messages: turns };
  if (request.system.trim() !== "") {
    const block: MutableJson = { type: "text", text: wellFormed(request.system) };
    const marked = cacheLayoutFor("anthropic_messages", call.model, quirks) !== null;
    body.system = [marked ? { ...block, cache_control: control(call) } : block];
  }
  if (request.tools.length > 0)
    body.tools = request.tools.map((tool) => ({
      name: tool.name,
      description: wellFormed(tool.description),
      input_schema: schemaFor(tool, call),
    }));
  const temperature = quirks.fixedTemperature ?? request.temperature;
  if (temperature !== undefined && takesSampling(call.model) && !quirks.omitTemperature && !amend?.omitTemperature)
    body.temperature = Math.min(1, temperature);
  Object.assign(body, thinkingFields(call, turns, limit), anthropicAnswerFields(request.answer));
  if (isJsonObject(body.thinking) && body.thinking.type === "adaptive") delete body.temperature;
  if (stream) body.stream = true;
  return withExtras(body, call);
}
