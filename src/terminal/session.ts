// The interactive conversation, whatever it is shown on: turns, messages sent during a turn, goals, processes, leaving.
import type { App } from "../app/app.ts";
import type { SlashCommand } from "../core/chat/command.ts";
import type { ConversationOptions, OpenedConversation } from "../core/conversation.ts";
import type { AgentEvent } from "../core/event.ts";
import type { Human } from "../core/human.ts";
import { errorMessage } from "../lib/error-message.ts";
import { withImages } from "./attached-images.ts";
import { BackgroundTasks } from "./background-tasks.ts";
import type { ChatUi } from "./chat-ui.ts";
import { type CommandHost, CommandRunner } from "./command-runner.ts";
import { plainLine, type TypedLine, withPastes } from "./composer/typed-line.ts";
import { parseCommand } from "./parse-command.ts";
import { startJobs } from "./scheduled-jobs.ts";
import { runShellCommand } from "./shell-command.ts";

const EXIT_WINDOW_MS = 2_000;

export interface SessionOptions {
  readonly app: App;
  readonly ui: ChatUi;
  /** Builds the options of a conversation with this user. */
  options(human: Human): Promise<ConversationOptions>;
}

type Ended = Extract<AgentEvent, { type: "ended" }>;
type Next = { readonly line: TypedLine } | { readonly news: string } | { readonly goal: string };

export class ChatSession implements CommandHost {
  readonly app: App;
  readonly ui: ChatUi;
  readonly background: BackgroundTasks;
  readonly #options: SessionOptions["options"];
  readonly #runner: CommandRunner;
  #opened: OpenedConversation | undefined;
  #changes: Partial<ConversationOptions> = {};
  #running: AbortController | undefined;
  commands: readonly SlashCommand[] = [];
  readonly #pending: TypedLine[] = [];
  /** Messages about background processes for the agent, sent when it is idle. */
  readonly #processMessages: string[] = [];
  /** The message that continues toward the goal, sent when nothing else waits. */
  #goalStep: string | undefined;
  #waiting: AbortController | undefined;
  #leaving = false;
  #lastInterrupt = 0;
  #exitCode = 0;

