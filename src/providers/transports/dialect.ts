// The contract of a wire dialect: a pure encoder of requests and a pure fold over the events of the answer.
import type { AssistantMessage, Json, JsonObject } from "../../core/message.ts";
import type { ModelRequest, TransportName } from "../../core/model/provider.ts";
import type { Usage } from "../../core/store/usage.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { AnswerDraft, type AnswerState, answerMessage, isEmptyAnswer } from "./answer.ts";
import { isJsonObject } from "./json-values.ts";
import type { ReceivedAnswer, StreamedEvent, TransportCall, TransportDone } from "./transport.ts";
import { estimatedUsage } from "./usage-map.ts";

/** One POST, ready to be sent. */
export interface EncodedRequest {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: JsonObject;
}

/** A server-sent event, or (`whole`) the body of an answer that is not streamed. */
export interface WireEvent {
  /** The name of the event; empty where the server sends none. */
  readonly event: string;
  readonly data: string;
  readonly whole: boolean;
}

/**
 * `stream_error`: the server reported an error. `malformed`: not of the dialect. `cut`: the end is missing.
 * `too_many_calls`: more than `MAX_TOOL_CALLS` tool calls.
 */
export type DecodeFailure =
  | { readonly kind: "stream_error"; readonly error: Json }
  | { readonly kind: "malformed" | "cut" | "too_many_calls" };

/** What every dialect's state has; immutable. */
export interface DecodeState {
  readonly answer: AnswerState;
  /** The answer has reached its end. Errors that follow are ignored. */
  readonly complete: boolean;
  /** Decoding has stopped: later events change nothing. */
  readonly failure: DecodeFailure | null;
}

export type Step<State> = readonly [state: State, events: readonly StreamedEvent[]];

export type DecodeEnd =
  | Omit<TransportDone, "rateLimits">
  | { readonly type: "failed"; readonly failure: DecodeFailure };

export interface Dialect<State extends DecodeState> {
  readonly name: TransportName;
  /** The same call gives the same bytes. */
  encode(call: TransportCall, stream: boolean): EncodedRequest;
  readonly initial: State;
  /** Never throws. */
  decode(state: State, event: WireEvent): Step<State>;
  /** Called when the body has ended: returns the held text, then one end event. */
  end(state: State, request: ModelRequest): readonly [...StreamedEvent[], DecodeEnd];
  /** Called when the connection broke: returns what had arrived. */
  received(state: State): ReceivedAnswer;
}

/** The state after an error; a complete answer is kept. */
export function withFailure<State extends DecodeState>(state: State, failure: DecodeFailure): Step<State> {
  return [state.complete ? state : { ...state, failure }, []];
}

/**
 * Parses the data of an event and passes JSON objects to `decode`. Error events, malformed data and too many tool calls
 * become failures.
 */
export function decodeJson<State extends DecodeState>(
  state: State,
  { event, data }: WireEvent,
  decode: (state: State, value: JsonObject) => Step<State>,
): Step<State> {
  if (state.failure) return [state, []];
  const value = parseJson(data) as Json | undefined;
  if (event === "error") return withFailure(state, { kind: "stream_error", error: value ?? data });
  if (value === undefined) return withFailure(state, { kind: "malformed" });
  if (!isJsonObject(value)) return [state, []];
  const [next, events] = decode(state, value);
  return [next.answer.tooManyCalls ? { ...next, failure: { kind: "too_many_calls" } } : next, events];
}

/** What a dialect knows about a complete answer. */
export interface Completion {
  readonly finishReason: string;
  /** Undefined where the server reported none. */
  readonly usage: Usage | undefined;
  readonly reportedCostUsd?: number | undefined;
  /** Fields of the message that only this dialect has. */
  readonly extra?: Partial<AssistantMessage> | undefined;
}

/** The end of an answer that is complete, or was cut, or failed. `begun`: the server had sent something before text. */
export function endDecoding<State extends DecodeState>(
  state: State,
  request: ModelRequest,
  options: { readonly begun: boolean; completion(answer: AnswerState): Completion },
): [...StreamedEvent[], DecodeEnd] {
  if (state.failure) return [{ type: "failed", failure: state.failure }];
  const draft = new AnswerDraft(state.answer);
  draft.flush();
  if (!state.complete) {
    const kind = isEmptyAnswer(draft.state) && !options.begun ? "malformed" : "cut";
    return [...draft.events, { type: "failed", failure: { kind } }];
  }
  const { finishReason, usage, reportedCostUsd, extra } = options.completion(draft.state);
  const message = { ...answerMessage(draft.state, finishReason, request.messages), ...extra };
  const done: DecodeEnd = {
    type: "done",
    message,
    finishReason,
    usage: usage ?? estimatedUsage(request, message),
    usageEstimated: usage === undefined,
    ...(reportedCostUsd === undefined ? {} : { reportedCostUsd }),
  };
  return [...draft.events, done];
}
