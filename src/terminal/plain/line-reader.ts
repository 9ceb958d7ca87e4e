// Input of the interactive conversation: messages, and questions during which typed text is kept for later.
import { appendFile, readFile } from "node:fs/promises";
import { PipedLines } from "../../lib/terminal/piped-lines.ts";
import { SecretEntry } from "../../lib/terminal/secret-input.ts";
import type { Terminal } from "../../lib/terminal/terminal.ts";
import { TerminalInput } from "../../lib/terminal/terminal-input.ts";
import { plainLine, type TypedLine } from "../composer/typed-line.ts";
import { LineEditor, MAX_HISTORY } from "./line-editor.ts";

/** Longer messages are not kept in the history file. */
const MAX_REMEMBERED = 5_000;
const NOT_STOPPED_MS = 200;

/** `pasted`: text was pasted where only typed answers are accepted. */
export type Answer = { readonly text: string } | { readonly pasted: true } | null;

/** Reads answers while a question is open. Null: the user cancelled, the input ended, or the signal fired. */
export interface AnswerReader {
  line(prompt: string, options: { readonly signal: AbortSignal; readonly mayPaste: boolean }): Promise<Answer>;
  secret(prompt: string, signal: AbortSignal): Promise<string | null>;
}

interface Source {
  line(prompt: string, signal?: AbortSignal): Promise<TypedLine | null>;
  question<T>(signal: AbortSignal, ask: (reader: AnswerReader) => Promise<T>): Promise<T>;
  printAbove(print: () => void): void;
  clearDraft(): boolean;
  release<T>(use: () => Promise<T>): Promise<T>;
  close(): void;
}

interface SourceEvents {
  /** A line that arrives while none is awaited. */
  unexpectedLine(line: TypedLine): void;
  interrupt(): void;
}

/** Settles with the value of `settle`, or with null when the signal fires. */
function untilAborted<T>(signal: AbortSignal | undefined, run: (settle: (value: T | null) => void) => void) {
  return new Promise<T | null>((resolve) => {
    const stop = () => settle(null);
    const settle = (value: T | null) => {
      signal?.removeEventListener("abort", stop);
      resolve(value);
    };
    if (signal?.aborted) return resolve(null);
    signal?.addEventListener("abort", stop, { once: true });
    run(settle);
  });
}

/** Input from a terminal. */
class TypedSource implements Source {
  readonly #terminal: Terminal;
  readonly #input: TerminalInput;
  readonly #editor: LineEditor;
  #waiting: ((line: TypedLine | null) => void) | undefined;
  #prompt = "";
  #answers: TypedAnswers | undefined;
  #ended = false;

