// A model: takes a request, returns an async stream of events. Retries and failover happen inside.
import type { Failure } from "../failure.ts";
import type { AssistantMessage, JsonObject, Message } from "../message.ts";
import type { Cost, Usage } from "../store/usage.ts";

/** A tool as the model sees it. `parameters` is plain JSON Schema. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

export type ReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh";

/** What a caller demands of an answer. */
export interface AnswerShape {
  /** `required`: the model must call a tool; `{ name }`: this one. */
  readonly toolChoice?: "required" | { readonly name: string } | undefined;
  /** The answer is JSON, with `schema` of that form. */
  readonly format?:
    | { readonly type: "json_object" }
    | {
        readonly type: "json_schema";
        readonly name: string;
        readonly schema: JsonObject;
        readonly strict?: boolean | undefined;
      }
    | undefined;
}

export interface ModelRequest {
  /** Frozen for the life of a session; never part of `messages`. */
  readonly system: string;
  /** A projection: paired, alternating, non-empty. No system message. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly reasoningEffort?: ReasoningEffort | undefined;
  readonly answer?: AnswerShape | undefined;
  /** Stable over compaction: keys provider-side caches. */
  readonly conversationId: string;
  /** The purpose that the ledger records: `turn`, `wrap_up` or an auxiliary task's name. */
  readonly purpose: string;
  readonly sessionId?: string | undefined;
  readonly jobId?: string | undefined;
  readonly extraBody?: JsonObject | undefined;
}

/** Which model answered; changes within a turn only by fallback. */
export interface ModelIdentity {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly transport: TransportName;
}

export type TransportName = "chat_completions" | "anthropic_messages" | "codex_responses" | "offline";

/** What `Provider.stream` yields. The last event is always `done` or `failed`; it never throws and never rejects. */
export type ModelEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  /** A tool call has begun; its arguments follow in `done`. */
  | { readonly type: "tool_call_started"; readonly name: string }
  | { readonly type: "retrying"; readonly failure: Failure; readonly attempt: number; readonly inMs: number }
  | { readonly type: "fallback"; readonly from: ModelIdentity; readonly to: ModelIdentity; readonly failure: Failure }
  /** The text streamed so far is invalid: the answer is streamed again from the start. */
  | { readonly type: "restarted" }
  | { readonly type: "done"; readonly response: ModelResponse }
  /** `partial` is what had arrived before the end, when there was any. */
  | { readonly type: "failed"; readonly failure: Failure; readonly partial?: AssistantMessage | undefined };

export interface ModelResponse {
  readonly message: AssistantMessage;
  /** `stop`, `tool_calls`, `length`, `content_filter`, `incomplete`. */
  readonly finishReason: string;
  /** Why the answer broke off; set when `finishReason` is `incomplete`. */
  readonly incomplete?: Failure | undefined;
  readonly usage: Usage;
  readonly cost: Cost;
  readonly identity: ModelIdentity;
  readonly rateLimits?: { readonly [header: string]: string };
}

export interface ModelLimits {
  /** Tokens that prompt and answer share. */
  readonly contextLength: number;
  readonly maxOutputTokens?: number | undefined;
  /** Where the window came from: `config`, `provider`, `catalog`, `default`. */
  readonly source: string;
}

/** A connected model with its retries, credential rotation and fallbacks. Built once per conversation. */
export interface Provider {
  /** The primary model; `stream` reports fallbacks as events. */
  readonly identity: ModelIdentity;
  limits(signal?: AbortSignal): Promise<ModelLimits>;
  /** Starts a turn: the primary is tried first again, and the shared deadline of the turn begins. */
  beginTurn(): void;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** True when prompt-cache marks help with this model, for the status line. */
  readonly caching: { readonly enabled: boolean; readonly label: string; readonly status?: string | undefined };
}

/** A request to a side model for one of the auxiliary tasks. */
export interface SideRequest {
  readonly task: string;
  readonly system?: string | undefined;
  readonly prompt: string;
  /** Images that go with the prompt: addresses or `data:` URLs. */
  readonly images?: readonly string[] | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly sessionId?: string | undefined;
  readonly jobId?: string | undefined;
}

export type SideAnswer =
  | { readonly ok: true; readonly text: string; readonly finishReason: string; readonly identity: ModelIdentity }
  | { readonly ok: false; readonly failure: Failure };

/** Auxiliary model calls: summaries, titles, verdicts. Never throws; records each call under its task's name. */
export interface SideModel {
  ask(request: SideRequest, signal?: AbortSignal): Promise<SideAnswer>;
  /** The window of the model that would serve the task, in tokens. */
  contextLength(task: string): Promise<number>;
}

/** Connects to a model: the configured one unless a provider or model is named. Throws UserError when there is none. */
export interface ModelConnector {
  connect(choice: {
    readonly provider?: string | undefined;
    readonly model?: string | undefined;
  }): Promise<{ readonly provider: Provider }>;
}
