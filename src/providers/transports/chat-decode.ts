// Decodes chat-completions answers: chunks, or the message of an answer that was not streamed (it has the same fields).
import type { ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
import type { CompletionUsage } from "openai/resources/completions";
import type { Json, JsonObject } from "../../core/message.ts";
import type { ModelRequest } from "../../core/model/provider.ts";
import { AnswerDraft, EMPTY_ANSWER, finishReason, isEmptyAnswer, receivedAnswer } from "./answer.ts";
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
import { chatUsage } from "./usage-map.ts";
import { type WireFields, wireFields } from "./wire-fields.ts";

type Delta = ChatCompletionChunk.Choice.Delta;
type ChatDelta = WireFields<Delta, "reasoning" | "reasoning_content" | "reasoning_details">;
type FinishReason = NonNullable<ChatCompletionChunk.Choice["finish_reason"]> | "eos" | "max_tokens";

const FINISH_REASONS: { readonly [reason in FinishReason]: string } = {
  stop: "stop",
  eos: "stop",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  length: "length",
  max_tokens: "length",
  content_filter: "content_filter",
};
const FINISH = new Map(Object.entries(FINISH_REASONS));

export interface ChatState extends DecodeState {
  readonly finish: string;
  readonly usage: JsonObject | null;
}

export const CHAT_START: ChatState = {
  answer: EMPTY_ANSWER,
  complete: false,
  failure: null,
  finish: "",
  usage: null,
};

/** Opaque reasoning arrives in pieces that belong together by index and type. */
function mergeDetails(details: readonly Json[], pieces: readonly JsonObject[]): Json[] {
  const result = [...details];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (!isJsonObject(last) || last.type !== piece.type || last.index !== piece.index) {
      result.push(piece);
      continue;
    }
    const merged: { [key: string]: Json | undefined } = { ...last };
    for (const [key, value] of Object.entries(piece)) {
      if (value === null || value === undefined) continue;
      const before = merged[key];
      const grows = (key === "text" || key === "summary" || key === "data") && typeof before === "string";
      merged[key] = grows ? before + stringOrEmpty(value) : value;
    }
    result[result.length - 1] = merged;
  }
  return result;
}

function addReasoning(draft: AnswerDraft, delta: ChatDelta): void {
  const own = stringOrEmpty(delta.reasoning_content);
  if (own !== "") draft.markOwnReasoningField();
  const details = jsonObjects(delta.reasoning_details);
  if (details.length > 0) draft.setDetails(mergeDetails(draft.state.details, details));
  const text = own || stringOrEmpty(delta.reasoning);
  if (text !== "") draft.addReasoning(text);
  else for (const item of details) draft.addReasoning(stringOrEmpty(item.text) || stringOrEmpty(item.summary));
}

function addToolCall(draft: AnswerDraft, value: JsonObject, position: number): void {
  const piece = wireFields<ChatCompletionChunk.Choice.Delta.ToolCall, "extra_content">(value);
  const called = wireFields<ChatCompletionChunk.Choice.Delta.ToolCall.Function>(piece.function);
  const key = typeof piece.index === "number" ? piece.index : position;
  const args = called.arguments;
  draft.addCall(key, {
    id: stringOrEmpty(piece.id),
    name: stringOrEmpty(called.name),
    // A few servers send the arguments as an object.
    args: isJsonObject(args) ? JSON.stringify(args) : stringOrEmpty(args),
  });
  if (isJsonObject(piece.extra_content)) draft.setExtra(key, piece.extra_content);
}

function addDelta(draft: AnswerDraft, delta: ChatDelta): void {
  addReasoning(draft, delta);
  if (typeof delta.content === "string") draft.addText(delta.content);
  else for (const part of jsonObjects(delta.content)) draft.addText(stringOrEmpty(part.text));
  draft.addText(stringOrEmpty(delta.refusal));
  for (const [position, piece] of jsonObjects(delta.tool_calls).entries()) addToolCall(draft, piece, position);
}

function decodeChunk(state: ChatState, value: JsonObject, whole: boolean): Step<ChatState> {
  const chunk = wireFields<ChatCompletionChunk, "error">(value);
  // Some gateways report an error with status 200.
  if (chunk.error) return withFailure(state, { kind: "stream_error", error: chunk.error });
  const choice = wireFields<ChatCompletionChunk.Choice | ChatCompletion.Choice, "usage">(jsonObjects(chunk.choices)[0]);
  // Some servers send the usage inside the choice.
  const usage = [chunk.usage, state.usage, choice.usage].find(isJsonObject) ?? null;
  const draft = new AnswerDraft(state.answer);
  addDelta(draft, wireFields(isJsonObject(choice.delta) ? choice.delta : choice.message));
  if (whole) draft.flush();
  const finish = stringOrEmpty(choice.finish_reason) || state.finish;
  // `finish_reason` ends an answer: `[DONE]` may be missing, and the usage may come with every chunk. A body that was
  // not streamed may lack it.
  const complete = finish !== "" || (whole && (usage !== null || !isEmptyAnswer(draft.state)));
  return [{ ...state, answer: draft.state, usage, finish, complete }, draft.events];
}

export function decodeChat(state: ChatState, event: WireEvent): Step<ChatState> {
  return decodeJson(state, event, (current, value) => decodeChunk(current, value, event.whole));
}

export function endChat(state: ChatState, request: ModelRequest): [...StreamedEvent[], DecodeEnd] {
  // OpenRouter states the cost of the call.
  const { cost } = wireFields<CompletionUsage, "cost">(state.usage);
  return endDecoding(state, request, {
    begun: false,
    completion: (answer) => ({
      finishReason: finishReason(answer, FINISH.get(state.finish)),
      usage: state.usage ? chatUsage(state.usage) : undefined,
      reportedCostUsd: typeof cost === "number" ? cost : undefined,
    }),
  });
}

export function receivedChat({ answer, usage }: ChatState): ReceivedAnswer {
  return { ...receivedAnswer(answer), usage: usage ? chatUsage(usage) : undefined };
}