  constructor(terminal: Terminal, history: readonly string[], events: SourceEvents) {
    this.#terminal = terminal;
    this.#input = new TerminalInput(terminal.streams);
    this.#editor = new LineEditor(terminal.streams.stdout, history, {
      line: (line) => {
        if (this.#waiting) this.#waiting(line);
        else if (line.text.trim() !== "") events.unexpectedLine(line);
      },
      interrupt: () => events.interrupt(),
      end: () => {
        this.#ended = true;
        this.#waiting?.(null);
      },
      suspend: () => this.#suspend(),
    });
    this.#input.push(this.#editor);
    this.#input.start();
  }

  async line(prompt: string, signal?: AbortSignal): Promise<TypedLine | null> {
    if (this.#ended) return null;
    this.#prompt = prompt;
    const line = await untilAborted<TypedLine>(signal, (settle) => {
      this.#waiting = settle;
      this.#editor.show(prompt);
    });
    this.#waiting = undefined;
    if (signal?.aborted) this.#editor.hide();
    return line;
  }

  async question<T>(signal: AbortSignal, ask: (reader: AnswerReader) => Promise<T>): Promise<T> {
    await this.#input.typingPause(signal);
    const prompted = this.#editor.shown;
    this.#editor.hide();
    const answers = new TypedAnswers(this.#terminal, this.#input, this.#ended);
    this.#answers = answers;
    try {
      return await ask(answers);
    } finally {
      this.#answers = undefined;
      answers.close();
      if (prompted && this.#waiting) this.#editor.show(this.#prompt);
    }
  }

  printAbove(print: () => void): void {
    if (this.#answers) this.#answers.printAbove(print);
    else this.#editor.printAbove(print);
  }

  clearDraft(): boolean {
    return this.#editor.clear();
  }

  /** Ctrl-Z. An orphaned process group is not stopped by the system: then input resumes after a short time. */
  #suspend(): void {
    const prompted = this.#editor.shown;
    this.#editor.hide();
    this.#input.stop();
    const resume = () => {
      process.off("SIGCONT", resume);
      clearTimeout(timer);
      if (this.#ended) return;
      this.#input.start();
      if (prompted && this.#waiting) this.#editor.show(this.#prompt);
    };
    const timer = setTimeout(resume, NOT_STOPPED_MS);
    process.once("SIGCONT", resume);
    process.kill(process.pid, "SIGTSTP");
  }

  async release<T>(use: () => Promise<T>): Promise<T> {
    this.#input.stop();
    try {
      return await use();
    } finally {
      if (!this.#ended) this.#input.start();
    }
  }

  close(): void {
    this.#ended = true;
    this.#editor.close();
    this.#input.stop();
    this.#waiting?.(null);
  }
}

/** The answers to one question. It has its own editor, so that the draft of the next message is kept. */
class TypedAnswers implements AnswerReader {
  readonly #terminal: Terminal;
  readonly #input: TerminalInput;
  readonly #editor: LineEditor;
  readonly #release: () => void;
  #waiting: ((answer: Answer) => void) | undefined;
  #mayPaste = false;
  #ended: boolean;

  constructor(terminal: Terminal, input: TerminalInput, ended: boolean) {
    this.#terminal = terminal;
    this.#input = input;
    this.#ended = ended;
    const cancel = () => {
      this.#ended = true;
      this.#waiting?.(null);
    };
    this.#editor = new LineEditor(terminal.streams.stdout, null, {
      line: (line) => this.#waiting?.({ text: line.text }),
      interrupt: cancel,
      end: cancel,
      mayPaste: () => this.#allowPaste(),
    });
    this.#release = input.push(this.#editor);
  }

  #allowPaste(): boolean {
    if (!this.#mayPaste) this.#waiting?.({ pasted: true });
    return this.#mayPaste;
  }

  async line(prompt: string, options: { signal: AbortSignal; mayPaste: boolean }): Promise<Answer> {
    if (this.#ended) return null;
    this.#mayPaste = options.mayPaste;
    this.#editor.clear();
    const answer = await untilAborted<{ text: string } | { pasted: true }>(options.signal, (settle) => {
      this.#waiting = settle;
      this.#editor.show(prompt);
    });
    this.#waiting = undefined;
    this.#editor.leaveLine();
    return answer;
  }

  async secret(prompt: string, signal: AbortSignal): Promise<string | null> {
    if (this.#ended) return null;
    const { stderr } = this.#terminal.streams;
    stderr.write(prompt);
    let release: (() => void) | undefined;
    const secret = await untilAborted<string>(signal, (settle) => {
      const report = (text: string) => stderr.write(`\n  ${text}\n${prompt}`);
      release = this.#input.push(new SecretEntry(settle, report));
    });
    release?.();
    stderr.write("\n");
    return secret;
  }

  printAbove(print: () => void): void {
    this.#editor.printAbove(print);
  }

  close(): void {
    this.#release();
    this.#editor.close();
  }
}

/** Lines from a pipe: each line is one message; prompts are not redrawn. */
class PipedSource implements Source {
  readonly #terminal: Terminal;
  readonly #lines: PipedLines;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#lines = new PipedLines(terminal.streams.stdin);
    this.#lines.start();
  }

  async line(prompt: string, signal?: AbortSignal): Promise<TypedLine | null> {
    this.#terminal.raw(prompt);
    const text = await this.#lines.line(signal);
    return text === null ? null : plainLine(text);
  }

  question<T>(signal: AbortSignal, ask: (reader: AnswerReader) => Promise<T>): Promise<T> {
    const { stderr } = this.#terminal.streams;
    return this.#lines.question(signal, () =>
      ask({
        line: async (prompt, options) => {
          stderr.write(prompt);
          const text = await this.#lines.answer(options.signal);
          return text === null ? null : { text };
        },
        secret: (prompt, limit) => this.#lines.secret(prompt, stderr, limit),
      }),
    );
  }

  printAbove(print: () => void): void {
    print();
  }

  clearDraft(): boolean {
    return false;
  }

  release<T>(use: () => Promise<T>): Promise<T> {
    return use();
  }

  close(): void {
    this.#lines.stop();
  }
}

export class LineReader {
  readonly #terminal: Terminal;
  readonly #historyFile: string;
  #source: Source | undefined;
  #lastQuestion: Promise<unknown> = Promise.resolve();
  /** Called with a message that arrives while none is awaited. */
  onUnexpectedLine: ((line: TypedLine) => void) | undefined;
  onInterrupt: (() => void) | undefined;

  constructor(terminal: Terminal, historyFile: string) {
    this.#terminal = terminal;
    this.#historyFile = historyFile;
  }

  async open(): Promise<void> {
    if (!this.#terminal.interactive) {
      this.#source = new PipedSource(this.#terminal);
      return;
    }
    const text = await readFile(this.#historyFile, "utf8").catch(() => "");
    const history = text.split("\n").filter(Boolean).slice(-MAX_HISTORY).reverse();
    this.#source = new TypedSource(this.#terminal, history, {
      unexpectedLine: (line) => this.onUnexpectedLine?.(line),
      interrupt: () => this.onInterrupt?.(),
    });
  }

  /** The next message; null at the end of input or when the signal fires. */
  async line(prompt: string, signal?: AbortSignal): Promise<TypedLine | null> {
    return (await this.#source?.line(prompt, signal)) ?? null;
  }

  /**
   * Runs `ask` when no other question is open and the user pauses typing. Text typed before is no answer; it is shown
   * again with the next prompt. Null when there is no input.
   */
  question<T>(signal: AbortSignal, ask: (reader: AnswerReader) => Promise<T>): Promise<T | null> {
    const run = async () => (this.#source && !signal.aborted ? this.#source.question(signal, ask) : null);
    const asked = this.#lastQuestion.then(run, run);
    this.#lastQuestion = asked.catch(() => undefined);
    return asked;
  }

  /** Prints above the prompt, if one is shown. */
  printAbove(print: () => void): void {
    if (this.#source) this.#source.printAbove(print);
    else print();
  }

  /** Clears the typed text. False when there was none. */
  clearDraft(): boolean {
    return this.#source?.clearDraft() ?? false;
  }

  /** Releases the terminal to another reader while `use` runs. */
  release<T>(use: () => Promise<T>): Promise<T> {
    return this.#source ? this.#source.release(use) : use();
  }

  async remember(line: string): Promise<void> {
    if (line.length > MAX_REMEMBERED) return;
    await appendFile(this.#historyFile, `${line.replaceAll(/\r?\n/g, " ")}\n`, { mode: 0o600 }).catch(() => undefined);
  }

  close(): void {
    this.#source?.close();
    this.#source = undefined;
  }
}
