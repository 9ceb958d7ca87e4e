// The chat-completions dialect, on the official SDK.
import type { Json, JsonObject } from "../../core/message.ts";
import { Answer } from "./answer.ts";
import { encodeChat } from "./chat-encode.ts";
import { loadOpenAi, streamBody } from "./openai-client.ts";
import type { Transport, TransportCall, TransportDone, TransportEvent } from "./transport.ts";
import { TransportError } from "./transport.ts";
import { chatUsage, estimatedUsage } from "./usage-map.ts";
import { type Arrived, readWith, Wire } from "./wire.ts";
import { isRow, rowsOf, stringOf } from "./wire-values.ts";

const FINISH: Record<string, string> = {
  stop: "stop",
  eos: "stop",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  length: "length",
  max_tokens: "length",
  content_filter: "content_filter",
};

/** Opaque reasoning arrives in pieces that belong together by index and kind. */
function mergeDetails(details: Json[], pieces: readonly JsonObject[]): void {
  for (const piece of pieces) {
    const last = details.at(-1);
    const same = isRow(last) && last.type === piece.type && last.index === piece.index;
    if (!same || !isRow(last)) {
      details.push(piece);
      continue;
    }
    const merged: { [key: string]: Json | undefined } = { ...last };
    for (const [key, value] of Object.entries(piece)) {
      if (value === null || value === undefined) continue;
      const grows = (key === "text" || key === "summary" || key === "data") && typeof merged[key] === "string";
      merged[key] = grows ? `${String(merged[key])}${String(value)}` : value;
    }
    details[details.length - 1] = merged;
  }
}

/** Reads chunks (or the message of an answer that was not streamed, which has the same fields). */
class ChatReader {
  readonly answer: Answer;
  finish = "";
  usage: JsonObject | null = null;
  /** The answer came as one JSON value: it has no end of its own. */
  inOnePiece = false;

  constructor(call: TransportCall) {
    this.answer = new Answer(call);
  }

  /** `finish_reason` is the end of an answer: `[DONE]` may be missing, and the use may be told with every chunk. */
  get complete(): boolean {
    return this.finish !== "" || (this.inOnePiece && (this.usage !== null || !this.answer.isEmpty));
  }

  /** For an exchange that ended badly. */
  arrived(): Arrived {
    return { ...this.answer.arrived(), ...(this.usage ? { usage: chatUsage(this.usage) } : {}) };
  }

  *read(chunk: JsonObject): Generator<TransportEvent> {
    if (isRow(chunk.usage)) this.usage = chunk.usage;
    const choice = rowsOf(chunk.choices)[0];
    if (!choice) return;
    // Some servers repeat usage inside the choice instead of the chunk.
    if (isRow(choice.usage)) this.usage ??= choice.usage;
    const delta = isRow(choice.delta) ? choice.delta : isRow(choice.message) ? choice.message : {};
    yield* this.#reasoning(delta);
    if (typeof delta.content === "string") yield* this.answer.addText(delta.content);
    else for (const part of rowsOf(delta.content)) yield* this.answer.addText(stringOf(part.text));
    if (typeof delta.refusal === "string") yield* this.answer.addText(delta.refusal);
    for (const [position, piece] of rowsOf(delta.tool_calls).entries()) yield* this.#toolCall(piece, position);
    if (typeof choice.finish_reason === "string") this.finish = choice.finish_reason;
  }

  *#reasoning(delta: JsonObject): Generator<TransportEvent> {
    const own = stringOf(delta.reasoning_content);
    if (own !== "") this.answer.ownReasoningField = true;
    const details = rowsOf(delta.reasoning_details);
    mergeDetails(this.answer.details, details);
    const text = own || stringOf(delta.reasoning);
    if (text !== "") yield* this.answer.addReasoning(text);
    else for (const item of details) yield* this.answer.addReasoning(stringOf(item.text) || stringOf(item.summary));
  }

  *#toolCall(piece: JsonObject, position: number): Generator<TransportEvent> {
    const fn = isRow(piece.function) ? piece.function : {};
    const key = typeof piece.index === "number" ? piece.index : position;
    const args = fn.arguments;
    yield* this.answer.addCall(key, {
      id: stringOf(piece.id),
      name: stringOf(fn.name),
      // A few servers send arguments as an object.
      args: isRow(args) ? JSON.stringify(args) : stringOf(args),
    });
    if (isRow(piece.extra_content)) this.answer.setExtra(key, piece.extra_content);
  }

  finishReason(): string {
    const mapped = FINISH[this.finish] ?? "stop";
    if (this.answer.truncated) return "length";
    return this.answer.hasCalls && mapped === "stop" ? "tool_calls" : mapped;
  }
}

function done(reader: ChatReader, call: TransportCall, wire: Wire): TransportDone {
  const finishReason = reader.finishReason();
  const message = reader.answer.message(finishReason);
  const cost = reader.usage?.cost;
  return {
    type: "done",
    message,
    finishReason,
    usage: reader.usage ? chatUsage(reader.usage) : estimatedUsage(call.request, message),
    usageEstimated: reader.usage === null,
    ...(typeof cost === "number" ? { reportedCostUsd: cost } : {}),
    rateLimits: wire.rateLimits(),
  };
}

async function* exchange(call: TransportCall, stream: boolean): AsyncGenerator<TransportEvent> {
  const client = await loadOpenAi();
  const wire = new Wire(call, "bearer", stream);
  const reader = new ChatReader(call);
  try {
    const body = encodeChat(call, stream);
    const chunks = streamBody(client, { call, path: "/chat/completions", body, stream }, wire);
    yield* readWith(reader, chunks, wire);
    reader.inOnePiece = !stream || wire.isJson;
    if (!reader.complete)
      throw new TransportError("the answer ended without its end", {
        kind: reader.answer.isEmpty ? "malformed" : "cut",
      });
    yield done(reader, call, wire);
  } catch (error) {
    throw wire.failure(error, reader.arrived());
  } finally {
    wire.close();
  }
}

function refusesStreaming(error: unknown): boolean {
  return (
    error instanceof TransportError &&
    error.kind === "http" &&
    /stream\w*[^.]{0,60}(not (supported|allowed|available)|unsupported)|(unsupported|does not support)[^.]{0,40}stream/i.test(
      error.body ?? "",
    )
  );
}

/** A transport that remembers which hosts cannot stream. */
export function chatCompletions(): Transport {
  const plainHosts = new Set<string>();
  const streams = (call: TransportCall) => !call.quirks.noStream && !plainHosts.has(call.endpoint.baseUrl);
  return {
    name: "chat_completions",
    encode: (call) => encodeChat(call, streams(call)),
    async *stream(call) {
      if (!streams(call)) return yield* exchange(call, false);
      try {
        yield* exchange(call, true);
      } catch (error) {
        if (!refusesStreaming(error)) throw error;
        plainHosts.add(call.endpoint.baseUrl);
        yield* exchange(call, false);
      }
    },
  };
}
