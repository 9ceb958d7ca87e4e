// Encodes a request as a chat-completions body.

import type { ChatCompletionCreateParams } from "openai/resources/chat/completions";
import type { AssistantMessage, Content, ContentPart, Json, JsonObject, ToolMessage } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import type { ReasoningEffort } from "../../core/model/provider.ts";
import { wellFormed } from "../../core/model/well-formed.ts";
import { geminiLevel, gptEffort, isReasoningModel, takesDeveloperRole } from "../name-rules.ts";
import { cacheLayoutFor } from "../quirks.ts";
import { chatAnswerFields } from "./answer-shape.ts";
import { applyCacheMarks } from "./cache-marks.ts";
import {
  isJsonObject,
  type MutableJson,
  schemaFor,
  sendable,
  stableArguments,
  WireIds,
  withExtras,
} from "./json-values.ts";
import type { TransportCall } from "./transport.ts";
import type { WireDraft } from "./wire-fields.ts";

/** The fields of OpenAI, and the extensions of other hosts. */
type ChatBody = WireDraft<
  ChatCompletionCreateParams,
  "reasoning" | "thinking" | "extra_body" | "enable_thinking" | "think" | "options"
>;

/** OpenAI takes call ids of at most 40 characters. */
const MAX_ID = 40;

function parts(content: Content, placeholder: string, asParts: boolean): Json {
  if (content === null || content.length === 0) return asParts ? [{ type: "text", text: placeholder }] : placeholder;
  if (typeof content === "string") {
    const text = content.trim() === "" ? placeholder : content;
    return asParts ? [{ type: "text", text }] : text;
  }
  const kept = content.filter((part) => part.type !== "text" || part.text.trim() !== "");
  return kept.length === 0 ? [{ type: "text", text: placeholder }] : (kept as unknown as Json);
}

function replayed(message: AssistantMessage, call: TransportCall): MutableJson {
  const mode = call.amend?.stripReasoning ? "none" : (call.quirks.replay ?? "none");
  const fields: MutableJson = {};
  if (mode === "none") return call.quirks.replay === "echo" ? { reasoning_content: " " } : fields;
  const opaque = (message.reasoning_details ?? []).filter(
    (detail) => isJsonObject(detail) && String(detail.type).startsWith("reasoning."),
  );
  if (opaque.length > 0 && mode === "details") fields.reasoning_details = opaque;
  if (mode === "details") return fields;
  const own = message.reasoning_content ?? "";
  // Reasoning of another provider must not be sent as reasoning of this one; a space satisfies the check of the host.
  const foreign = (message.tool_calls ?? []).length > 0;
  const text = own !== "" ? own : foreign && mode === "echo" ? "" : (message.reasoning ?? "");
  if (text !== "") fields.reasoning_content = wellFormed(text);
  else if (mode === "echo") fields.reasoning_content = " ";
  return fields;
}

function assistant(message: AssistantMessage, call: TransportCall, ids: WireIds): MutableJson {
  const calls = message.tool_calls ?? [];
  const text = wellFormed(contentText(message.content)).trimEnd();
  ids.open(calls);
  const row: MutableJson = { role: "assistant" };
  if (text.trim() !== "") row.content = call.quirks.contentAsParts ? [{ type: "text", text }] : text;
  else row.content = calls.length > 0 ? null : "(no answer)";
  if (calls.length > 0) {
    row.tool_calls = calls.map((item) => ({
      id: ids.find(item.id),
      type: "function",
      function: { name: item.function.name, arguments: stableArguments(item.function.arguments) },
      ...(call.quirks.extraContent && item.extra_content ? { extra_content: item.extra_content } : {}),
    }));
  }
  return { ...row, ...replayed(message, call) };
}

/** The text of a tool result; its images are added to `images`, because only user messages can have images. */
function toolResult(message: ToolMessage, call: TransportCall, ids: WireIds, images: ContentPart[]): MutableJson {
  const content = sendable(message.content, call);
  let text = contentText(content);
  if (Array.isArray(content)) {
    const seen = (content as readonly ContentPart[]).filter((part) => part.type === "image_url");
    images.push(...seen);
    if (text.trim() === "" && seen.length > 0) text = "[the image follows in the next message]";
  }
  if (text.trim() === "") text = "(no output)";
  const value: Json = call.quirks.contentAsParts ? [{ type: "text", text }] : text;
  return { role: "tool", tool_call_id: ids.find(message.tool_call_id), content: value };
}

function userRow(content: Content, images: ContentPart[], call: TransportCall): MutableJson {
  const own = sendable(content, call);
  if (images.length === 0)
    return { role: "user", content: parts(own, "(no text)", call.quirks.contentAsParts ?? false) };
  const list: ContentPart[] = typeof own === "string" ? [{ type: "text", text: own }] : [...(own ?? [])];
  return { role: "user", content: parts([...images, ...list], "(no text)", true) };
}

