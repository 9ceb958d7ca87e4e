// A transport call with default values, and a collector of its events.
import type { ModelRequest } from "../../src/core/model/provider.ts";
import type { ProviderQuirks } from "../../src/providers/quirks.ts";
import type {
  Transport,
  TransportCall,
  TransportDone,
  TransportEvent,
} from "../../src/providers/transports/transport.ts";

export interface CallOverrides extends Omit<Partial<TransportCall>, "request" | "quirks"> {
  readonly request?: Partial<ModelRequest>;
  readonly quirks?: ProviderQuirks;
  readonly baseUrl?: string;
}

/** A call to `baseUrl` with a key, a system prompt and one user message by default. */
export function transportCall(overrides: CallOverrides = {}): TransportCall {
  const { request, baseUrl, ...rest } = overrides;
  return {
    endpoint: { baseUrl: baseUrl ?? "http://127.0.0.1:9/v1", apiKey: "test-key", headers: {} },
    model: "fake-model",
    quirks: {},
    signal: new AbortController().signal,
    timeouts: { firstTokenMs: 10_000, idleMs: 10_000, totalMs: 20_000 },
    ...rest,
    request: {
      system: "You are a test.",
      messages: [{ role: "user", content: "Hello" }],
      tools: [],
      conversationId: "conv-1",
      purpose: "turn",
      ...request,
    },
  };
}

export interface Gathered {
  readonly events: readonly TransportEvent[];
  readonly text: string;
  readonly reasoning: string;
  readonly started: readonly string[];
  readonly done: TransportDone;
}

/** Runs the call to its end. Rejects with the TransportError when it fails, or when there is no `done`. */
export async function gather(transport: Transport, call: TransportCall): Promise<Gathered> {
  const events: TransportEvent[] = [];
  for await (const event of transport.stream(call)) events.push(event);
  const done = events.at(-1);
  if (done?.type !== "done") throw new Error("the stream ended without done");
  const join = (type: "text" | "reasoning") => events.map((event) => (event.type === type ? event.text : "")).join("");
  return {
    events,
    text: join("text"),
    reasoning: join("reasoning"),
    started: events.flatMap((event) => (event.type === "tool_call_started" ? [event.name] : [])),
    done,
  };
}
