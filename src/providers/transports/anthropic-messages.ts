// The Anthropic Messages dialect, on the official SDK.
import type Anthropic from "@anthropic-ai/sdk";
import type { Json, JsonObject } from "../../core/message.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { Answer } from "./answer.ts";
import { encodeAnthropic } from "./anthropic-encode.ts";
import { sseMessages } from "./sse.ts";
import type { Transport, TransportCall, TransportDone, TransportEvent } from "./transport.ts";
import { TransportError } from "./transport.ts";
import { anthropicUsage, estimatedUsage } from "./usage-map.ts";
import { type Arrived, readWith, Wire } from "./wire.ts";
import { isRow, rowsOf, stringOf } from "./wire-values.ts";

const FINISH: Record<string, string> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filter",
};

type AnthropicSdk = typeof Anthropic;

/** Load before the clock of a call starts: the first load takes longer than some limits. */
async function loadAnthropic(): Promise<AnthropicSdk> {
  return (await import("@anthropic-ai/sdk")).default;
}

function clientFor(Client: AnthropicSdk, call: TransportCall, wire: Wire): Anthropic {
  return new Client({
    // The wire sets the real credentials. With a key given, the SDK looks for none elsewhere.
    apiKey: "set-by-wire",
    webhookKey: null,
    baseURL: call.endpoint.baseUrl.replace(/\/+$/, "").replace(/\/v1$/, ""),
    maxRetries: 0,
    timeout: Math.min(call.timeouts.totalMs, 2_147_483_647),
    logLevel: "off",
    openTelemetry: false,
    fetch: wire.fetch,
  });
}

async function* events(
  sdk: AnthropicSdk,
  call: TransportCall,
  wire: Wire,
  stream: boolean,
): AsyncGenerator<JsonObject> {
  const client = clientFor(sdk, call, wire);
  // As text: for an object the SDK would load the platform's `fetch` to see whether it is a form.
  const body = JSON.stringify(encodeAnthropic(call, stream));
  const options = { body, headers: { "content-type": "application/json" }, signal: wire.signal, stream };
  const response = await client.post("/v1/messages", options).asResponse();
  if (!stream || wire.isJson) {
    yield* unrolled((await response.json()) as JsonObject);
    return;
  }
  for await (const { event, data } of sseMessages((response.body ?? []) as AsyncIterable<Uint8Array>)) {
    if (event === "error") throw Object.assign(new Error("error in the answer"), { error: parseJson(data) ?? data });
    if (event === "ping" || data === "") continue;
    const value = JSON.parse(data) as JsonObject;
    // Some gateways leave the names of the events out; the type is in the data too.
    if (value?.type === "error") throw Object.assign(new Error("error in the answer"), { error: value });
    yield value;
  }
}

/** An answer that was not streamed, as the events that would have brought it. */
function* unrolled(message: JsonObject): Generator<JsonObject> {
  if (message.type === "error" || !Array.isArray(message.content))
    throw Object.assign(new Error("error in the answer"), { error: message.error ?? message });
  yield { type: "message_start", message: { ...message, content: [] } };
  for (const [index, block] of rowsOf(message.content).entries()) {
    yield { type: "content_block_start", index, content_block: block };
    yield { type: "content_block_stop", index };
  }
  yield { type: "message_delta", delta: { stop_reason: message.stop_reason ?? null }, usage: message.usage ?? {} };
  yield { type: "message_stop" };
}

type OpenBlock = { [key: string]: Json | undefined };

class AnthropicReader {
  readonly answer: Answer;
  readonly #blocks = new Map<number, OpenBlock>();
  usage: JsonObject | null = null;
  stop = "";
  #stopped = false;

  constructor(call: TransportCall) {
    this.answer = new Answer(call);
  }

  get complete(): boolean {
    return this.#stopped || this.stop !== "";
  }

  /** For an exchange that ended badly. */
  arrived(): Arrived {
    return { ...this.answer.arrived(), ...(this.usage ? { usage: anthropicUsage(this.usage) } : {}) };
  }

