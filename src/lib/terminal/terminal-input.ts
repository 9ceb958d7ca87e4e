// Raw terminal input with bracketed paste; one receiver at a time gets keys and pasted text.
import { StringDecoder } from "node:string_decoder";
import type { TerminalStreams } from "./streams.ts";

export interface InputReceiver {
  /** Keys as the terminal sends them. */
  keys(text: string): void;
  /** A pasted block, with line feeds at its line ends. */
  paste(text: string): void;
  /** The terminal was closed. */
  end(): void;
}

const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";
const PASTE_START = "\u001b[200~";
const PASTE_END = "\u001b[201~";
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const ESCAPE = "\u001b";
/** How long an incomplete paste marker is held back, and the longest pause within a burst of lines. */
const HELD_MS = 40;
/** Input within this time means that the user is still typing. */
const TYPING_MS = 400;
const LONGEST_TYPING_MS = 10_000;
/** Time to read bytes that are already buffered in the terminal. */
const DRAIN_MS = 20;

/** Number of characters at the end that may start the marker. */
function partialMarker(text: string, marker: string): number {
  for (let length = Math.min(marker.length - 1, text.length); length > 0; length--)
    if (text.endsWith(marker.slice(0, length))) return length;
  return 0;
}

/** Terminals send carriage returns for the line feeds of a paste; a paste that has line feeds was not translated. */
function pastedText(text: string): string {
  return text.includes("\n") ? text : text.replaceAll("\r", "\n");
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export class TerminalInput {
  readonly #streams: TerminalStreams;
  readonly #receivers: InputReceiver[] = [];
  #decoder = new StringDecoder("utf8");
  #pending = "";
  /** Parts of a paste that has not ended. */
  #paste: string[] | undefined;
  /** Lines that arrive faster than typing: a paste in a terminal without bracketed paste. */
  #burst = "";
  #timer: NodeJS.Timeout | undefined;
  #started = false;
  #lastInput = 0;
  readonly #onData = (chunk: Buffer | string) => this.#data(chunk);
  readonly #onEnd = () => {
    for (const receiver of [...this.#receivers].reverse()) receiver.end();
  };
  readonly #onExit = () => this.stop();

  constructor(streams: TerminalStreams) {
    this.#streams = streams;
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    const { stdin, stdout } = this.#streams;
    stdin.setRawMode?.(true);
    stdout.write(PASTE_ON);
    stdin.on("data", this.#onData);
    stdin.on("end", this.#onEnd);
    // A terminal that hangs up ends the input.
    stdin.on("error", this.#onEnd);
    process.on("exit", this.#onExit);
    stdin.resume();
  }

  /** Restores the terminal. */
  stop(): void {
    if (!this.#started) return;
    this.#started = false;
    const { stdin, stdout } = this.#streams;
    process.off("exit", this.#onExit);
    clearTimeout(this.#timer);
    stdin.off("data", this.#onData);
    stdin.off("end", this.#onEnd);
    stdin.off("error", this.#onEnd);
    stdout.write(PASTE_OFF);
    stdin.setRawMode?.(false);
    stdin.pause();
  }

  /** Adds a receiver; the newest one gets the input. Returns a function that removes it. */
  push(receiver: InputReceiver): () => void {
    this.#receivers.push(receiver);
    return () => {
      const at = this.#receivers.indexOf(receiver);
      if (at >= 0) this.#receivers.splice(at, 1);
    };
  }

  /** Resolves when the typed input has reached its receiver and the user pauses. */
  async typingPause(signal: AbortSignal): Promise<void> {
    const until = Date.now() + LONGEST_TYPING_MS;
    do await wait(DRAIN_MS);
    while (!signal.aborted && Date.now() < until && (this.#paste || Date.now() - this.#lastInput < TYPING_MS));
    this.#flush();
  }

  get #receiver(): InputReceiver | undefined {
    return this.#receivers.at(-1);
  }

  #data(chunk: Buffer | string): void {
    this.#lastInput = Date.now();
    clearTimeout(this.#timer);
    const text = typeof chunk === "string" ? chunk : this.#decoder.write(chunk);
    // Ctrl-C ends a paste whose end marker was lost.
    if (this.#paste && text === CTRL_C) {
      this.#paste = undefined;
      this.#pending = "";
    }
    this.#pending += text;
    while (this.#paste ? this.#readPaste(this.#paste) : this.#readKeys());
    if (this.#pending !== "" || this.#burst !== "") this.#timer = setTimeout(() => this.#flush(), HELD_MS);
  }

  /** False when more input is needed. */
  #readPaste(paste: string[]): boolean {
    const end = this.#pending.indexOf(PASTE_END);
    const upTo = end >= 0 ? end : this.#pending.length - partialMarker(this.#pending, PASTE_END);
    paste.push(this.#pending.slice(0, upTo));
    this.#pending = this.#pending.slice(end >= 0 ? end + PASTE_END.length : upTo);
    if (end < 0) return false;
    this.#paste = undefined;
    this.#receiver?.paste(pastedText(paste.join("")));
    return true;
  }

  #readKeys(): boolean {
    const start = this.#pending.indexOf(PASTE_START);
    const upTo = start >= 0 ? start : this.#pending.length - partialMarker(this.#pending, PASTE_START);
    const typed = this.#pending.slice(0, upTo);
    this.#pending = this.#pending.slice(start >= 0 ? start + PASTE_START.length : upTo);
    if (typed !== "") this.#typed(typed);
    if (start < 0) return false;
    this.#flushBurst();
    this.#paste = [];
    return true;
  }

  #typed(text: string): void {
    // Escape sequences are keys, also those that end with a carriage return (Alt-Enter).
    const command = text.includes(CTRL_C) || text.includes(CTRL_D) || text.includes(ESCAPE);
    const several = text.length > 1 && /[\r\n]/.test(text);
    if (!command && (several || (this.#burst !== "" && /[^\p{Cc}]/u.test(text)))) {
      this.#burst += text;
      return;
    }
    this.#flushBurst();
    this.#receiver?.keys(text);
  }

  #flushBurst(): void {
    const text = this.#burst;
    this.#burst = "";
    if (text === "") return;
    const body = text.replace(/[\r\n]+$/, "");
    if (!/[\r\n]/.test(body)) {
      this.#receiver?.keys(text);
      return;
    }
    this.#receiver?.paste(pastedText(body));
    if (body !== text) this.#receiver?.keys("\r");
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#flushBurst();
    if (this.#paste) return;
    const held = this.#pending;
    this.#pending = "";
    if (held !== "") this.#receiver?.keys(held);
  }
}
