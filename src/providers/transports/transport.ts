// The contract of a transport: sends one request in a wire dialect and yields the events of the answer. No retries.
import type { AssistantMessage, JsonObject } from "../../core/message.ts";
import type { ModelRequest, TransportName } from "../../core/model/provider.ts";
import type { Usage } from "../../core/store/usage.ts";
import type { ProviderQuirks } from "../quirks.ts";

export interface TransportEndpoint {
  readonly baseUrl: string;
  /** Sent to `baseUrl` and nowhere else; redirects are not followed. */
  readonly apiKey: string | null;
  readonly headers: { readonly [name: string]: string };
  /** Default: `x-api-key` for Anthropic, `bearer` for the other dialects. */
  readonly authStyle?: "bearer" | "x-api-key" | "api-key" | undefined;
}

/** Milliseconds. Connecting itself is bounded by the platform (10 s) and by `firstTokenMs`. */
export interface TransportLimits {
  /** Until the first piece of the answer. */
  readonly firstTokenMs: number;
  /** Between two pieces. */
  readonly idleMs: number;
  /** From start to end. */
  readonly totalMs: number;
}

/** One-time changes to the request after a particular refusal. */
export interface Amendments {
  /** Send no earlier reasoning (a signature was refused). */
  readonly stripReasoning?: boolean | undefined;
  /** Replace every image by a note (the model takes no images). */
  readonly stripImages?: boolean | undefined;
  /** Replace data-URL images above this many bytes by a note. */
  readonly maxImageBytes?: number | undefined;
  /** Send tool schemas without `pattern` and `format`. */
  readonly plainSchemas?: boolean | undefined;
  /** Leave out `temperature` or the output limit when the host refused it. */
  readonly omitTemperature?: boolean | undefined;
  readonly omitMaxTokens?: boolean | undefined;
}

export interface TransportCall {
  readonly request: ModelRequest;
  readonly endpoint: TransportEndpoint;
  readonly model: string;
  readonly quirks: ProviderQuirks;
  readonly signal: AbortSignal;
  readonly timeouts: TransportLimits;
  /** How long cached prefixes are kept, where marks are used. Default 5m. */
  readonly cacheTtl?: "5m" | "1h" | undefined;
  readonly amend?: Amendments | undefined;
  /** Replaces the client over node:http. */
  readonly fetch?: typeof fetch | undefined;
}

export interface TransportDone {
  readonly type: "done";
  readonly message: AssistantMessage;
  /** `stop`, `tool_calls`, `length`, `content_filter`. */
  readonly finishReason: string;
  readonly usage: Usage;
  /** The server reported no usage: `usage` is our estimate. */
  readonly usageEstimated: boolean;
  /** Dollars, when the provider states the cost of the call. */
  readonly reportedCostUsd?: number | undefined;
  readonly rateLimits: { readonly [header: string]: string };
}

/** A piece of the answer, to be shown at once. */
export type StreamedEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "tool_call_started"; readonly name: string };

export type TransportEvent = StreamedEvent | TransportDone;

/** What had arrived when an exchange failed. */
export interface ReceivedAnswer {
  /** Text and reasoning. Unfinished tool calls are left out. */
  readonly partial?: AssistantMessage | undefined;
  /** A tool call was being written when the stream ended. */
  readonly inToolCall?: boolean | undefined;
  /** The usage that the server had reported by then; the output may be more. */
  readonly usage?: Usage | undefined;
}

export interface Transport {
  readonly name: TransportName;
  /** Pure: the body that `stream` sends. The same call always gives the same bytes. */
  encode(call: TransportCall): JsonObject;
  /** The last event is `done`; any other end is a thrown TransportError. Leaving the loop early closes the socket. */
  stream(call: TransportCall): AsyncIterable<TransportEvent>;
}

/**
 * `http`: an answer with an error status. `stream_error`: an error event inside a stream. `cut`: the stream ended
 * before the answer was complete. `malformed`: an answer that is not valid in the dialect. `network`: no connection, or it
 * broke before an answer. The others name the limit that ran out; `aborted` is the caller's signal.
 */
export type TransportErrorKind =
  | "http"
  | "stream_error"
  | "cut"
  | "malformed"
  | "network"
  | "first_token_timeout"
  | "idle_timeout"
  | "total_timeout"
  | "aborted";

export interface TransportErrorData extends ReceivedAnswer {
  readonly kind: TransportErrorKind;
  readonly status?: number | undefined;
  /** The error body as text, at most 64 KB, without the key. */
  readonly body?: string | undefined;
  readonly headers?: { readonly [name: string]: string };
  /** A code from the body or from the socket: `context_length_exceeded`, `ECONNRESET` … */
  readonly code?: string | undefined;
  readonly cause?: unknown;
}

/** Everything that the classification of errors needs. The message holds no secrets. */
export class TransportError extends Error {
  readonly kind: TransportErrorKind;
  readonly status: number | undefined;
  readonly body: string | undefined;
  readonly headers: { readonly [name: string]: string };
  readonly code: string | undefined;
  readonly partial: AssistantMessage | undefined;
  readonly inToolCall: boolean;
  readonly usage: Usage | undefined;

  constructor(message: string, data: TransportErrorData) {
    super(message, data.cause === undefined ? undefined : { cause: data.cause });
    this.name = "TransportError";
    this.kind = data.kind;
    this.status = data.status;
    this.body = data.body;
    this.headers = data.headers ?? {};
    this.code = data.code;
    this.partial = data.partial;
    this.inToolCall = data.inToolCall ?? false;
    this.usage = data.usage;
  }
}
