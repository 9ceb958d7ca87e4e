// Decodes Anthropic Messages answers: stream events, or a whole message.
import type {
  Message as AnthropicMessage,
  ContentBlock,
  RawContentBlockDelta,
  RawMessageDeltaEvent,
  RawMessageStreamEvent,
  StopReason,
} from "@anthropic-ai/sdk/resources/messages";
import type { Json, JsonObject } from "../../core/message.ts";
import type { ModelRequest } from "../../core/model/provider.ts";
import { AnswerDraft, EMPTY_ANSWER, finishReason, receivedAnswer } from "./answer.ts";
import {
  type DecodeEnd,
  type DecodeState,
  decodeJson,
  endDecoding,
  type Step,
  type WireEvent,
  withFailure,
} from "./dialect.ts";
import { isJsonObject, jsonObjects, stringOrEmpty } from "./json-values.ts";
import type { ReceivedAnswer, StreamedEvent } from "./transport.ts";
import { anthropicUsage } from "./usage-map.ts";
import { wireFields } from "./wire-fields.ts";

const FINISH_REASONS: { readonly [reason in StopReason | "model_context_window_exceeded"]: string } = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filter",
};
/** Compatible servers use the word of chat completions too. */
const FINISH = new Map<string, string>([...Object.entries(FINISH_REASONS), ["content_filter", "content_filter"]]);

export interface AnthropicState extends DecodeState {
  /** Blocks that have begun and not ended. */
  readonly blocks: ReadonlyMap<number, JsonObject>;
  readonly usage: JsonObject | null;
  readonly stop: string;
}

export const ANTHROPIC_START: AnthropicState = {
  answer: EMPTY_ANSWER,
  complete: false,
  failure: null,
  blocks: new Map(),
  usage: null,
  stop: "",
};

/** The end of a stream repeats only some of the numbers: later ones win, missing ones stay. */
function mergeUsage(known: JsonObject | null, usage: Json | undefined): JsonObject | null {
  if (!isJsonObject(usage)) return known;
  const merged: { [key: string]: Json | undefined } = { ...known };
  for (const [key, value] of Object.entries(usage)) if (value !== null && value !== undefined) merged[key] = value;
  return merged;
}

function startBlock(state: AnthropicState, index: number, value: Json | undefined): Step<AnthropicState> {
  if (!isJsonObject(value)) return [state, []];
  const block = wireFields<ContentBlock>(value);
  const draft = new AnswerDraft(state.answer);
  if (block.type === "text") draft.addText(stringOrEmpty(block.text));
  else if (block.type === "thinking") draft.addReasoning(stringOrEmpty(block.thinking));
  else if (block.type === "tool_use") {
    const { input } = block;
    const args = isJsonObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : "";
    draft.addCall(index, { id: stringOrEmpty(block.id), name: stringOrEmpty(block.name), args });
  }
  return [{ ...state, answer: draft.state, blocks: new Map(state.blocks).set(index, value) }, draft.events];
}

/** The block with a piece added to one of its text fields. */
function growBlock(state: AnthropicState, index: number, field: "thinking" | "signature", piece: string) {
  const block = state.blocks.get(index);
  if (!block || piece === "") return state.blocks;
  return new Map(state.blocks).set(index, { ...block, [field]: stringOrEmpty(block[field]) + piece });
}

function addDelta(state: AnthropicState, index: number, value: Json | undefined): Step<AnthropicState> {
  const delta = wireFields<RawContentBlockDelta>(value);
  const draft = new AnswerDraft(state.answer);
  let { blocks } = state;
  switch (delta.type as RawContentBlockDelta["type"] | undefined) {
    case "text_delta":
      draft.addText(stringOrEmpty(delta.text));
      break;
    case "thinking_delta":
      blocks = growBlock(state, index, "thinking", stringOrEmpty(delta.thinking));
      draft.addReasoning(stringOrEmpty(delta.thinking));
      break;
    case "signature_delta":
      blocks = growBlock(state, index, "signature", stringOrEmpty(delta.signature));
      break;
    case "input_json_delta":
      draft.addCall(index, { args: stringOrEmpty(delta.partial_json) });
      break;
    default:
      return [state, []];
  }
  return [{ ...state, answer: draft.state, blocks }, draft.events];
}

/** Thinking blocks are stored as they came: their signature covers them. */
function stopBlock(state: AnthropicState, index: number): AnthropicState {
  const block = state.blocks.get(index);
  if (!block) return state;
  const blocks = new Map(state.blocks);
  blocks.delete(index);
  if (block.type !== "thinking" && block.type !== "redacted_thinking") return { ...state, blocks };
  return { ...state, blocks, answer: { ...state.answer, details: [...state.answer.details, block] } };
}

function decodeEvent(state: AnthropicState, value: JsonObject): Step<AnthropicState> {
  const event = wireFields<RawMessageStreamEvent>(value);
  const index = Number(event.index ?? 0);
  switch (event.type as RawMessageStreamEvent["type"] | "error" | undefined) {
    case "message_start": {
      const { usage } = wireFields<AnthropicMessage>(event.message);
      return [{ ...state, usage: mergeUsage(state.usage, usage) }, []];
    }
    case "content_block_start":
      return startBlock(state, index, event.content_block);
    case "content_block_delta":
      return addDelta(state, index, event.delta);
    case "content_block_stop":
      return [stopBlock(state, index), []];
    case "message_delta": {
      const { stop_reason } = wireFields<RawMessageDeltaEvent.Delta>(event.delta);
      const stop = stringOrEmpty(stop_reason) || state.stop;
      const usage = mergeUsage(state.usage, event.usage);
      return [{ ...state, stop, usage, complete: state.complete || stop !== "" }, []];
    }
    case "message_stop":
      return [{ ...state, complete: true }, []];
    // Some gateways leave out the names of the events; the type is in the data too.
    case "error":
      return withFailure(state, { kind: "stream_error", error: value });
    default:
      return [state, []];
  }
}

/** A message that was not streamed, as the events of a stream. */
function messageEvents(value: JsonObject): JsonObject[] {
  const message = wireFields<AnthropicMessage>(value);
  return [
    { type: "message_start", message: { ...message, content: [] } },
    ...jsonObjects(message.content).flatMap((block, index) => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: message.stop_reason ?? null }, usage: message.usage ?? {} },
    { type: "message_stop" },
  ];
}

function decodeMessage(state: AnthropicState, message: JsonObject): Step<AnthropicState> {
  if (message.type === "error" || !Array.isArray(message.content))
    return withFailure(state, { kind: "stream_error", error: message.error ?? message });
  const events: StreamedEvent[] = [];
  let current = state;
  for (const event of messageEvents(message)) {
    const [next, streamed] = decodeEvent(current, event);
    current = next;
    events.push(...streamed);
    if (current.answer.tooManyCalls) break;
  }
  return [current, events];
}

export function decodeAnthropic(state: AnthropicState, event: WireEvent): Step<AnthropicState> {
  return decodeJson(state, event, event.whole ? decodeMessage : decodeEvent);
}

export function endAnthropic(state: AnthropicState, request: ModelRequest): [...StreamedEvent[], DecodeEnd] {
  return endDecoding(state, request, {
    begun: state.usage !== null,
    completion: (answer) => ({
      finishReason: finishReason(answer, FINISH.get(state.stop)),
      usage: state.usage ? anthropicUsage(state.usage) : undefined,
    }),
  });
}

export function receivedAnthropic({ answer, usage }: AnthropicState): ReceivedAnswer {
  return { ...receivedAnswer(answer), usage: usage ? anthropicUsage(usage) : undefined };
}