  constructor({ app, ui, options }: SessionOptions) {
    this.app = app;
    this.ui = ui;
    this.#options = options;
    this.#runner = new CommandRunner(this);
    this.background = new BackgroundTasks({
      app,
      ui,
      options: async () => ({ ...(await options(ui.human)), ...this.#changes, resume: undefined, title: undefined }),
    });
  }

  get busy(): boolean {
    return this.#running !== undefined;
  }

  /** The open conversation; opens one when there is none. */
  async conversation(): Promise<OpenedConversation> {
    return this.#opened ?? (await this.#open());
  }

  async #open(): Promise<OpenedConversation> {
    const { ui, app } = this;
    const { resume: first, ...rest } = await this.#options(ui.human);
    const resume = "resume" in this.#changes ? this.#changes.resume : first;
    const opened = await app.openConversation({
      ...rest,
      ...this.#changes,
      ...(resume ? { resume } : {}),
      human: ui.human,
    });
    this.#opened = opened;
    this.commands = await app.commands();
    await ui.opened(opened, this.commands);
    return opened;
  }

  /** Closes the conversation and opens another one, or the same one with other options. */
  async reopen(changes: Partial<ConversationOptions>, reason: string | undefined): Promise<OpenedConversation> {
    await this.#opened?.conversation.close({ reason });
    this.#changes = { ...this.#changes, ...changes };
    this.#opened = undefined;
    return this.#open();
  }

  queue(text: string): void {
    this.#pending.push(plainLine(text));
    this.#waiting?.abort();
  }

  leave(): void {
    this.#leaving = true;
    this.#running?.abort();
    this.#waiting?.abort();
  }

  /** Ctrl-C clears the draft, then stops the turn; at an empty prompt a second press within two seconds leaves. */
  #interrupted(key: "ctrl-c" | "escape"): void {
    if (key === "escape") {
      this.#running?.abort();
      return;
    }
    const now = Date.now();
    const again = now - this.#lastInterrupt <= EXIT_WINDOW_MS;
    this.#lastInterrupt = 0;
    if (!this.#running && this.ui.clearDraft()) return;
    if (again) {
      this.leave();
      return;
    }
    this.#lastInterrupt = now;
    if (this.#running) this.#running.abort();
    else this.ui.notice("press Ctrl-C again to leave");
  }

  /** References in `prepared` text are not resolved, as in pasted blocks. */
  async turn(line: TypedLine, prepared?: { readonly untrusted: boolean; readonly hidden?: boolean }): Promise<void> {
    const opened = await this.conversation();
    const output = this.ui.beginTurn(prepared?.hidden ? null : line);
    const controller = new AbortController();
    let ended: Ended | undefined;
    this.#running = controller;
    try {
      for await (const event of this.#events(opened, line, prepared, controller.signal)) {
        output.show(event);
        if (event.type !== "ended") continue;
        if (event.undelivered) this.#pending.unshift(plainLine(event.undelivered));
        ended = event;
      }
      if (ended) await this.#continueGoal(opened, ended, controller.signal);
    } catch (error) {
      this.ui.error(errorMessage(error));
    } finally {
      this.#running = undefined;
      output.end();
    }
    if (this.app.config.display.bell_on_complete) this.ui.bell();
    void this.#showTitle(opened);
  }

  async *#events(
    opened: OpenedConversation,
    line: TypedLine,
    prepared: { readonly untrusted: boolean } | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent> {
    const input = prepared
      ? { text: line.text, warnings: [], untrusted: prepared.untrusted }
      : await this.app.prepareInput(line.typed, opened);
    for (const warning of input.warnings) this.ui.warning(warning);
    const text = withPastes(input.text, line.pastes);
    const content = await withImages(text, line.images ?? [], opened.pictures, signal);
    const foreign = line.pastes.size > 0 ? "pasted text" : (line.images ?? []).length > 0 ? "a picture" : undefined;
    yield* opened.conversation.send(content, {
      signal,
      tainted: input.untrusted || foreign !== undefined,
      taintOrigin: foreign,
      typed: prepared ? undefined : line.typed,
    });
  }

  async #showTitle({ conversation }: OpenedConversation): Promise<void> {
    const row = await this.app.store.getSession(conversation.sessionId).catch(() => null);
    this.ui.status({ title: row?.title ?? undefined });
  }

  /** Text that the user typed meanwhile is sent first. */
  async #continueGoal({ conversation }: OpenedConversation, ended: Ended, signal: AbortSignal): Promise<void> {
    const step = await conversation.goal.afterTurn(ended, signal);
    if (step.notice) this.ui.notice(step.notice);
    if (step.send !== undefined) this.#goalStep = step.send;
  }

