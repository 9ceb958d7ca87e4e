// Server-sent events, read piece by piece as they come from the socket.

import { parseJson } from "../../lib/json/parse-json.ts";

export interface SseMessage {
  /** The event's name; empty where the server gives none. */
  readonly event: string;
  readonly data: string;
}

/** Characters that one message may have. A server that sends more is not sending an answer. */
const MAX_MESSAGE = 64 * 1024 * 1024;

/** Takes bytes, gives the messages that are complete. What has no end yet waits until `end`. */
export class SseReader {
  readonly #decoder = new TextDecoder();
  /** Pieces of the line that has no end yet. They are joined once: a long line comes in many pieces. */
  #line: string[] = [];
  #size = 0;
  /** The last piece ended with a carriage return: a line feed at the start of the next belongs to it. */
  #afterReturn = false;
  #event = "";
  #data: string[] = [];

  read(bytes: Uint8Array): SseMessage[] {
    return this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The body has ended: a last message without its blank line counts too. */
  end(): SseMessage[] {
    return this.#take(`${this.#decoder.decode()}\n\n`);
  }

  #take(given: string): SseMessage[] {
    if (given === "") return [];
    const text = this.#afterReturn && given.startsWith("\n") ? given.slice(1) : given;
    this.#afterReturn = given.endsWith("\r");
    this.#size += text.length;
    if (this.#size > MAX_MESSAGE) throw new SyntaxError("a message of the stream is too long");
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
    // Comments keep a connection alive for as long as the server likes.
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

/** A connection that ended within a message leaves half of its JSON: that is a cut, not an answer that cannot be read. */
function isWhole({ data }: SseMessage): boolean {
  return data.startsWith("[DONE]") || parseJson(data) !== undefined;
}

/** The messages of a body. What is left when it ends counts as a message too, if it is whole. */
export async function* sseMessages(body: AsyncIterable<Uint8Array>): AsyncGenerator<SseMessage> {
  const reader = new SseReader();
  for await (const bytes of body) yield* reader.read(bytes);
  yield* reader.end().filter(isWhole);
}