/** The wire messages of the conversation, system prompt first. */
export function chatMessages(call: TransportCall): JsonObject[] {
  const { request, quirks, model } = call;
  const rows: MutableJson[] = [];
  const ids = new WireIds(MAX_ID, quirks.callIds);
  const developer = quirks.developerRole !== false && takesDeveloperRole(model);
  if (request.system.trim() !== "")
    rows.push({
      role: developer ? "developer" : "system",
      content: parts(wellFormed(request.system), "", quirks.contentAsParts ?? false),
    });
  let images: ContentPart[] = [];
  for (const message of request.messages) {
    if (message.role === "tool") {
      rows.push(toolResult(message, call, ids, images));
      continue;
    }
    if (message.role === "assistant") {
      if (images.length > 0) rows.push(userRow([], images, call));
      rows.push(assistant(message, call, ids));
    } else rows.push(userRow(message.content, images, call));
    images = [];
  }
  if (images.length > 0) rows.push(userRow([], images, call));
  return rows;
}

function effortWord(effort: ReasoningEffort, highest: string): string {
  return effort === "xhigh" ? highest : effort;
}

function geminiThinking(effort: ReasoningEffort, model: string): Json {
  const byLevel = /gemini-([3-9]|\d\d)/.test(model);
  if (effort === "none") return byLevel ? { thinking_level: geminiLevel(model, effort) } : { thinking_budget: 0 };
  const config: MutableJson = { include_thoughts: true };
  if (byLevel) config.thinking_level = geminiLevel(model, effort);
  else config.thinking_budget = { minimal: 1024, low: 4096, medium: 8192, high: 16384, xhigh: 24576 }[effort];
  return config;
}

/** The fields that request reasoning effort, as the provider expects them. */
export function reasoningFields(call: TransportCall): ChatBody {
  const effort = call.request.reasoningEffort;
  const { effortModels, reasoning = "none" } = call.quirks;
  const model = call.model.toLowerCase();
  if (effort === undefined || effortModels?.every((piece) => !model.includes(piece))) return {};
  const off = effort === "none";
  const type = off ? "disabled" : "enabled";
  switch (reasoning) {
    case "effort":
      return off ? {} : { reasoning_effort: effortWord(gptEffort(model, effort), "high") };
    case "openrouter":
      return { reasoning: off ? { enabled: false } : { enabled: true, effort } };
    case "thinking":
      return { thinking: { type } };
    case "kimi":
      return off ? { thinking: { type } } : { thinking: { type }, reasoning_effort: effortWord(effort, "high") };
    case "deepseek":
      return off ? { thinking: { type } } : { thinking: { type }, reasoning_effort: effortWord(effort, "max") };
    case "gemini":
      return { extra_body: { google: { thinking_config: geminiThinking(effort, model) } } };
    case "qwen":
      return { enable_thinking: !off };
    case "ollama":
      return off ? { think: false } : {};
    default:
      return {};
  }
}

function samplingFields(call: TransportCall): ChatBody {
  const { request, quirks, amend } = call;
  const fields: ChatBody = {};
  const reasons = isReasoningModel(call.model);
  const temperature = quirks.fixedTemperature ?? request.temperature;
  if (temperature !== undefined && !quirks.omitTemperature && !amend?.omitTemperature && !reasons)
    fields.temperature = temperature;
  const limit = request.maxOutputTokens ?? quirks.defaultMaxTokens;
  if (limit !== undefined && !quirks.omitMaxTokens && !amend?.omitMaxTokens)
    fields[quirks.maxTokensField ?? (reasons ? "max_completion_tokens" : "max_tokens")] = limit;
  return fields;
}

function hostFields(call: TransportCall): ChatBody {
  const { request, quirks } = call;
  const fields: ChatBody = {};
  if (quirks.promptCacheKey) fields.prompt_cache_key = request.conversationId;
  if (quirks.numCtx !== undefined) fields.options = { num_ctx: quirks.numCtx };
  if (quirks.sessionMetadata) {
    const promptId = `${request.conversationId}-${request.messages.length}`;
    fields.metadata = { sessionId: request.conversationId, promptId };
  }
  return fields;
}

export function encodeChat(call: TransportCall, stream: boolean): JsonObject {
  const layout = cacheLayoutFor("chat_completions", call.model, call.quirks);
  const plain = chatMessages(call);
  const messages = layout ? applyCacheMarks(plain, { layout, ttl: call.cacheTtl ?? "5m" }) : plain;
  const body: ChatBody = { model: call.model, messages };
  if (call.request.tools.length > 0)
    body.tools = call.request.tools.map((tool) => ({
      type: "function",
      function: { name: tool.name, description: wellFormed(tool.description), parameters: schemaFor(tool, call) },
    }));
  Object.assign(body, samplingFields(call), reasoningFields(call), hostFields(call));
  Object.assign(body, chatAnswerFields(call.request.answer));
  if (stream) {
    body.stream = true;
    if (!call.quirks.noStreamUsage) body.stream_options = { include_usage: true };
  }
  return withExtras(body, call);
}
