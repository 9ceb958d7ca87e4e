// Reads lines from a pipe, a file, or a terminal whose output is redirected.
import type { Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { TerminalStreams } from "./streams.ts";

/** Reading pauses above this many queued characters. */
const MAX_WAITING = 1_000_000;
/** After this long without input, the pipe is considered drained. */
const DRAIN_MS = 50;

export class PipedLines {
  readonly #input: TerminalStreams["stdin"];
  readonly #decoder = new StringDecoder("utf8");
  #partial = "";
  #lines: string[] = [];
  #waitingSize = 0;
  #answers: string[] = [];
  /** A question is open: lines that begin now answer it. */
  #asking = false;
  /** The current line began before the question and is no answer. */
  #began = false;
  #ended = false;
  #paused = false;
  #lastInput = 0;
  #wake: (() => void) | undefined;
  readonly #onData = (chunk: Buffer | string) => this.#data(chunk);
  readonly #onEnd = () => this.#end();

  constructor(input: TerminalStreams["stdin"]) {
    this.#input = input;
  }

  start(): void {
    if (this.#input.readableEnded) this.#ended = true;
    this.#input.on("data", this.#onData);
    this.#input.on("end", this.#onEnd);
    this.#input.on("error", this.#onEnd);
    this.#input.resume();
  }

  stop(): void {
    this.#input.off("data", this.#onData);
    this.#input.off("end", this.#onEnd);
    this.#input.off("error", this.#onEnd);
    this.#input.pause();
    this.#ended = true;
    this.#wake?.();
  }

  #data(chunk: Buffer | string): void {
    this.#lastInput = Date.now();
    const text = this.#partial + (typeof chunk === "string" ? chunk : this.#decoder.write(chunk));
    const lines = text.split(/\r\n|\n/);
    this.#partial = lines.pop() ?? "";
    for (const line of lines) this.#enqueue(line);
    if (this.#waitingSize > MAX_WAITING) {
      this.#paused = true;
      this.#input.pause();
    }
    this.#wake?.();
  }

  #enqueue(line: string): void {
    if (this.#asking && !this.#began) {
      this.#answers.push(line);
      return;
    }
    this.#began = false;
    this.#lines.push(line);
    this.#waitingSize += line.length + 1;
  }

  #end(): void {
    this.#ended = true;
    const rest = this.#partial;
    this.#partial = "";
    if (rest !== "") this.#enqueue(rest);
    this.#wake?.();
  }

  /** The next line; null at the end of input or when the signal fires. */
  line(signal?: AbortSignal): Promise<string | null> {
    return this.#take(() => this.#next(), signal);
  }

  #next(): string | undefined {
    const line = this.#lines.shift();
    if (line === undefined) return undefined;
    this.#waitingSize -= line.length + 1;
    if (this.#paused && this.#waitingSize < MAX_WAITING / 2) {
      this.#paused = false;
      this.#input.resume();
    }
    return line;
  }

  async #take(next: () => string | undefined, signal?: AbortSignal): Promise<string | null> {
    const stop = () => this.#wake?.();
    signal?.addEventListener("abort", stop);
    try {
      for (;;) {
        const line = next();
        if (line !== undefined) return line;
        if (this.#ended || signal?.aborted) return null;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.#wake = undefined;
      signal?.removeEventListener("abort", stop);
    }
  }

  /** Runs `ask`; only lines that begin after its start answer it. Earlier lines stay queued. */
  async question<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
    const terminal = this.#input.isTTY === true;
    // A terminal delivers an incomplete line only in raw mode.
    if (terminal) this.#input.setRawMode?.(true);
    const begun = Date.now();
    while (!this.#ended && !this.#paused && !signal.aborted && Date.now() - Math.max(begun, this.#lastInput) < DRAIN_MS)
      await new Promise((resolve) => setTimeout(resolve, 10));
    if (terminal) this.#input.setRawMode?.(false);
    const draft = terminal ? this.#partial : "";
    if (terminal) this.#partial = "";
    this.#began = this.#partial !== "";
    this.#asking = true;
    try {
      return await ask();
    } finally {
      this.#asking = false;
      this.#began = false;
      this.#partial = draft + this.#partial;
      for (const line of this.#answers.splice(0)) this.#enqueue(line);
    }
  }

  /** Within `question`: an answer; null at the end of input, or when earlier lines fill the queue. */
  async answer(signal: AbortSignal): Promise<string | null> {
    return this.#paused ? null : this.#take(() => this.#answers.shift(), signal);
  }

  /** Within `question`: an answer that is not echoed. */
  async secret(prompt: string, output: Writable, signal: AbortSignal): Promise<string | null> {
    const input = this.#input;
    if (input.isTTY !== true) {
      output.write(`${prompt}\n`);
      return this.answer(signal);
    }
    const { readSecret } = await import("./secret-input.ts");
    input.off("data", this.#onData);
    try {
      return await readSecret(input, output, { prompt, signal });
    } finally {
      input.on("data", this.#onData);
      input.resume();
    }
  }
}
