// One model call: the request is built from the state as it is now, the stream becomes events and one outcome.
import type { AgentEvent } from "../core/event.ts";
import type { Failure } from "../core/failure.ts";
import type { AssistantMessage } from "../core/message.ts";
import type { ModelEvent, ModelRequest, ModelResponse } from "../core/provider.ts";
import type { Redactor } from "../core/redactor.ts";
import { SignalRace } from "../lib/async/signal-race.ts";
import type { ConversationParts } from "./parts.ts";
import { ABORTED } from "./until-aborted.ts";

const STREAM_GRACE_MS = 100;

export type CallOutcome =
  | { readonly kind: "response"; readonly response: ModelResponse; readonly streamed: string }
  | {
      readonly kind: "failed";
      readonly failure: Failure;
      readonly partial: AssistantMessage | undefined;
      readonly streamed: string;
    }
  | { readonly kind: "interrupted"; readonly streamed: string };

type DeltaKind = "text" | "reasoning";

/** Text on its way to the screen: masked, and gathered for the case that the stream never ends well. */
class Screen {
  readonly #emit: (event: AgentEvent) => void;
  readonly #redactor: Redactor | undefined;
  readonly #deltaMs: number;
  #masks: { text: ReturnType<Redactor["stream"]>; reasoning: ReturnType<Redactor["stream"]> } | undefined;
  /** Pieces that wait until it is time to show some. */
  #waiting: { kind: DeltaKind; text: string } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #shownAt = Number.NEGATIVE_INFINITY;
  #streamed = "";

  constructor(redactor: Redactor | undefined, emit: (event: AgentEvent) => void, deltaMs: number) {
    this.#redactor = redactor;
    this.#emit = emit;
    this.#deltaMs = deltaMs;
    this.#renew();
  }

  #renew(): void {
    const redactor = this.#redactor;
    this.#masks = redactor === undefined ? undefined : { text: redactor.stream(), reasoning: redactor.stream() };
  }

  show(kind: DeltaKind, chunk: string): void {
    if (this.#waiting !== undefined && this.#waiting.kind !== kind) this.#showWaiting();
    const text = (this.#waiting?.text ?? "") + chunk;
    this.#waiting = { kind, text };
    const rest = this.#deltaMs === 0 ? 0 : this.#shownAt + this.#deltaMs - performance.now();
    if (rest <= 0) this.#showWaiting();
    else this.#timer ??= setTimeout(() => this.#showWaiting(), rest);
  }

  #showWaiting(): void {
    this.close();
    if (this.#waiting === undefined) return;
    const { kind, text } = this.#waiting;
    this.#waiting = undefined;
    if (this.#deltaMs > 0) this.#shownAt = performance.now();
    this.#put(kind, this.#masks === undefined ? text : this.#masks[kind].push(text));
  }

  #put(kind: DeltaKind, text: string): void {
    if (text === "") return;
    if (kind === "text") this.#streamed += text;
    this.#emit({ type: "delta", kind, text });
  }

  startOver(): void {
    this.#streamed = "";
    this.#waiting = undefined;
    this.close();
    this.#renew();
    this.#emit({ type: "restarted" });
  }

  /** Nothing is shown any more by itself. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** All that came, masked; what was held back is shown first. */
  gathered(): string {
    this.#showWaiting();
    if (this.#masks !== undefined) {
      this.#put("reasoning", this.#masks.reasoning.end());
      this.#put("text", this.#masks.text.end());
      this.#renew();
    }
    return this.#streamed;
  }
}

function lost(): Failure {
  return { kind: "unknown", message: "The model's answer ended without a result." };
}

/** Never throws for provider trouble; returns as soon as the signal fires, whatever the provider does. */
export async function callModel(
  parts: ConversationParts,
  request: ModelRequest,
  options: { readonly signal: AbortSignal; readonly deltaMs?: number | undefined; emit(event: AgentEvent): void },
): Promise<CallOutcome> {
  const { signal, emit } = options;
  const screen = new Screen(parts.redactor, emit, options.deltaMs ?? 0);
  const stream = parts.provider.stream(request, signal)[Symbol.asyncIterator]();
  const race = new SignalRace(signal, ABORTED, STREAM_GRACE_MS);
  try {
    for (;;) {
      const step = await race.run(stream.next());
      if (step === ABORTED) return { kind: "interrupted", streamed: screen.gathered() };
      if (step.done === true)
        return { kind: "failed", failure: lost(), partial: undefined, streamed: screen.gathered() };
      const outcome = handle(step.value, screen, emit);
      if (outcome === undefined) continue;
      const interrupted = signal.aborted && outcome.kind === "failed";
      return interrupted ? { kind: "interrupted", streamed: screen.gathered() } : outcome;
    }
  } finally {
    race.close();
    screen.close();
    // A provider that is still busy is told to stop, but nobody waits for it.
    void stream.return?.().catch(() => undefined);
  }
}

function handle(event: ModelEvent, screen: Screen, emit: (event: AgentEvent) => void): CallOutcome | undefined {
  switch (event.type) {
    case "text":
    case "reasoning":
      screen.show(event.type, event.text);
      return undefined;
    case "restarted":
      screen.startOver();
      return undefined;
    case "retrying":
    case "fallback":
      emit(event);
      return undefined;
    case "tool_call_started":
      return undefined;
    case "done":
      return { kind: "response", response: event.response, streamed: screen.gathered() };
    case "failed":
      return { kind: "failed", failure: event.failure, partial: event.partial, streamed: screen.gathered() };
  }
}
