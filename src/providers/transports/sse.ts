// Parses server-sent events from the pieces of a body.
import { parseJson } from "../../lib/json/parse-json.ts";
import type { WireEvent } from "./dialect.ts";

export interface SseMessage {
  /** The name of the event; empty where the server sends none. */
  readonly event: string;
  readonly data: string;
}

/** Characters that one message may have, so that a hostile server cannot fill the memory. */
const MAX_MESSAGE = 64 * 1024 * 1024;

/** Thrown when a message is longer than the limit. */
export class SseTooLongError extends Error {
  constructor() {
    super("a message of the stream is too long");
    this.name = "SseTooLongError";
  }
}

/** Takes bytes and returns the messages that are complete. */
export class SseReader {
  readonly #decoder = new TextDecoder();
  /** Pieces of the current line. They are joined once, because a long line may arrive in many pieces. */
  #line: string[] = [];
  #size = 0;
  /** The last piece ended with a carriage return: a line feed at the start of the next belongs to it. */
  #afterReturn = false;
  #event = "";
  #data: string[] = [];

  read(bytes: Uint8Array): SseMessage[] {
    return this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The body has ended: returns the last message if its blank line is missing. */
  end(): SseMessage[] {
    return this.#take(`${this.#decoder.decode()}\n\n`);
  }

  #take(given: string): SseMessage[] {
    if (given === "") return [];
    const text = this.#afterReturn && given.startsWith("\n") ? given.slice(1) : given;
    this.#afterReturn = given.endsWith("\r");
    this.#size += text.length;
    if (this.#size > MAX_MESSAGE) throw new SseTooLongError();
    const lines = (text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text).split("\n");
    const open = lines.pop() ?? "";
    const messages: SseMessage[] = [];
    for (const rest of lines) {
      const line = this.#line.length === 0 ? rest : this.#line.join("") + rest;
      this.#line = [];
      if (line !== "") this.#field(line);
      else if (this.#event !== "" || this.#data.length > 0) messages.push(this.#message());
    }
    if (open !== "") this.#line.push(open);
    return messages;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
    // Comments keep a connection alive: their number has no limit.
    else if (this.#data.length === 0) this.#size = 0;
  }

  #message(): SseMessage {
    const message = { event: this.#event, data: this.#data.join("\n") };
    this.#event = "";
    this.#data = [];
    this.#size = 0;
    return message;
  }
}

/** A connection that ended inside a message leaves incomplete JSON: this counts as a cut, not as a malformed answer. */
function isWhole({ data }: SseMessage): boolean {
  return data.startsWith("[DONE]") || parseJson(data) !== undefined;
}

async function* sseMessages(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<SseMessage> {
  const reader = new SseReader();
  for await (const bytes of body) yield* reader.read(bytes);
  yield* reader.end().filter(isWhole);
}

/**
 * The events of a model's answer, without keep-alives. Nothing is yielded after `[DONE]`, but the body is read to its
 * end: only then can the connection be used for the next request. An incomplete message at the end is dropped.
 */
export async function* sseEvents(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<WireEvent> {
  let done = false;
  for await (const { event, data } of sseMessages(body)) {
    done ||= data.startsWith("[DONE]");
    if (!done && data !== "" && event !== "ping") yield { event, data, whole: false };
  }
}