  /** A message sent during a turn: interrupts, steers or waits, as configured, and is acknowledged. */
  #lineWhileBusy(line: TypedLine): void {
    const { ui } = this;
    const command = parseCommand(line, this.commands);
    if (command && "command" in command && command.command.whileBusy) {
      ui.acknowledge(line);
      void this.#runner.run(line);
      return;
    }
    if (command) {
      // A command never stops a turn.
      this.#pending.push(line);
      ui.acknowledge(line, "queued: it runs after this turn");
      return;
    }
    const mode = this.#runner.busyMode;
    const images = (line.images ?? []).length > 0;
    if (mode === "steer" && !images && this.#opened?.conversation.steer(line.text)) {
      ui.acknowledge(line, "noted: it is sent with the next tool result");
      return;
    }
    this.#pending.push(line);
    ui.acknowledge(
      line,
      mode === "interrupt" ? "stopping; your message is next" : "queued: it is sent after this turn",
    );
    if (mode === "interrupt") this.#running?.abort();
  }

  /** Shows a line for the user now and queues a message for the agent. */
  #onProcessEvent(notice: { conversationId: string; line: string; message: string }): void {
    if (notice.conversationId !== this.#opened?.conversation.conversationId) return;
    this.#processMessages.push(notice.message);
    this.ui.notice(notice.line);
    this.#waiting?.abort();
  }

  /** The next input: user messages first, then messages about processes, then the goal; null at the end of input. */
  async #next(): Promise<Next | null> {
    for (;;) {
      const queued = this.#pending.shift();
      if (queued !== undefined) return { line: queued };
      const news = this.#processMessages.shift();
      if (news !== undefined) return { news };
      const goal = this.#goalStep;
      this.#goalStep = undefined;
      // The goal may have been paused or cleared since.
      if (goal !== undefined && (await this.#opened?.conversation.goal.get())?.status === "active") return { goal };
      const waiting = new AbortController();
      this.#waiting = waiting;
      const line = this.#leaving ? null : await this.ui.line(waiting.signal);
      this.#waiting = undefined;
      if (line !== null) return { line };
      if (!waiting.signal.aborted || this.#leaving) return null;
    }
  }

  async #handle(next: Next): Promise<void> {
    if ("news" in next) return this.turn(plainLine(next.news), { untrusted: true, hidden: true });
    if ("goal" in next) return this.turn(plainLine(next.goal), { untrusted: false, hidden: true });
    const { line } = next;
    if (line.text.trim() === "" && (line.images ?? []).length === 0) return;
    await this.ui.remember(line);
    if (line.typed.startsWith("!") && line.typed.trim().length > 1) return this.#shell(line);
    if (/^\/[A-Za-z]/.test(line.typed.trim())) this.ui.command(line);
    if (!(await this.#runner.run(line))) await this.turn(line);
  }

  /** `!command`: runs it with the terminal tool; the agent reads the result with the next message. */
  async #shell(line: TypedLine): Promise<void> {
    const opened = await this.conversation();
    const output = this.ui.beginTurn(line);
    const controller = new AbortController();
    this.#running = controller;
    try {
      await runShellCommand(opened, line.text.trim().slice(1), { signal: controller.signal, ui: this.ui, output });
    } catch (error) {
      this.ui.error(errorMessage(error));
    } finally {
      this.#running = undefined;
      output.end();
    }
  }

  async run(): Promise<number> {
    const { ui, app } = this;
    await ui.start({
      lineWhileBusy: (line) => (this.#running ? this.#lineWhileBusy(line) : this.#pending.push(line)),
      interrupt: (key) => this.#interrupted(key),
      leave: () => this.leave(),
      complete: (command, args) => this.#runner.complete(command, args),
    });
    const release = this.#leaveOnSignals();
    let unsubscribe: (() => void) | undefined;
    let stopJobs: (() => Promise<void>) | undefined;
    try {
      await this.#open();
      unsubscribe = app.onProcessEvent((notice) => this.#onProcessEvent(notice));
      stopJobs = startJobs(app, (text) => ui.warning(text));
      for (let next = await this.#next(); next !== null && !this.#leaving; next = await this.#next())
        await this.#handle(next);
    } finally {
      unsubscribe?.();
      ui.close();
      await Promise.all([stopJobs?.(), this.background.close()]);
      await this.#opened?.conversation.close({ reason: "cli_close" });
      release();
    }
    return this.#exitCode;
  }

  /** The session that can be resumed, once something is stored. */
  async storedSession(): Promise<string | undefined> {
    const id = this.#opened?.conversation.sessionId;
    return id && (await this.app.store.getSession(id)) ? id : undefined;
  }

  /** Signals end the conversation: the turn stops, its state is stored, and the terminal is restored. */
  #leaveOnSignals(): () => void {
    const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
    const leave = (_name: NodeJS.Signals, code: number) => {
      this.#exitCode = 128 + code;
      this.leave();
    };
    for (const name of signals) process.once(name, leave);
    return () => {
      for (const name of signals) process.off(name, leave);
    };
  }
}
