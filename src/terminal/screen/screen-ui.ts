// The interactive conversation on the full screen.
import { join } from "node:path";
import type { App } from "../../app/app.ts";
import type { SlashCommand } from "../../core/chat/command.ts";
import type { TerminalRequest } from "../../core/chat/terminal-request.ts";
import type { OpenedConversation } from "../../core/conversation.ts";
import type { AgentEvent } from "../../core/event.ts";
import type { Human } from "../../core/human.ts";
import type { Terminal } from "../../lib/terminal/terminal.ts";
import { fitToWidth } from "../../lib/text/text-width.ts";
import type { ChatUi, ChooseAnswer, SessionStatus, TurnOutput, UiHandlers } from "../chat-ui.ts";
import { Composer } from "../composer/composer.ts";
import { FileIndex } from "../composer/file-index.ts";
import { History } from "../composer/history.ts";
import type { TypedLine } from "../composer/typed-line.ts";
import { attachImage, droppedImages } from "../image-input.ts";
import type { Block, TurnView } from "../view/block.ts";
import { loadScreenView, type ScreenView } from "../view/screen-view.ts";
import { viewSettings } from "../view/settings.ts";
import { firstBlocks } from "./first-blocks.ts";
import { createPaint } from "./paint.ts";
import { pickFrom } from "./pick-from.ts";
import { Screen, type ScreenContent } from "./screen.ts";
import { screenHuman } from "./screen-human.ts";
import { StatusState } from "./status-state.ts";
import { columnsBlock, EMPTY_LINE, proseBlock } from "./text-blocks.ts";

export interface ScreenUiOptions {
  readonly app: App;
  readonly terminal: Terminal;
  readonly verbose: boolean;
  readonly version: string;
}

/** Terminals that do not break long lines again when they become narrower. */
function reflows(env: { readonly [name: string]: string | undefined }): boolean {
  return env.XTERM_VERSION === undefined && env.TERM !== "linux";
}

/** Loads what the screen shows: skin, language, Markdown. */
export async function openScreenUi(options: ScreenUiOptions): Promise<ScreenUi> {
  return new ScreenUi(options, await loadView(options, options.app.config.display));
}

function loadView({ app, verbose }: ScreenUiOptions, display: App["config"]["display"]): Promise<ScreenView> {
  const settings = viewSettings(display, { verbose, timeZone: app.config.timezone });
  return loadScreenView({ settings, home: app.home.path, env: app.home.env });
}

export class ScreenUi implements ChatUi, ScreenContent {
  readonly #options: ScreenUiOptions;
  readonly #app: App;
  readonly #screen: Screen;
  readonly #composer: Composer;
  readonly #history: History;
  readonly #status: StatusState;
  readonly human: Human;
  #view: ScreenView;
  #display: App["config"]["display"];
  #handlers: UiHandlers | undefined;
  #commands: readonly SlashCommand[] = [];
  #turn: TurnView | undefined;
  #waiting: ((line: TypedLine | null) => void) | undefined;
  #ended = false;
  #opened = false;

  constructor(options: ScreenUiOptions, view: ScreenView) {
    const { app, terminal } = options;
    this.#options = options;
    this.#app = app;
    this.#view = view;
    this.#display = app.config.display;
    const { env } = app.home;
    this.#screen = new Screen({
      streams: terminal.streams,
      paint: createPaint({ sgr: (role) => this.#view.theme.sgr(role) }),
      reflows: reflows(env),
      query: env.TERM !== "linux",
      onEnd: () => this.#end(),
    });
    this.#status = new StatusState(app);
    this.#history = new History(join(app.home.path, ".hermes_history"));
    this.#composer = this.#createComposer();
    this.human = screenHuman({
      screen: this.#screen,
      approvalMs: app.config.approvals.timeout * 1000,
      texts: () => this.#view.texts,
      decided: (text, allowed) => this.#settleNotice(allowed ? "info" : "warning", text),
    });
  }

