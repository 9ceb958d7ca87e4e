// The conversation screen: input to dialogs and composer, drawing of what changed, and the terminal's modes.
import type { TerminalStreams } from "../../lib/terminal/streams.ts";
import { TerminalInput } from "../../lib/terminal/terminal-input.ts";
import type { Composer } from "../composer/composer.ts";
import type { DialogHost, Modal } from "../dialogs/modal.ts";
import type { Block } from "../view/block.ts";
import { type Picture, ScreenDriver } from "./driver.ts";
import { type Key, KeySplitter } from "./keys.ts";
import type { Paint } from "./paint.ts";

/** What the screen shows beside dialogs and the composer. */
export interface ScreenContent {
  /** The part of the conversation that may still change. */
  live(now: number): readonly Block[];
  status(width: number, now: number): string | null;
  readonly prompt: string;
  readonly placeholder: string;
  /** Something moves by itself: it is drawn several times a second. */
  readonly animated: boolean;
}

export interface ScreenOptions {
  readonly streams: TerminalStreams;
  readonly paint: Paint;
  readonly reflows: boolean;
  /** Ask the terminal what it supports. */
  readonly query: boolean;
  /** The terminal was closed. */
  onEnd(): void;
}

const KITTY_ON = "\u001b[>1u";
const KITTY_OFF = "\u001b[<u";
const ASK_SYNCHRONIZED = "\u001b[?2026$p";
const BEL = "\u0007";
const FRAME_MS = 33;
const ANIMATION_MS = 120;
const SECOND_MS = 1_000;
/** How long the rest of an escape sequence may take. */
const ESCAPE_MS = 30;
/** An orphaned process group is not stopped by the system: then input resumes after this time. */
const NOT_STOPPED_MS = 200;
/** Wider rules would break when the terminal becomes narrower, before they can be drawn again. */
const RULE_COLUMNS = 32;

export class Screen implements DialogHost {
  readonly paint: Paint;
  readonly #driver: ScreenDriver;
  readonly #input: TerminalInput;
  readonly #options: ScreenOptions;
  readonly #keys = new KeySplitter();
  #content: ScreenContent | undefined;
  #composer: Composer | undefined;
  readonly #modals: Modal[] = [];
  #settled: Block[] = [];
  #drawSoon: NodeJS.Immediate | undefined;
  #drawLater: NodeJS.Timeout | undefined;
  #ticker: NodeJS.Timeout | undefined;
  #escape: NodeJS.Timeout | undefined;
  #running = false;
  lastInput = 0;
  readonly #onResize = () => this.redraw();
  readonly #onContinue = () => this.#resume();
  readonly #onExit = () => this.stop();

  constructor(options: ScreenOptions) {
    this.#options = options;
    this.paint = options.paint;
    const { streams } = options;
    this.#driver = new ScreenDriver(streams.stdout, { reflows: options.reflows });
    this.#input = new TerminalInput(streams);
    this.#input.push({
      keys: (text) => this.#receive(text),
      paste: (text) => this.#paste(text),
      end: () => {
        for (const modal of [...this.#modals]) modal.cancel();
        options.onEnd();
      },
    });
  }

  now(): number {
    return Date.now();
  }

  get size(): { columns: number; rows: number } {
    return this.#driver.size;
  }

