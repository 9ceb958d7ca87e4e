// One model call: builds the request from the turn, streams the reply as events and returns one result.
import type { AgentEvent } from "../core/event.ts";
import type { Failure } from "../core/failure.ts";
import type { AssistantMessage, Content, Message } from "../core/message.ts";
import { supportsPriority } from "../core/model/priority.ts";
import { projectMessages } from "../core/model/projection.ts";
import type { ModelEvent, ModelRequest, ModelResponse, ToolSchema } from "../core/model/provider.ts";
import type { Redactor } from "../core/redactor.ts";
import { SignalRace } from "../lib/async/signal-race.ts";
import type { Turn } from "./turn-state.ts";
import { ABORTED } from "./until-aborted.ts";

const STREAM_GRACE_MS = 100;
/** A continued answer gets a larger output limit each time, up to this. */
const LARGEST_OUTPUT_TOKENS = 32_768;

export interface ModelReply {
  readonly kind: "response";
  readonly response: ModelResponse;
  readonly streamed: string;
}

export interface FailedCall {
  readonly kind: "failed";
  readonly failure: Failure;
  readonly partial: AssistantMessage | undefined;
  readonly streamed: string;
}

export type CallResult = ModelReply | FailedCall | { readonly kind: "interrupted"; readonly streamed: string };

function appendText(content: Content, text: string): Content {
  if (content === null) return text;
  if (typeof content === "string") return `${content}\n\n${text}`;
  return [...content, { type: "text", text }];
}

function requestMessages(turn: Turn, extra: readonly Message[]): Message[] {
  const messages = [...turn.state.log.messages, ...extra];
  if (turn.transientContext !== "") {
    const index = messages.lastIndexOf(turn.userMessage);
    const message = messages[index];
    if (message?.role === "user")
      messages[index] = { role: "user", content: appendText(message.content, turn.transientContext) };
  }
  return projectMessages([...(turn.state.settings.prefill ?? []), ...messages]);
}

function outputLimit(turn: Turn): number | undefined {
  const configured = turn.state.settings.maxOutputTokens;
  if (configured === undefined || turn.state.settings.continueCutAnswers === false) return configured;
  return Math.max(configured, Math.min(configured * (turn.replies.continuations + 1), LARGEST_OUTPUT_TOKENS));
}

/** `extra` messages follow the log; by default those of a retry. */
export function buildRequest(
  turn: Turn,
  purpose: string,
  { tools, extra }: { readonly tools?: readonly ToolSchema[]; readonly extra?: readonly Message[] } = {},
): ModelRequest {
  const { log, settings, provider } = turn.state;
  return {
    system: settings.persona ? `${log.system}\n\n${settings.persona}` : log.system,
    messages: requestMessages(turn, extra ?? turn.retryMessages),
    tools: tools ?? turn.state.tools.schemas,
    conversationId: log.conversationId,
    sessionId: log.sessionId,
    purpose,
    maxOutputTokens: outputLimit(turn),
    temperature: settings.temperature,
    answer: purpose === "turn" ? settings.answer : undefined,
    reasoningEffort: settings.reasoningEffort,
    jobId: settings.jobId,
    extraBody: settings.priority && supportsPriority(provider.identity) ? { service_tier: "priority" } : undefined,
  };
}

type DeltaKind = "text" | "reasoning";

/** Redacts the streamed text, emits it as delta events, and keeps it in case that the stream does not complete. */
class DeltaStream {
  readonly #emit: (event: AgentEvent) => void;
  readonly #redactor: Redactor | undefined;
  readonly #deltaMs: number;
  #redacted: { text: ReturnType<Redactor["stream"]>; reasoning: ReturnType<Redactor["stream"]> } | undefined;
  /** Pieces that are emitted together when `deltaMs` has passed. */
  #waiting: { kind: DeltaKind; text: string } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #emittedAt = Number.NEGATIVE_INFINITY;
  readonly #draft: Turn["draft"];
  /** Text of the same answer from earlier calls. */
  readonly #before: string;
  #streamed = "";

