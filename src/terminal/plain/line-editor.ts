// A line editor that draws only while a prompt is shown; pasted blocks appear as a short label.
import { EventEmitter } from "node:events";
import { createInterface, type Interface } from "node:readline";
import type { InputReceiver } from "../../lib/terminal/terminal-input.ts";
import { pasteLabel, type TypedLine, withPastes } from "../composer/typed-line.ts";

export interface EditorEvents {
  line(line: TypedLine): void;
  interrupt(): void;
  /** Ctrl-D on an empty line, or the terminal was closed. */
  end(): void;
  suspend?(): void;
  /** Returns whether pasted text may be inserted. */
  mayPaste?(): boolean;
}

type Screen = NodeJS.WritableStream & { columns?: number | undefined };

/** Readline's output. While no prompt is shown it writes nothing and reports an infinite width, so that readline counts no rows. */
class EditorOutput extends EventEmitter {
  readonly #screen: Screen;
  silent = true;

  constructor(screen: Screen) {
    super();
    this.#screen = screen;
  }

  get columns(): number {
    return this.silent ? Number.POSITIVE_INFINITY : (this.#screen.columns ?? 80);
  }

  write(text: string, done?: () => void): boolean {
    if (!this.silent) this.#screen.write(text);
    if (typeof done === "function") process.nextTick(done);
    return true;
  }
}

/** Readline's input: emits the keys that the editor receives. */
class KeySource extends EventEmitter {
  pause(): this {
    return this;
  }
  resume(): this {
    return this;
  }
}

export const MAX_HISTORY = 1_000;
const CONTINUED = "… ";
/** Longer pasted lines are shown as a label. */
const PLAIN_PASTE = 500;
const KEPT_PASTES = 50;
const ERASE = "\u007f";

export class LineEditor implements InputReceiver {
  readonly #events: EditorEvents;
  readonly #screen: Screen;
  readonly #source = new KeySource();
  readonly #output: EditorOutput;
  readonly #readline: Interface;
  readonly #resized = () => this.#output.emit("resize");
  /** Lines above the current one, each ended with a backslash. */
  #above: string[] = [];
  #prompt = "";
  #closed = false;
  #pasteCount = 0;
  readonly #pastes = new Map<string, string>();

  /** `history`: newest first; null for an editor without history. */
  constructor(screen: Screen, history: readonly string[] | null, events: EditorEvents) {
    this.#events = events;
    this.#screen = screen;
    this.#output = new EditorOutput(screen);
    this.#readline = createInterface({
      input: this.#source as unknown as NodeJS.ReadableStream,
      output: this.#output as unknown as NodeJS.WritableStream,
      terminal: true,
      history: [...(history ?? [])],
      historySize: history ? MAX_HISTORY : 0,
    });
    screen.on("resize", this.#resized);
    this.#readline.on("line", (line) => this.#entered(line));
    this.#readline.on("SIGINT", () => this.#events.interrupt());
    this.#readline.on("SIGTSTP", () => this.#events.suspend?.());
    this.#readline.on("close", () => this.end());
  }

  get shown(): boolean {
    return !this.#output.silent;
  }

  /** Draws the prompt and what is typed so far. */
  show(prompt: string): void {
    this.#prompt = prompt;
    for (const [index, line] of this.#above.entries())
      this.#screen.write(`${index === 0 ? prompt : CONTINUED}${line}\\\n`);
    this.#output.silent = false;
    this.#readline.setPrompt(this.#above.length > 0 ? CONTINUED : prompt);
    this.#readline.prompt(true);
  }

  /** Erases the prompt and the typed text from the screen; `show` draws them again. */
  hide(): void {
    if (!this.shown) return;
    const rows = this.#readline.getCursorPos().rows + this.#above.length;
    this.#screen.write(`${rows > 0 ? `\u001b[${rows}A` : ""}\r\u001b[J`);
    this.#silence();
  }

  /** Redraws once without output, so that readline counts its rows from a new line. */
  #silence(): void {
    this.#output.silent = true;
    if (!this.#closed) this.#readline.prompt(true);
  }

  /** Ends the line of a prompt that was not answered with Enter. */
  leaveLine(): void {
    if (!this.shown) return;
    this.#screen.write("\n");
    this.#silence();
  }

  /** Prints above the prompt when one is shown. */
  printAbove(print: () => void): void {
    const prompted = this.shown;
    this.hide();
    print();
    if (prompted) this.show(this.#prompt);
  }

  /** Clears the typed text. False when there was none. */
  clear(): boolean {
    if (this.#readline.line === "" && this.#above.length === 0) return false;
    this.#above = [];
    if (this.shown) this.#readline.setPrompt(this.#prompt);
    this.#readline.write(null, { ctrl: true, name: "e" });
    this.#readline.write(null, { ctrl: true, name: "u" });
    if (this.shown) this.#readline.prompt(true);
    return true;
  }

  keys(text: string): void {
    if (text === ERASE && this.#eraseLabel()) return;
    this.#source.emit("data", text);
  }

  /** Backspace erases a label as a whole: a part of it would be sent literally. */
  #eraseLabel(): boolean {
    const before = this.#readline.line.slice(0, this.#readline.cursor);
    const label = [...this.#pastes.keys()].find((each) => before.endsWith(each));
    if (label === undefined) return false;
    for (const _char of label) this.#readline.write(null, { name: "backspace" });
    return true;
  }

  paste(text: string): void {
    if (text === "" || this.#events.mayPaste?.() === false) return;
    if (text.length <= PLAIN_PASTE && !/\p{Cc}/u.test(text)) {
      this.#readline.write(text);
      return;
    }
    const label = pasteLabel(text, ++this.#pasteCount);
    this.#pastes.set(label, text);
    const [oldest] = this.#pastes.keys();
    if (this.#pastes.size > KEPT_PASTES && oldest !== undefined) this.#pastes.delete(oldest);
    this.#readline.write(label);
  }

  end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#events.end();
  }

  #entered(line: string): void {
    if (/(?<!\\)(?:\\\\)*\\$/.test(line)) {
      this.#above.push(line.slice(0, -1));
      if (this.shown) {
        this.#readline.setPrompt(CONTINUED);
        this.#readline.prompt(true);
      }
      return;
    }
    const whole = [...this.#above, line].join("\n");
    this.#above = [];
    this.#silence();
    const pastes = new Map([...this.#pastes].filter(([label]) => whole.includes(label)));
    this.#events.line({ text: withPastes(whole, pastes), typed: whole, pastes });
  }

  /** Writes a line break when a prompt is shown. */
  close(): void {
    this.#closed = true;
    if (this.shown) this.#screen.write("\n");
    this.#output.silent = true;
    this.#screen.off("resize", this.#resized);
    this.#readline.close();
  }
}
