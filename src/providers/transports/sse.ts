// Server-sent events, read piece by piece as they come from the socket.

export interface SseMessage {
  /** The event's name; empty where the server gives none. */
  readonly event: string;
  readonly data: string;
}

/** Takes bytes, gives the messages that are complete. What has no end yet waits; without one it never counts. */
export class SseReader {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #event = "";
  #data: string[] = [];

  read(bytes: Uint8Array): SseMessage[] {
    const lines = this.#lines(this.#decoder.decode(bytes, { stream: true }));
    const messages: SseMessage[] = [];
    for (const line of lines) {
      if (line !== "") this.#field(line);
      else if (this.#event !== "" || this.#data.length > 0) messages.push(this.#take());
    }
    return messages;
  }

  /** Whole lines. A carriage return at the very end may be half of a line break. */
  #lines(text: string): string[] {
    const all = this.#rest + text;
    const open = all.endsWith("\r") ? "\r" : "";
    const body = open === "" ? all : all.slice(0, -1);
    const lines = (body.includes("\r") ? body.replace(/\r\n?/g, "\n") : body).split("\n");
    this.#rest = `${lines.pop() ?? ""}${open}`;
    return lines;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
  }

  #take(): SseMessage {
    const message = { event: this.#event, data: this.#data.join("\n") };
    this.#event = "";
    this.#data = [];
    return message;
  }
}
