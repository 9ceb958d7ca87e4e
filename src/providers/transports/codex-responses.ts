// The Responses dialect, on the official SDK.
import type { AssistantMessage, Json, JsonObject } from "../../core/message.ts";
import { Answer } from "./answer.ts";
import { loadOpenAi, streamBody } from "./openai-client.ts";
import { encodeResponses } from "./responses-encode.ts";
import type { Transport, TransportCall, TransportDone, TransportEvent } from "./transport.ts";
import { TransportError } from "./transport.ts";
import { estimatedUsage, responsesUsage } from "./usage-map.ts";
import { readWith, Wire } from "./wire.ts";
import { isRow, rowsOf, stringOf } from "./wire-values.ts";

class ResponsesReader {
  readonly answer: Answer;
  /** Finished items in order, for answers whose closing event is empty and for replay. */
  readonly #items: JsonObject[] = [];
  readonly #streamed = new Set<string>();
  final: JsonObject | null = null;

  constructor(call: TransportCall) {
    this.answer = new Answer(call);
  }

  get complete(): boolean {
    return this.final !== null;
  }

  *read(event: JsonObject): Generator<TransportEvent> {
    // An answer that was not streamed is the response itself.
    if (event.object === "response") return yield* this.#close(event);
    const key = this.#key(event);
    switch (event.type) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        this.#streamed.add(`text:${key}`);
        yield* this.answer.addText(stringOf(event.delta));
        return;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        this.#streamed.add(`reasoning:${key}`);
        yield* this.answer.addReasoning(stringOf(event.delta));
        return;
      case "response.output_item.added":
        if (isRow(event.item) && event.item.type === "function_call") yield* this.#call(key, event.item, "");
        return;
      case "response.function_call_arguments.delta":
        yield* this.answer.addCall(key, { args: stringOf(event.delta) });
        return;
      case "response.output_item.done":
        if (isRow(event.item)) yield* this.#item(key, event.item);
        return;
      case "response.completed":
      case "response.incomplete":
      case "response.done":
        if (isRow(event.response)) yield* this.#close(event.response);
        return;
      case "response.failed":
      case "error":
        throw failed(event);
      default:
        return;
    }
  }

  #key(event: JsonObject): string {
    return String(event.output_index ?? 0);
  }

  *#call(key: string, item: JsonObject, args: string): Generator<TransportEvent> {
    yield* this.answer.addCall(key, { id: stringOf(item.call_id), name: stringOf(item.name), args });
  }

  /** A finished item: its parts that were not streamed come now, its arguments are settled. */
  *#item(key: string, item: JsonObject): Generator<TransportEvent> {
    this.#items.push(item);
    if (item.type === "function_call") {
      yield* this.#call(key, item, "");
      this.answer.settleCall(key, stringOf(item.arguments));
    } else if (item.type === "message" && !this.#streamed.has(`text:${key}`)) {
      for (const part of rowsOf(item.content))
        yield* this.answer.addText(stringOf(part.text) || stringOf(part.refusal));
    } else if (item.type === "reasoning" && !this.#streamed.has(`reasoning:${key}`)) {
      const parts = [...rowsOf(item.summary), ...rowsOf(item.content)];
      yield* this.answer.addReasoning(parts.map((part) => stringOf(part.text)).join("\n\n"));
    }
  }

  *#close(response: JsonObject): Generator<TransportEvent> {
    if (response.status === "failed") throw failed({ response });
    this.final = response;
    const output = rowsOf(response.output);
    // The closing event repeats the items; only a server that sent none before is read from it.
    if (this.#items.length === 0) for (const [index, item] of output.entries()) yield* this.#item(String(index), item);
  }

  finishReason(): string {
    const details = this.final?.incomplete_details;
    const why = isRow(details) ? details.reason : undefined;
    if (why === "content_filter") return "content_filter";
    if (this.answer.truncated || this.final?.status === "incomplete") return "length";
    return this.answer.hasCalls ? "tool_calls" : "stop";
  }

  /** Items that must go back in the next request. */
  kept(): Partial<AssistantMessage> {
    const of = (type: string): Json[] => this.#items.filter((item) => item.type === type);
    const reasoning = of("reasoning").filter((item) => isRow(item) && typeof item.encrypted_content === "string");
    const messages = of("message");
    return {
      ...(reasoning.length > 0 ? { codex_reasoning_items: reasoning } : {}),
      ...(messages.length > 0 ? { codex_message_items: messages } : {}),
    };
  }
}

function failed(event: JsonObject): Error {
  const response = isRow(event.response) ? event.response : {};
  const error = response.error ?? event.error ?? { message: event.message, code: event.code };
  return Object.assign(new Error("error in the answer"), { error });
}

function done(reader: ResponsesReader, call: TransportCall, wire: Wire): TransportDone {
  const finishReason = reader.finishReason();
  const message = reader.answer.message(finishReason, reader.kept());
  const reported = reader.final?.usage;
  return {
    type: "done",
    message,
    finishReason,
    usage: isRow(reported) ? responsesUsage(reported) : estimatedUsage(call.request, message),
    usageEstimated: !isRow(reported),
    rateLimits: wire.rateLimits(),
  };
}

/** The transport; it holds no state. */
export function codexResponses(): Transport {
  const streams = (call: TransportCall) => !call.quirks.noStream;
  return {
    name: "codex_responses",
    encode: (call) => encodeResponses(call, streams(call)),
    async *stream(call) {
      const stream = streams(call);
      const client = await loadOpenAi();
      const wire = new Wire(call, "bearer", stream);
      const reader = new ResponsesReader(call);
      try {
        const post = { call, path: "/responses", body: encodeResponses(call, stream), stream };
        yield* readWith(reader, streamBody(client, post, wire), wire);
        if (!reader.complete)
          throw new TransportError("the answer ended without its end", {
            kind: reader.answer.isEmpty ? "malformed" : "cut",
          });
        yield done(reader, call, wire);
      } catch (error) {
        throw wire.failure(error, reader.answer.arrived());
      } finally {
        wire.close();
      }
    },
  };
}