  start(content: ScreenContent, composer: Composer): void {
    this.#content = content;
    this.#composer = composer;
    process.on("exit", this.#onExit);
    process.on("SIGCONT", this.#onContinue);
    this.#options.streams.stdout.on("resize", this.#onResize);
    this.#begin();
    if (this.#options.query) this.#driver.control(ASK_SYNCHRONIZED);
    this.redraw();
  }

  #begin(): void {
    this.#running = true;
    this.#input.start();
    this.#driver.start();
    this.#driver.control(KITTY_ON);
  }

  #pause(): void {
    this.#running = false;
    clearImmediate(this.#drawSoon);
    clearTimeout(this.#drawLater);
    clearTimeout(this.#ticker);
    clearTimeout(this.#escape);
    this.#drawSoon = undefined;
    this.#drawLater = undefined;
    this.#ticker = undefined;
    this.#driver.control(KITTY_OFF);
    this.#driver.stop();
    this.#input.stop();
  }

  /** Writes what is settled, removes the live part and restores the terminal. Idempotent. */
  stop(): void {
    if (!this.#content) return;
    if (this.#running) {
      this.#flushSettled();
      this.#pause();
    }
    this.#content = undefined;
    process.off("exit", this.#onExit);
    process.off("SIGCONT", this.#onContinue);
    this.#options.streams.stdout.off("resize", this.#onResize);
  }

  #flushSettled(): void {
    const settled = this.#takeSettled();
    if (settled.length > 0) this.#driver.draw({ lines: [], cursor: { row: 0, column: 0 } }, settled);
  }

  /** Ctrl-Z: the shell gets the terminal back; `fg` continues. */
  suspend(): void {
    if (!this.#running) return;
    this.#pause();
    setTimeout(() => this.#resume(), NOT_STOPPED_MS);
    process.kill(process.pid, "SIGTSTP");
  }

  /** After a stop the terminal's modes and its screen are unknown. */
  #resume(): void {
    if (!this.#content) return;
    if (this.#running) this.#pause();
    this.#begin();
    this.redraw();
  }

  /** Another program uses the terminal while `use` runs. */
  async release<T>(use: () => Promise<T>): Promise<T> {
    this.#flushSettled();
    this.#pause();
    try {
      return await use();
    } finally {
      if (this.#content) {
        this.#begin();
        this.redraw();
      }
    }
  }

  /** Draws every live line again, for a terminal whose content was disturbed. */
  repaint(): void {
    this.#driver.invalidate();
    this.redraw();
  }

  /** Moves what is visible into the scrollback. */
  scrollAway(): void {
    const { rows } = this.size;
    this.settle([{ render: () => Array.from({ length: rows }, () => "") }]);
    this.redraw();
  }

  bell(): void {
    this.#driver.control(BEL);
  }

  /** Writes bytes that draw nothing. */
  control(bytes: string): void {
    this.#driver.control(bytes);
  }

  /** Adds blocks that will not change again. */
  settle(blocks: readonly Block[]): void {
    this.#settled.push(...blocks);
    this.redrawLater();
  }

  /** Shows the dialog in place of the composer until it is closed; dialogs wait for each other. */
  open(modal: Modal): () => void {
    this.#modals.push(modal);
    this.redraw();
    return () => {
      const at = this.#modals.indexOf(modal);
      if (at >= 0) this.#modals.splice(at, 1);
      this.redraw();
    };
  }

  get #modal(): Modal | undefined {
    return this.#modals[0];
  }

  #receive(text: string): void {
    this.lastInput = Date.now();
    clearTimeout(this.#escape);
    for (const key of this.#keys.push(text)) this.#key(key);
    if (this.#keys.waiting)
      this.#escape = setTimeout(() => {
        for (const key of this.#keys.flush()) this.#key(key);
      }, ESCAPE_MS);
  }

  #key(key: Key): void {
    if (key.bytes.startsWith("\u001b[?2026;")) {
      // 1 and 2: known and settable.
      this.#driver.synchronized = /;[12]\$y$/.test(key.bytes);
      return;
    }
    if (key.name === "" && key.text === "") return;
    const modal = this.#modal;
    if (!modal?.key(key)) this.#composer?.key(key);
    this.redraw();
  }

  #paste(text: string): void {
    this.lastInput = Date.now();
    if (!this.#modal?.paste(text)) this.#composer?.paste(text);
    this.redraw();
  }

  /** Draws at the next turn of the event loop. */
  redraw(): void {
    if (!this.#running || this.#drawSoon) return;
    this.#drawSoon = setImmediate(() => {
      this.#drawSoon = undefined;
      this.#draw();
    });
  }

  /** Draws within a thirtieth of a second, for text that streams. */
  redrawLater(): void {
    if (!this.#running || this.#drawLater || this.#drawSoon) return;
    this.#drawLater = setTimeout(() => {
      this.#drawLater = undefined;
      this.#draw();
    }, FRAME_MS);
  }

  #takeSettled(): string[] {
    const { columns } = this.size;
    const blocks = this.#settled;
    this.#settled = [];
    return blocks.flatMap((block) => [...block.render(columns)]);
  }

  #draw(): void {
    const content = this.#content;
    if (!content || !this.#running) return;
    const now = Date.now();
    clearTimeout(this.#drawLater);
    this.#drawLater = undefined;
    this.#driver.draw(this.#compose(content, now), this.#takeSettled());
    this.#planTick(content);
  }

  #planTick(content: ScreenContent): void {
    const every = content.animated ? ANIMATION_MS : this.#modal?.ticks ? SECOND_MS : undefined;
    if (every === undefined) {
      clearTimeout(this.#ticker);
      this.#ticker = undefined;
      return;
    }
    this.#ticker ??= setTimeout(() => {
      this.#ticker = undefined;
      this.#draw();
    }, every);
  }

  /** Live blocks, then the dialog or the composer, then the status bar; what does not fit is cut from the live blocks. */
  #compose(content: ScreenContent, now: number): Picture {
    const { columns, rows } = this.size;
    const status = content.status(columns, now);
    const rule = columns > RULE_COLUMNS && rows > 8 ? [this.paint("border", "─".repeat(RULE_COLUMNS))] : [];
    const room = Math.max(2, rows - rule.length - (status === null ? 0 : 1));
    const bottom = this.#bottom(content, { width: columns, rows: room, now });
    const free = Math.max(0, room - bottom.lines.length);
    const live = content.live(now).flatMap((block) => [...block.render(columns)]);
    const shown = free === 0 ? [] : live.slice(-free);
    const above = [...shown, ...rule];
    const cursor = bottom.cursor && { row: bottom.cursor.row + above.length, column: bottom.cursor.column };
    return { lines: [...above, ...bottom.lines, ...(status === null ? [] : [status])], cursor };
  }

  #bottom(content: ScreenContent, space: { width: number; rows: number; now: number }): Picture {
    const modal = this.#modal;
    if (modal) return modal.render(space);
    const { prompt, placeholder } = content;
    return (
      this.#composer?.render({ width: space.width, rows: space.rows, prompt, placeholder }) ?? {
        lines: [],
        cursor: null,
      }
    );
  }
}
