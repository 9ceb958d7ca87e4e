// Console output and simple questions: the standard streams with width, colours, prompts and a progress bar.
import { showTerminalControls } from "../text/visible-text.ts";
import { wrapWords } from "../text/wrap-words.ts";
import { progressText } from "./progress-bar.ts";
import type { TerminalStreams } from "./streams.ts";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

const CODES: { readonly [style in Style]: readonly [number, number] } = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** The reader of a pipe may exit early (`| head`), and a terminal may be closed (EIO); the program continues. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
}

export class Terminal {
  readonly #streams: TerminalStreams;
  readonly #colour: boolean;
  /** Lines that arrived in the same chunk as an answer; they answer the next questions. */
  readonly #ahead: string[] = [];

  /** No cursor movement: choices are numbered questions. */
  readonly plain: boolean;

  constructor(streams: TerminalStreams, options: { noColor?: boolean | undefined; plain?: boolean | undefined } = {}) {
    this.#streams = streams;
    this.plain = options.plain ?? false;
    this.#colour = Boolean(streams.stdout.isTTY) && !options.noColor;
    for (const stream of [streams.stdout, streams.stderr]) stream.on("error", ignoreClosedPipe);
  }

  get streams(): TerminalStreams {
    return this.#streams;
  }

  /** True when both input and output are a terminal. */
  get interactive(): boolean {
    return Boolean(this.#streams.stdout.isTTY && this.#streams.stdin.isTTY);
  }

  /** Width of the terminal; Infinity for a file or a pipe, where nothing is cut. */
  get columns(): number {
    return this.#streams.stdout.isTTY ? this.#streams.stdout.columns || 80 : Number.POSITIVE_INFINITY;
  }

  /** Size of the terminal that questions are shown on; Infinity for a file or a pipe. */
  get screen(): { columns: number; rows: number } {
    const { stderr } = this.#streams;
    if (!stderr.isTTY) return { columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY };
    return { columns: stderr.columns || 80, rows: stderr.rows || 24 };
  }

  /**
   * Prepares text from outside (a model, a file, a server) for standard output. On a terminal, control characters are
   * escaped so that it does not interpret them; a file or a pipe gets the text unchanged.
   */
  forOut(text: string): string {
    return this.#streams.stdout.isTTY ? showTerminalControls(text) : text;
  }

  /** Like `forOut`, for the error stream. */
  forErr(text: string): string {
    return this.#streams.stderr.isTTY ? showTerminalControls(text) : text;
  }

  out(text: string): void {
    this.#streams.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  }

  /** Writes without adding a line break. */
  raw(text: string): void {
    this.#streams.stdout.write(text);
  }

  /** Writes to the error stream; on a terminal, long lines wrap at spaces. */
  err(text: string): void {
    const { stderr } = this.#streams;
    const shown = stderr.isTTY ? wrapWords(text, stderr.columns || 80) : text;
    stderr.write(shown.endsWith("\n") ? shown : `${shown}\n`);
  }

  /** Wraps sentences for `out`. Tables and machine-readable output must not be wrapped. */
  wrapped(text: string): string {
    return wrapWords(text, this.columns);
  }

  style(style: Style, text: string): string {
    const [open, close] = CODES[style];
    return this.#colour ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  }

  /** Asks a yes/no question; anything but y or yes, and the end of input, mean no. */
  async confirm(question: string): Promise<boolean> {
    const answer = await this.ask(`${question} [y/N] `);
    return answer !== null && /^y(es)?$/i.test(answer.trim());
  }

  /** Reads one line; null at the end of input. */
  async ask(prompt: string): Promise<string | null> {
    const known = this.#ahead.shift();
    if (known !== undefined) {
      this.#streams.stderr.write(`${prompt}\n`);
      return known;
    }
    // The end event is emitted only once.
    if (this.#streams.stdin.readableEnded) return null;
    const { createInterface } = await import("node:readline");
    const reader = createInterface({
      input: this.#streams.stdin,
      output: this.#streams.stderr,
      terminal: this.interactive,
    });
    return new Promise((resolve) => {
      reader.once("close", () => resolve(null));
      reader.question(prompt, (answer) => {
        // Lines in the same chunk are emitted before the interface closes.
        reader.on("line", (line) => this.#ahead.push(line));
        resolve(answer);
        reader.close();
      });
    });
  }

  /** Like `ask`, for what must not be seen on the screen. */
  async askHidden(prompt: string): Promise<string | null> {
    const known = this.#ahead.shift();
    if (known !== undefined) return known;
    const { readSecret } = await import("./secret-input.ts");
    return readSecret(this.#streams.stdin, this.#streams.stderr, { prompt });
  }

  /** A progress bar with rate and time left on the error stream; draws only on a terminal. */
  progress(label: string, unit: "count" | "bytes" = "count"): (done: number, total: number) => void {
    const stream = this.#streams.stderr;
    if (!stream.isTTY || this.plain) return () => undefined;
    const began = Date.now();
    let last = 0;
    return (done, total) => {
      const now = Date.now();
      if (done < total && now - last < 50) return;
      last = now;
      const columns = stream.columns || 80;
      stream.write(`\r${progressText({ label, done, total, elapsedMs: now - began, unit, columns })}\u001b[K`);
      if (done >= total) stream.write("\n");
    };
  }
}