  *read(event: JsonObject): Generator<TransportEvent> {
    const index = Number(event.index ?? 0);
    switch (event.type) {
      case "message_start":
        if (isRow(event.message)) this.#addUsage(event.message.usage);
        return;
      case "content_block_start":
        if (isRow(event.content_block)) yield* this.#start(index, event.content_block);
        return;
      case "content_block_delta":
        if (isRow(event.delta)) yield* this.#delta(index, event.delta);
        return;
      case "content_block_stop":
        this.#finish(index);
        return;
      case "message_delta":
        this.#addUsage(event.usage);
        if (isRow(event.delta)) this.stop = stringOf(event.delta.stop_reason) || this.stop;
        return;
      case "message_stop":
        this.#stopped = true;
        return;
      default:
        return;
    }
  }

  /** The end of a stream repeats only some of the numbers: later ones win, missing ones stay. */
  #addUsage(usage: Json | undefined): void {
    if (!isRow(usage)) return;
    const merged: { [key: string]: Json | undefined } = { ...this.usage };
    for (const [key, value] of Object.entries(usage)) if (value !== null && value !== undefined) merged[key] = value;
    this.usage = merged;
  }

  *#start(index: number, block: JsonObject): Generator<TransportEvent> {
    this.#blocks.set(index, { ...block });
    if (block.type === "text") yield* this.answer.addText(stringOf(block.text));
    else if (block.type === "thinking") yield* this.answer.addReasoning(stringOf(block.thinking));
    else if (block.type === "tool_use") {
      const input = isRow(block.input) && Object.keys(block.input).length > 0 ? JSON.stringify(block.input) : "";
      yield* this.answer.addCall(index, { id: stringOf(block.id), name: stringOf(block.name), args: input });
    }
  }

  *#delta(index: number, delta: JsonObject): Generator<TransportEvent> {
    const block = this.#blocks.get(index);
    if (delta.type === "text_delta") yield* this.answer.addText(stringOf(delta.text));
    else if (delta.type === "thinking_delta") {
      if (block) block.thinking = stringOf(block.thinking) + stringOf(delta.thinking);
      yield* this.answer.addReasoning(stringOf(delta.thinking));
    } else if (delta.type === "signature_delta") {
      if (block) block.signature = stringOf(block.signature) + stringOf(delta.signature);
    } else if (delta.type === "input_json_delta")
      yield* this.answer.addCall(index, { args: stringOf(delta.partial_json) });
  }

  /** Thinking blocks are kept as they came: their signature covers them. */
  #finish(index: number): void {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    if (block?.type === "thinking" || block?.type === "redacted_thinking") this.answer.details.push(block);
  }

  finishReason(): string {
    if (this.answer.truncated) return "length";
    const mapped = FINISH[this.stop] ?? "stop";
    return this.answer.hasCalls && mapped === "stop" ? "tool_calls" : mapped;
  }
}

function done(reader: AnthropicReader, call: TransportCall, wire: Wire): TransportDone {
  const finishReason = reader.finishReason();
  const message = reader.answer.message(finishReason);
  const usage = reader.usage ? anthropicUsage(reader.usage) : null;
  return {
    type: "done",
    message,
    finishReason,
    usage: usage ?? estimatedUsage(call.request, message),
    usageEstimated: usage === null,
    rateLimits: wire.rateLimits(),
  };
}

/** The transport; it holds no state. */
export function anthropicMessages(): Transport {
  const streams = (call: TransportCall) => !call.quirks.noStream;
  return {
    name: "anthropic_messages",
    encode: (call) => encodeAnthropic(call, streams(call)),
    async *stream(call) {
      const sdk = await loadAnthropic();
      const wire = new Wire(call, "x-api-key", streams(call));
      const reader = new AnthropicReader(call);
      try {
        yield* readWith(reader, events(sdk, call, wire, streams(call)), wire);
        if (!reader.complete)
          throw new TransportError("the answer ended without its end", {
            kind: reader.answer.isEmpty && reader.usage === null ? "malformed" : "cut",
          });
        yield done(reader, call, wire);
      } catch (error) {
        throw wire.failure(error, reader.arrived());
      } finally {
        wire.close();
      }
    },
  };
}
