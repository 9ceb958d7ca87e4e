// One model call: the request is built from the state as it is now, the stream becomes events and one outcome.
import type { AgentEvent } from "../core/event.ts";
import type { Failure } from "../core/failure.ts";
import type { AssistantMessage } from "../core/message.ts";
import type { ModelEvent, ModelRequest, ModelResponse } from "../core/provider.ts";
import type { Redactor } from "../core/redactor.ts";
import type { ConversationParts } from "./parts.ts";
import { ABORTED, untilAborted } from "./until-aborted.ts";

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

/** Text on its way to the screen: masked, and gathered for the case that the stream never ends well. */
class Screen {
  readonly #emit: (event: AgentEvent) => void;
  readonly #redactor: Redactor | undefined;
  #masks: { text: ReturnType<Redactor["stream"]>; reasoning: ReturnType<Redactor["stream"]> } | undefined;
  streamed = "";

  constructor(redactor: Redactor | undefined, emit: (event: AgentEvent) => void) {
    this.#redactor = redactor;
    this.#emit = emit;
    this.#renew();
  }

  #renew(): void {
    const redactor = this.#redactor;
    this.#masks = redactor === undefined ? undefined : { text: redactor.stream(), reasoning: redactor.stream() };
  }

  show(kind: "text" | "reasoning", chunk: string): void {
    this.#put(kind, this.#masks === undefined ? chunk : this.#masks[kind].push(chunk));
  }

  #put(kind: "text" | "reasoning", text: string): void {
    if (text === "") return;
    if (kind === "text") this.streamed += text;
    this.#emit({ type: "delta", kind, text });
  }

  startOver(): void {
    this.streamed = "";
    this.#renew();
    this.#emit({ type: "restarted" });
  }

  flush(): void {
    if (this.#masks === undefined) return;
    this.#put("reasoning", this.#masks.reasoning.end());
    this.#put("text", this.#masks.text.end());
    this.#renew();
  }
}

function lost(): Failure {
  return { kind: "unknown", message: "The model's answer ended without a result." };
}

/** Never throws for provider trouble; returns as soon as the signal fires, whatever the provider does. */
export async function callModel(
  parts: ConversationParts,
  request: ModelRequest,
  options: { readonly signal: AbortSignal; emit(event: AgentEvent): void },
): Promise<CallOutcome> {
  const { signal, emit } = options;
  const screen = new Screen(parts.redactor, emit);
  const stream = parts.provider.stream(request, signal)[Symbol.asyncIterator]();
  const finish = (outcome: CallOutcome): CallOutcome => {
    // A provider that is still busy is told to stop, but nobody waits for it.
    void stream.return?.().catch(() => undefined);
    return outcome;
  };
  for (;;) {
    const step = await untilAborted(stream.next(), signal, STREAM_GRACE_MS);
    if (step === ABORTED) return finish({ kind: "interrupted", streamed: screen.streamed });
    if (step.done === true) {
      screen.flush();
      return { kind: "failed", failure: lost(), partial: undefined, streamed: screen.streamed };
    }
    const outcome = handle(step.value, screen, emit);
    if (outcome === undefined) continue;
    const interrupted = signal.aborted && outcome.kind === "failed";
    return finish(interrupted ? { kind: "interrupted", streamed: screen.streamed } : outcome);
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
      screen.flush();
      return { kind: "response", response: event.response, streamed: screen.streamed };
    case "failed":
      screen.flush();
      return { kind: "failed", failure: event.failure, partial: event.partial, streamed: screen.streamed };
  }
}
