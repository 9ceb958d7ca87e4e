// Encodes a request as a Responses body.

import type { ResponseCreateParams } from "openai/resources/responses/responses";
import type { AssistantMessage, Content, ContentPart, Json, JsonObject, Message } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import { wellFormed } from "../../core/model/well-formed.ts";
import { gptEffort, isReasoningModel, isResponsesModel } from "../name-rules.ts";
import { appliesTo } from "../quirks.ts";
import { responsesAnswerFields } from "./answer-shape.ts";
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

/** Encrypted reasoning is sent back as it came. The interface requires its id. */
function reasoningItems(message: AssistantMessage, call: TransportCall): MutableJson[] {
  if (call.quirks.encryptedReasoning === false || call.amend?.stripReasoning) return [];
  const items: MutableJson[] = [];
  for (const { id, encrypted_content, summary } of jsonObjects(message.codex_reasoning_items)) {
    if (typeof encrypted_content !== "string" || encrypted_content === "") continue;
    if (typeof id !== "string" || id === "") continue;
    items.push({ type: "reasoning", id, summary: Array.isArray(summary) ? summary : [], encrypted_content });
  }
  return items;
}

/** A message of the server has an id and output parts; any other text is sent in the short form, which needs neither. */
function messageItem(id: string, text: string, phase: Json | undefined): MutableJson {
  const labelled = typeof phase === "string" ? { phase } : {};
  if (!id.startsWith("msg_")) return { role: "assistant", content: text, ...labelled };
  const content = [{ type: "output_text", text, annotations: [] }];
  return { type: "message", id, role: "assistant", status: "completed", content, ...labelled };
}

function messageItems(message: AssistantMessage): MutableJson[] {
  const items: MutableJson[] = [];
  for (const item of jsonObjects(message.codex_message_items)) {
    const text = jsonObjects(item.content)
      .filter((part) => part.type === "output_text")
      .map((part) => wellFormed(String(part.text)))
      .join("");
    if (text.trim() !== "") items.push(messageItem(String(item.id ?? ""), text, item.phase));
  }
  if (items.length > 0) return items;
  const text = wellFormed(contentText(message.content)).trimEnd();
  return text.trim() === "" ? [] : [messageItem("", text, undefined)];
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
  const asked = request.reasoningEffort;
  const takesEffort = quirks.reasoning !== "none" && appliesTo(call.model, quirks.effortModels);
  const fields: ResponsesBody = {};
  if (quirks.encryptedReasoning !== false) fields.include = ["reasoning.encrypted_content"];
  if (asked === undefined || !takesEffort) return fields;
  // GPT thinks by default, so "none" must be said; other models have no such value.
  if (asked === "none" && !isResponsesModel(call.model)) return fields;
  const effort = gptEffort(call.model, asked);
  const silent = quirks.encryptedReasoning === false || effort === "none";
  fields.reasoning = silent ? { effort } : { effort, summary: "auto" };
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
  Object.assign(body, reasoningFields(call), responsesAnswerFields(request.answer));
  if (stream) body.stream = true;
  return withExtras(body, call);
}
