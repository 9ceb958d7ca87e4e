// Lines from the person, one at a time: prompts, answers to questions, and text typed while a turn runs.
import { appendFile, readFile } from "node:fs/promises";
import { createInterface, type Interface } from "node:readline";
import type { Terminal } from "./terminal.ts";

const MAX_HISTORY = 1_000;

export class LineReader {
  readonly #terminal: Terminal;
  readonly #historyFile: string;
  #reader: Interface | undefined;
  #waiting: ((line: string | null) => void) | undefined;
  /** Text that arrives while nobody asked. */
  onStray: ((line: string) => void) | undefined;
  onInterrupt: (() => void) | undefined;

  constructor(terminal: Terminal, historyFile: string) {
    this.#terminal = terminal;
    this.#historyFile = historyFile;
  }

  async open(): Promise<void> {
    const text = await readFile(this.#historyFile, "utf8").catch(() => "");
    const history = text.split("\n").filter(Boolean).slice(-MAX_HISTORY).reverse();
    const { stdin, stdout } = this.#terminal.streams;
    const reader = createInterface({
      input: stdin,
      output: stdout,
      terminal: this.#terminal.interactive,
      history,
      historySize: MAX_HISTORY,
    });
    reader.on("line", (line) => this.#arrived(line));
    reader.on("close", () => {
      // Ctrl-D while a turn runs: nobody waits now, but the next question finds the end of input.
      if (this.#reader === reader) this.#reader = undefined;
      this.#settle(null);
    });
    reader.on("SIGINT", () => this.onInterrupt?.());
    this.#reader = reader;
  }

  #arrived(line: string): void {
    if (this.#waiting) this.#settle(line);
    else if (line.trim() !== "") this.onStray?.(line);
  }

  #settle(line: string | null): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.(line);
  }

  /** The next line; null at the end of input or when the signal fires. */
  async line(prompt: string, signal?: AbortSignal): Promise<string | null> {
    const reader = this.#reader;
    if (!reader || signal?.aborted) return null;
    const stop = () => this.#settle(null);
    signal?.addEventListener("abort", stop, { once: true });
    try {
      return await new Promise<string | null>((resolve) => {
        this.#waiting = resolve;
        reader.setPrompt(prompt);
        reader.prompt();
      });
    } finally {
      signal?.removeEventListener("abort", stop);
      reader.setPrompt("");
    }
  }

  /** Like `line`, with the typed characters hidden and kept out of the history. */
  async secret(prompt: string, signal: AbortSignal): Promise<string | null> {
    const { readHidden } = await import("./hidden-input.ts");
    this.#reader?.pause();
    try {
      const { stdin, stderr } = this.#terminal.streams;
      return await readHidden(stdin, stderr, { prompt, signal });
    } finally {
      this.#reader?.resume();
    }
  }

  async remember(line: string): Promise<void> {
    await appendFile(this.#historyFile, `${line.replaceAll("\n", " ")}\n`, { mode: 0o600 }).catch(() => undefined);
  }

  close(): void {
    this.#reader?.close();
    this.#reader = undefined;
  }
}
