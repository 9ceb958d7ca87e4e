// Decodes Responses answers: stream events, or a whole response.
import type {
  ResponseFunctionToolCall,
  ResponseOutputMessage,
  ResponseReasoningItem,
  ResponseStreamEvent,
  Response as WireResponse,
} from "openai/resources/responses/responses";
import type { AssistantMessage, Json, JsonObject } from "../../core/message.ts";
import type { ModelRequest } from "../../core/model/provider.ts";
import { AnswerDraft, type AnswerState, EMPTY_ANSWER, hasCalls, hasTruncatedCall, receivedAnswer } from "./answer.ts";
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
import { responsesUsage } from "./usage-map.ts";
import { type WireFields, wireFields } from "./wire-fields.ts";

type OutputItem = ResponseFunctionToolCall | ResponseOutputMessage | ResponseReasoningItem;
type StreamEvent = WireFields<ResponseStreamEvent, "error">;

export interface ResponsesState extends DecodeState {
  /** Finished items in order: for answers whose closing event is empty, and for the next request. */
  readonly items: readonly JsonObject[];
  /** Items whose text or reasoning has been streamed, as `text:0` and `reasoning:0`. */
  readonly streamed: ReadonlySet<string>;
  /** The response of the closing event. */
  readonly final: JsonObject | null;
}

export const RESPONSES_START: ResponsesState = {
  answer: EMPTY_ANSWER,
  complete: false,
  failure: null,
  items: [],
  streamed: new Set(),
  final: null,
};

function withStreamed({ streamed }: ResponsesState, mark: string): ReadonlySet<string> {
  return streamed.has(mark) ? streamed : new Set([...streamed, mark]);
}

/** Runs `change` on a draft of the answer. */
function drafted(state: ResponsesState, change: (draft: AnswerDraft) => void): Step<ResponsesState> {
  const draft = new AnswerDraft(state.answer);
  change(draft);
  return [{ ...state, answer: draft.state }, draft.events];
}

function addCall(draft: AnswerDraft, key: string, value: JsonObject): void {
  const item = wireFields<ResponseFunctionToolCall>(value);
  draft.addCall(key, { id: stringOrEmpty(item.call_id), name: stringOrEmpty(item.name) });
}

/** Adds a finished item: the parts that were not streamed, and the final arguments. */
function addItem(state: ResponsesState, key: string, value: JsonObject): Step<ResponsesState> {
  const item = wireFields<OutputItem>(value);
  return drafted({ ...state, items: [...state.items, value] }, (draft) => {
    if (item.type === "function_call") {
      addCall(draft, key, value);
      draft.settleCall(key, stringOrEmpty(item.arguments));
    } else if (item.type === "message" && !state.streamed.has(`text:${key}`)) {
      for (const part of jsonObjects(item.content))
        draft.addText(stringOrEmpty(part.text) || stringOrEmpty(part.refusal));
    } else if (item.type === "reasoning" && !state.streamed.has(`reasoning:${key}`)) {
      const parts = [...jsonObjects(item.summary), ...jsonObjects(item.content)];
      draft.addReasoning(parts.map((part) => stringOrEmpty(part.text)).join("\n\n"));
    }
  });
}

function close(state: ResponsesState, value: JsonObject): Step<ResponsesState> {
  const response = wireFields<WireResponse>(value);
  if (response.status === "failed") return failed(state, { response: value });
  const events: StreamedEvent[] = [];
  let current: ResponsesState = { ...state, final: value, complete: true };
  // The closing event repeats the items. They are read from it only when the server sent none before.
  if (state.items.length === 0)
    for (const [index, item] of jsonObjects(response.output).entries()) {
      const [next, streamed] = addItem(current, String(index), item);
      current = next;
      events.push(...streamed);
      if (current.answer.tooManyCalls) break;
    }
  return [current, events];
}

function failed(state: ResponsesState, event: StreamEvent): Step<ResponsesState> {
  const response = wireFields<WireResponse>(event.response);
  const error = response.error ?? event.error ?? { message: event.message, code: event.code };
  return withFailure(state, { kind: "stream_error", error });
}

function decodeEvent(state: ResponsesState, value: JsonObject): Step<ResponsesState> {
  const event: StreamEvent = wireFields<ResponseStreamEvent, "error">(value);
  if (event.error) return failed(state, event);
  if (value.object === "response") return close(state, value);
  const key = String(event.output_index ?? 0);
  switch (event.type as ResponseStreamEvent["type"] | "response.done" | undefined) {
    case "response.output_text.delta":
    case "response.refusal.delta":
      return drafted({ ...state, streamed: withStreamed(state, `text:${key}`) }, (draft) =>
        draft.addText(stringOrEmpty(event.delta)),
      );
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return drafted({ ...state, streamed: withStreamed(state, `reasoning:${key}`) }, (draft) =>
        draft.addReasoning(stringOrEmpty(event.delta)),
      );
    case "response.function_call_arguments.delta":
      return drafted(state, (draft) => draft.addCall(key, { args: stringOrEmpty(event.delta) }));
    case "response.output_item.added": {
      const { item } = event;
      if (!isJsonObject(item) || item.type !== "function_call") return [state, []];
      return drafted(state, (draft) => addCall(draft, key, item));
    }
    case "response.output_item.done":
      return isJsonObject(event.item) ? addItem(state, key, event.item) : [state, []];
    case "response.completed":
    case "response.incomplete":
    case "response.done":
      return isJsonObject(event.response) ? close(state, event.response) : [state, []];
    case "response.failed":
    case "error":
      return failed(state, event);
    default:
      return [state, []];
  }
}

export function decodeResponses(state: ResponsesState, event: WireEvent): Step<ResponsesState> {
  return decodeJson(state, event, decodeEvent);
}

function finishReason(answer: AnswerState, final: JsonObject | null): string {
  const response = wireFields<WireResponse>(final);
  const { reason } = wireFields<WireResponse.IncompleteDetails>(response.incomplete_details);
  if (reason === "content_filter") return "content_filter";
  if (hasTruncatedCall(answer) || response.status === "incomplete") return "length";
  return hasCalls(answer) ? "tool_calls" : "stop";
}

/** Items that must be sent back in the next request. */
function replayItems({ items }: ResponsesState): Partial<AssistantMessage> {
  const ofType = (type: OutputItem["type"]): Json[] => items.filter((item) => item.type === type);
  const reasoning = ofType("reasoning").filter(
    (item) => typeof wireFields<ResponseReasoningItem>(item).encrypted_content === "string",
  );
  const messages = ofType("message");
  return {
    ...(reasoning.length > 0 ? { codex_reasoning_items: reasoning } : {}),
    ...(messages.length > 0 ? { codex_message_items: messages } : {}),
  };
}

export function endResponses(state: ResponsesState, request: ModelRequest): [...StreamedEvent[], DecodeEnd] {
  const { usage } = wireFields<WireResponse>(state.final);
  return endDecoding(state, request, {
    begun: false,
    completion: (answer) => ({
      finishReason: finishReason(answer, state.final),
      usage: isJsonObject(usage) ? responsesUsage(usage) : undefined,
      extra: replayItems(state),
    }),
  });
}

export function receivedResponses({ answer }: ResponsesState): ReceivedAnswer {
  return receivedAnswer(answer);
}
