// Encodes a request as a Responses body.

import type { ResponseCreateParams } from "openai/resources/responses/responses";
import type { AssistantMessage, Content, ContentPart, Json, JsonObject, Message } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import { wellFormed } from "../../core/model/well-formed.ts";
import { appliesTo } from "../quirks.ts";
import { isReasoningModel } from "./chat-encode.ts";
import {
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

type ResponsesBody = WireDraft<ResponseCreateParams>;

const MAX_ID = 64;
const MIN_OUTPUT = 16;

function inputParts(content: Content, call: TransportCall): MutableJson[] {
  const value = sendable(content, call);
  if (value === null) return [];
  const list: readonly ContentPart[] = typeof value === "string" ? [{ type: "text", text: value }] : value;
  const result: MutableJson[] = [];
  for (const part of list) {
    if (part.type === "image_url") {
      const { url, detail } = part.image_url;
      result.push({ type: "input_image", image_url: url, detail: detail ?? "auto" });
    } else if (part.text.trim() !== "") result.push({ type: "input_text", text: part.text });
  }
  return result;
}

/** Encrypted reasoning is sent back without its id, because the server stores nothing under that id. */
function reasoningItems(message: AssistantMessage, call: TransportCall): MutableJson[] {
  if (call.quirks.encryptedReasoning === false || call.amend?.stripReasoning) return [];
  const items: MutableJson[] = [];
  for (const item of jsonObjects(message.codex_reasoning_items)) {
    if (typeof item.encrypted_content !== "string" || item.encrypted_content === "") continue;
    const summary = Array.isArray(item.summary) ? item.summary : [];
    items.push({ type: "reasoning", summary, encrypted_content: item.encrypted_content });
  }
  return items;
}

function messageItems(message: AssistantMessage): MutableJson[] {
  const items: MutableJson[] = [];
  for (const item of jsonObjects(message.codex_message_items)) {
    const content = jsonObjects(item.content)
      .filter((part) => part.type === "output_text" && String(part.text).trim() !== "")
      .map((part) => ({ type: "output_text", text: wellFormed(String(part.text)) }));
    if (content.length === 0) continue;
    const id = String(item.id ?? "");
    items.push({
      type: "message",
      role: "assistant",
      content,
      status: "completed",
      ...(id.startsWith("msg_") ? { id } : {}),
      ...(typeof item.phase === "string" ? { phase: item.phase } : {}),
    });
  }
  if (items.length > 0) return items;
  const text = wellFormed(contentText(message.content)).trimEnd();
  if (text.trim() === "") return [];
  return [{ type: "message", role: "assistant", content: [{ type: "output_text", text }] }];
}

function assistantItems(message: AssistantMessage, call: TransportCall, ids: WireIds): MutableJson[] {
  const calls = message.tool_calls ?? [];
  ids.open(calls);
  const said = messageItems(message);
  for (const item of calls)
    said.push({
      type: "function_call",
      call_id: ids.find(item.id),
      name: item.function.name,
      arguments: stableArguments(item.function.arguments),
    });
  // The API refuses reasoning that no message or call follows.
  return said.length === 0 ? [] : [...reasoningItems(message, call), ...said];
}

function toolOutput(content: Content, call: TransportCall): Json {
  const parts = inputParts(content, call);
  if (parts.length === 0) return "(no output)";
  return parts.some((part) => part.type === "input_image") ? parts : parts.map((part) => part.text).join("\n");
}

function toItems(message: Message, call: TransportCall, ids: WireIds): MutableJson[] {
  if (message.role === "assistant") return assistantItems(message, call, ids);
  if (message.role === "tool")
    return [
      {
        type: "function_call_output",
        call_id: ids.find(message.tool_call_id),
        output: toolOutput(message.content, call),
      },
    ];
  const content = inputParts(message.content, call);
  return [
    {
      type: "message",
      role: "user",
      content: content.length > 0 ? content : [{ type: "input_text", text: "(no text)" }],
    },
  ];
}

function reasoningFields(call: TransportCall): ResponsesBody {
  const { quirks, request } = call;
  const effort = request.reasoningEffort;
  const takesEffort = quirks.reasoning !== "none" && appliesTo(call.model, quirks.effortModels);
  const fields: ResponsesBody = {};
  if (quirks.encryptedReasoning !== false) fields.include = ["reasoning.encrypted_content"];
  if (effort === undefined || effort === "none" || !takesEffort) return fields;
  fields.reasoning = quirks.encryptedReasoning === false ? { effort } : { effort, summary: "auto" };
  return fields;
}

export function encodeResponses(call: TransportCall, stream: boolean): JsonObject {
  const { request, quirks, amend } = call;
  const ids = new WireIds(MAX_ID);
  const input = request.messages.flatMap((message) => toItems(message, call, ids));
  const body: ResponsesBody = { model: call.model, store: false, prompt_cache_key: request.conversationId };
  if (request.system.trim() !== "") body.instructions = wellFormed(request.system);
  body.input = input;
  if (request.tools.length > 0) {
    body.tools = request.tools.map((tool) => ({
      type: "function",
      name: tool.name,
      description: wellFormed(tool.description),
      parameters: schemaFor(tool, call),
      strict: false,
    }));
    body.parallel_tool_calls = true;
  }
  const limit = request.maxOutputTokens ?? quirks.defaultMaxTokens;
  if (limit !== undefined && !quirks.omitMaxTokens && !amend?.omitMaxTokens)
    body.max_output_tokens = Math.max(MIN_OUTPUT, limit);
  const temperature = quirks.fixedTemperature ?? request.temperature;
  const fixed = quirks.omitTemperature || amend?.omitTemperature || isReasoningModel(call.model);
  if (temperature !== undefined && !fixed) body.temperature = temperature;
  Object.assign(body, reasoningFields(call));
  if (stream) body.stream = true;
  return withExtras(body, call);
}