  #createComposer(): Composer {
    const files = new FileIndex(() => this.#app.home.cwd);
    return new Composer({
      history: this.#history,
      paint: this.#screen.paint,
      sources: {
        commands: () => this.#commands,
        skillCommands: () => this.#app.skillCommands(),
        argumentsOf: async (command, args) => (await this.#handlers?.complete(command, args)) ?? [],
        paths: () => files.paths(),
        sessions: async () => {
          const sessions = await this.#app.store.listSessions({ limit: 50 });
          return sessions.map(({ id, title, preview }) => ({
            label: title ?? preview ?? id,
            value: id,
            description: id,
          }));
        },
      },
      events: {
        submit: (line) => this.#submit(line),
        end: () => this.#end(),
        interrupt: () => this.#handlers?.interrupt("ctrl-c"),
        escape: () => this.#handlers?.interrupt("escape"),
        suspend: () => this.#screen.suspend(),
        edit: () => void this.#edit(),
        pasteImage: () => void this.#attach(undefined),
        repaint: () => this.#screen.repaint(),
        details: () => this.#toggleDetails(),
        changed: () => this.#screen.redraw(),
        takeImages: (text) => this.#takeImages(text),
      },
    });
  }

  get width(): number {
    return this.#screen.size.columns;
  }

  get prompt(): string {
    return `${this.#view.theme.skin.branding.prompt_symbol || "❯"} `;
  }

  get placeholder(): string {
    if (this.#turn) return "";
    return this.#opened ? "" : this.#view.texts.text("composer.placeholder");
  }

  get animated(): boolean {
    return this.#turn !== undefined;
  }

  live(now: number): readonly Block[] {
    return this.#turn?.live(now) ?? [];
  }

  status(width: number, now: number): string | null;
  status(status: SessionStatus): void;
  status(first: number | SessionStatus, now?: number): string | null | undefined {
    if (typeof first !== "number") {
      this.#status.update(first);
      this.#screen.redraw();
      return undefined;
    }
    if (this.#view.settings.statusBar === "off") return null;
    return this.#view.status(this.#status.data(now ?? Date.now()), first);
  }

  async start(handlers: UiHandlers): Promise<void> {
    this.#handlers = handlers;
    this.#screen.start(this, this.#composer);
    for (const problem of this.#view.problems) this.warning(problem);
    // The first key must not wait for the file.
    void this.#history.load();
  }

  async opened(opened: OpenedConversation, commands: readonly SlashCommand[]): Promise<void> {
    this.#commands = commands;
    await this.#status.opened(opened);
    const blocks = await firstBlocks(opened, {
      app: this.#app,
      view: this.#view,
      version: this.#options.version,
      first: !this.#opened,
      branch: this.#status.branch,
    });
    this.#opened = true;
    this.#screen.settle(blocks);
  }

  #submit(line: TypedLine): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(line);
    else this.#handlers?.lineWhileBusy(line);
  }

  #end(): void {
    this.#ended = true;
    this.#waiting?.(null);
    if (this.#turn) this.#handlers?.leave();
  }

  line(signal: AbortSignal): Promise<TypedLine | null> {
    return new Promise((resolve) => {
      if (this.#ended || signal.aborted) {
        resolve(null);
        return;
      }
      const stop = () => {
        this.#waiting = undefined;
        resolve(null);
      };
      signal.addEventListener("abort", stop, { once: true });
      this.#waiting = (line) => {
        signal.removeEventListener("abort", stop);
        resolve(line);
      };
    });
  }

  async remember(line: TypedLine): Promise<void> {
    await this.#history.add(line.text);
  }

  beginTurn(line: TypedLine | null): TurnOutput {
    const view = this.#view.turn();
    this.#turn = view;
    this.#status.turnStarted();
    const images = (line?.images ?? []).map((path) => `[image: ${path}]`);
    if (line) {
      const text = [line.text, ...images].filter((part) => part !== "").join("\n");
      this.#screen.settle([EMPTY_LINE, this.#view.userMessage(text, Date.now()), EMPTY_LINE]);
    }
    this.#screen.redraw();
    return { show: (event) => this.#show(view, event), end: () => this.#endTurn(view) };
  }

  #show(view: TurnView, event: AgentEvent): void {
    view.accept(event);
    this.#status.event(event);
    this.#screen.settle(view.takeSettled());
  }

  #endTurn(view: TurnView): void {
    this.#screen.settle(view.takeSettled());
    if (this.#turn === view) this.#turn = undefined;
    this.#status.turnEnded();
    this.#screen.redraw();
  }

  command(line: TypedLine): void {
    this.#screen.settle([EMPTY_LINE, this.#view.userMessage(line.typed)]);
  }

  text(text: string, options: { readonly columns?: boolean | undefined } = {}): void {
    const block = options.columns ? columnsBlock(text) : proseBlock(text);
    this.#screen.settle([block]);
    this.#screen.redraw();
  }

  #settleNotice(level: "info" | "warning" | "error", text: string): void {
    this.#screen.settle([this.#view.notice({ level, text })]);
    this.#screen.redraw();
  }

  notice(text: string): void {
    this.#settleNotice("info", text);
  }

  warning(text: string): void {
    this.#settleNotice("warning", text);
  }

  error(text: string): void {
    this.#settleNotice("error", text);
  }

  acknowledge(line: TypedLine, what?: string): void {
    const typed = fitToWidth(line.text.trim().replaceAll(/\s+/gu, " "), Math.max(20, this.width - 8));
    this.#settleNotice("info", `❯ ${typed}${what ? `\n${what}` : ""}`);
  }

  choose(answer: ChooseAnswer): Promise<string | null> {
    return pickFrom(this.#screen, answer);
  }

  async request(request: Exclude<TerminalRequest, { kind: "background" }>): Promise<void> {
    if (request.kind === "copy") await this.#copy(request.text, request.what);
    else if (request.kind === "clear") this.#screen.scrollAway();
    else if (request.kind === "draft") this.setDraft(request.text);
    else if (request.kind === "attach") await this.#attach(request.path);
    else if (request.kind === "edit") await this.#edit();
    else if (request.kind === "redraw") this.#screen.repaint();
    else {
      await this.#changeDisplay(request.changes);
      this.notice(request.text);
    }
  }

  async #copy(text: string, what: string): Promise<void> {
    const { copyText } = await import("../clipboard.ts");
    const how = await copyText(text, this.#app.home.env, (bytes) => this.#screen.control(bytes));
    if (how === "program") this.notice(`copied ${what}`);
    else if (how === "terminal") this.notice(`sent ${what} to the terminal's clipboard; not every terminal accepts it`);
    else this.warning(`${what} is too long for the terminal's clipboard; /save writes it to a file`);
  }

  /** Settings of `display` for what is shown from now on. */
  async #changeDisplay(changes: { readonly [key: string]: unknown }): Promise<void> {
    this.#display = { ...this.#display, ...changes };
    this.#view = await loadView(this.#options, this.#display);
    for (const problem of this.#view.problems) this.warning(problem);
    this.#screen.redraw();
  }

  #toggleDetails(): void {
    const expanded = this.#display.details_mode === "expanded";
    void this.#changeDisplay({ details_mode: expanded ? "collapsed" : "expanded" });
    this.notice(expanded ? "tool details are hidden" : "tool details are shown from now on");
  }

  async #attach(path: string | undefined): Promise<void> {
    const attached = await attachImage(path, this.#app.home);
    if (attached.path) this.#composer.images = [...this.#composer.images, attached.path];
    this.notice(attached.message);
  }

  #takeImages(text: string): boolean {
    const paths = droppedImages(text);
    if (!paths) return false;
    for (const path of paths) void this.#attach(path);
    return true;
  }

  async #edit(): Promise<void> {
    const { editText } = await import("./external-editor.ts");
    const draft = this.#composer.buffer.typedLine.text;
    const edited = await this.#screen.release(() => editText(draft, this.#app.home.env));
    if ("problem" in edited) this.warning(edited.problem);
    else this.#composer.setDraft(edited.text);
  }

  clearDraft(): boolean {
    const cleared = this.#composer.clear();
    if (cleared) this.#screen.redraw();
    return cleared;
  }

  setDraft(text: string): void {
    this.#composer.setDraft(text);
    this.#screen.redraw();
  }

  bell(): void {
    this.#screen.bell();
  }

  close(): void {
    this.#ended = true;
    this.#waiting?.(null);
    this.#screen.stop();
  }
}