  constructor(turn: Turn) {
    this.#redactor = turn.state.redactor;
    this.#emit = turn.emit;
    this.#draft = turn.draft;
    this.#before = turn.replies.pieces;
    this.#deltaMs = turn.deltaMs;
    this.#resetRedaction();
  }

  #resetRedaction(): void {
    const redactor = this.#redactor;
    this.#redacted = redactor === undefined ? undefined : { text: redactor.stream(), reasoning: redactor.stream() };
  }

  push(kind: DeltaKind, chunk: string): void {
    if (this.#waiting !== undefined && this.#waiting.kind !== kind) this.#flush();
    const text = (this.#waiting?.text ?? "") + chunk;
    this.#waiting = { kind, text };
    const rest = this.#deltaMs === 0 ? 0 : this.#emittedAt + this.#deltaMs - performance.now();
    if (rest <= 0) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), rest);
  }

  #flush(): void {
    this.close();
    if (this.#waiting === undefined) return;
    const { kind, text } = this.#waiting;
    this.#waiting = undefined;
    if (this.#deltaMs > 0) this.#emittedAt = performance.now();
    this.#emitDelta(kind, this.#redacted === undefined ? text : this.#redacted[kind].push(text));
  }

  #emitDelta(kind: DeltaKind, text: string): void {
    if (text === "") return;
    if (kind === "text") {
      this.#streamed += text;
      this.#draft?.update(this.#before + this.#streamed);
    }
    this.#emit({ type: "delta", kind, text });
  }

  restart(): void {
    this.#streamed = "";
    this.#draft?.clear();
    this.#waiting = undefined;
    this.close();
    this.#resetRedaction();
    this.#emit({ type: "restarted" });
  }

  /** Stops the timer. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Emits what is held back and returns all text so far, redacted. */
  end(): string {
    this.#flush();
    if (this.#redacted !== undefined) {
      this.#emitDelta("reasoning", this.#redacted.reasoning.end());
      this.#emitDelta("text", this.#redacted.text.end());
      this.#resetRedaction();
    }
    return this.#streamed;
  }
}

const NO_RESULT: Failure = { kind: "unknown", message: "The model's answer ended without a result." };

/** Never throws for provider errors; returns soon after the signal fires, even when the provider ignores it. */
export async function callModel(turn: Turn, request: ModelRequest): Promise<CallResult> {
  const { signal } = turn;
  const deltas = new DeltaStream(turn);
  const stream = turn.state.provider.stream(request, signal)[Symbol.asyncIterator]();
  const race = new SignalRace(signal, ABORTED, STREAM_GRACE_MS);
  try {
    for (;;) {
      const next = await race.run(stream.next());
      if (next === ABORTED) return { kind: "interrupted", streamed: deltas.end() };
      if (next.done === true) return { kind: "failed", failure: NO_RESULT, partial: undefined, streamed: deltas.end() };
      const result = handle(next.value, deltas, turn);
      if (result === undefined) continue;
      const interrupted = signal.aborted && result.kind === "failed";
      return interrupted ? { kind: "interrupted", streamed: deltas.end() } : result;
    }
  } finally {
    race.close();
    deltas.close();
    // Tells a provider that is still streaming to stop, without waiting for it.
    void stream.return?.().catch(() => undefined);
  }
}

/** The result when the event ends the call. */
function handle(event: ModelEvent, deltas: DeltaStream, turn: Turn): CallResult | undefined {
  switch (event.type) {
    case "text":
    case "reasoning":
      deltas.push(event.type, event.text);
      return undefined;
    case "restarted":
      deltas.restart();
      return undefined;
    case "retrying":
    case "fallback":
      turn.emit(event);
      return undefined;
    case "tool_call_started":
      return undefined;
    case "done":
      return { kind: "response", response: event.response, streamed: deltas.end() };
    case "failed":
      return { kind: "failed", failure: event.failure, partial: event.partial, streamed: deltas.end() };
  }
}
