// The plain mode: linear output without cursor movement, numbered menus. For pipes, simple terminals and screen readers.
import { join } from "node:path";
import type { App } from "../../app/app.ts";
import type { TerminalRequest } from "../../core/chat/terminal-request.ts";
import type { OpenedConversation } from "../../core/conversation.ts";
import type { Human } from "../../core/human.ts";
import type { Terminal } from "../../lib/terminal/terminal.ts";
import { fitToWidth } from "../../lib/text/text-width.ts";
import type { ChatUi, ChooseAnswer, TurnOutput, UiHandlers } from "../chat-ui.ts";
import type { TypedLine } from "../composer/typed-line.ts";
import { EventPrinter } from "../event-printer.ts";
import { loadPlainView, type PlainView, RAW_VIEW } from "../view/plain-view.ts";
import { LineReader } from "./line-reader.ts";
import { choiceTable, chooseByNumber } from "./numbered-menu.ts";
import { recap } from "./recap.ts";
import { terminalHuman } from "./terminal-human.ts";

export interface PlainOptions {
  readonly app: App;
  readonly terminal: Terminal;
  readonly verbose: boolean;
  /** Marks where answers begin and end, for screen readers. */
  readonly labels: boolean;
}

export class PlainUi implements ChatUi {
  readonly #app: App;
  readonly #terminal: Terminal;
  readonly #reader: LineReader;
  readonly #options: PlainOptions;
  #display: { readonly [key: string]: unknown };
  #printer: EventPrinter | undefined;
  #view: PlainView = RAW_VIEW;
  #greeted = false;
  #images: readonly string[] = [];

  constructor(options: PlainOptions) {
    const { app, terminal } = options;
    this.#app = app;
    this.#terminal = terminal;
    this.#options = options;
    this.#display = app.config.display;
    this.#reader = new LineReader(terminal, join(app.home.path, ".hermes_history"));
  }

  get human(): Human {
    return terminalHuman(this.#terminal, {
      approvalMs: this.#app.config.approvals.timeout * 1000,
      reader: this.#reader,
    });
  }

  get width(): number {
    return Math.min(this.#terminal.columns, 200);
  }

  async start(handlers: UiHandlers): Promise<void> {
    this.#view = await loadPlainView({
      display: this.#app.config.display,
      home: this.#app.home.path,
      env: this.#app.home.env,
      terminal: Number.isFinite(this.#terminal.columns),
    });
    await this.#reader.open();
    this.#reader.onInterrupt = () => handlers.interrupt("ctrl-c");
    this.#reader.onUnexpectedLine = (line) => handlers.lineWhileBusy(line);
  }

  async opened(opened: OpenedConversation): Promise<void> {
    const terminal = this.#terminal;
    for (const notice of opened.notices) terminal.out(terminal.style("dim", terminal.forOut(notice)));
    if (opened.caching) terminal.out(terminal.style("dim", terminal.forOut(opened.caching)));
    if (opened.resumed) terminal.out(await recap(this.#app.store, opened.conversation.sessionId, terminal));
    if (!this.#greeted) terminal.out(terminal.style("dim", this.#view.texts.text("plain.hint")));
    this.#greeted = true;
  }

  async line(signal: AbortSignal): Promise<TypedLine | null> {
    const line = await this.#reader.line(this.#terminal.style("cyan", "❯ "), signal);
    if (line === null || this.#images.length === 0) return line;
    const images = this.#images;
    this.#images = [];
    return { ...line, images };
  }

  remember(line: TypedLine): Promise<void> {
    return this.#reader.remember(line.text);
  }

  beginTurn(): TurnOutput {
    const printer = new EventPrinter(this.#terminal, {
      quiet: false,
      stream: true,
      reasoning: Boolean(this.#display.show_reasoning),
      toolProgress: this.#options.verbose ? "verbose" : String(this.#display.tool_progress),
      labels: this.#options.labels,
      view: this.#view,
    });
    this.#printer = printer;
    return {
      show: (event) => printer.show(event),
      end: () => {
        if (this.#printer === printer) this.#printer = undefined;
      },
    };
  }

  command(): void {
    // The line is on the screen already: it was typed there.
  }

  text(text: string): void {
    this.#above(() => this.#terminal.out(this.#terminal.forOut(text)));
  }

  notice(text: string): void {
    this.#note(this.#terminal.style("dim", `  ${this.#terminal.forErr(text)}`));
  }

  warning(text: string): void {
    this.#above(() => this.#terminal.err(`warning: ${this.#terminal.forErr(text)}`));
  }

  error(text: string): void {
    this.#above(() => this.#terminal.err(`error: ${this.#terminal.forErr(text)}`));
  }

  #above(print: () => void): void {
    this.#reader.printAbove(print);
  }

  #note(shown: string): void {
    this.#above(() => (this.#printer ? this.#printer.note(shown) : this.#terminal.err(shown)));
  }

  /** Echoes the typed line, which was not drawn while the answer was being written. */
  acknowledge(line: TypedLine, what?: string): void {
    const terminal = this.#terminal;
    const width = Math.min(terminal.columns, 100) - 6;
    const typed = fitToWidth(terminal.forErr(line.text.trim().replaceAll(/\s+/gu, " ")), width);
    this.#note(terminal.style("dim", `  ❯ ${typed}${what ? `\n  ${what}` : ""}`));
  }

  async choose(answer: ChooseAnswer): Promise<string | null> {
    const terminal = this.#terminal;
    if (!terminal.interactive) {
      terminal.out(terminal.forOut(choiceTable(answer.choices)));
      return null;
    }
    return this.#reader.question(new AbortController().signal, (reader) => chooseByNumber(terminal, reader, answer));
  }

  async request(request: Exclude<TerminalRequest, { kind: "background" }>): Promise<void> {
    if (request.kind === "copy") {
      const { copyText } = await import("../clipboard.ts");
      const how = await copyText(request.text, this.#app.home.env, (bytes) => this.#terminal.raw(bytes));
      this.notice(`copied ${request.what}${how === "terminal" ? " (sent to the terminal's clipboard)" : ""}`);
    } else if (request.kind === "display") {
      this.#display = { ...this.#display, ...request.changes };
      this.text(request.text);
    } else if (request.kind === "draft") this.text(request.text);
    else if (request.kind === "attach") await this.#attach(request.path);
    else if (request.kind === "edit") this.notice("the external editor needs the full screen; start without --plain");
  }

  async #attach(path: string | undefined): Promise<void> {
    const { attachImage } = await import("../image-input.ts");
    const attached = await attachImage(path, this.#app.home);
    if (attached.path) this.#images = [...this.#images, attached.path];
    this.notice(attached.message);
  }

  status(): void {
    // There is no status bar; /status and /usage have the figures.
  }

  clearDraft(): boolean {
    return this.#reader.clearDraft();
  }

  setDraft(text: string): void {
    this.text(text);
  }

  bell(): void {
    this.#terminal.raw("\u0007");
  }

  close(): void {
    this.#reader.close();
  }
}
