// The interactive conversation, line by line: prompt, streamed answers, slash commands, and text typed during a turn.
import { join } from "node:path";
import type { App } from "../app/app.ts";
import { type CommandAnswer, parseCommandLine, type SlashCommand } from "../core/chat/command.ts";
import type { ConversationOptions, OpenedConversation } from "../core/conversation.ts";
import type { AgentEvent } from "../core/event.ts";
import type { Home } from "../core/home.ts";
import type { Human } from "../core/human.ts";
import { errorMessage } from "../lib/error-message.ts";
import { pick } from "../lib/terminal/picker.ts";
import type { Terminal } from "../lib/terminal/terminal.ts";
import { fitToWidth } from "../lib/text/text-width.ts";
import { EventPrinter } from "./event-printer.ts";
import { plainLine, type TypedLine, withPastes } from "./line-editor.ts";
import { LineReader } from "./line-reader.ts";
import { recap } from "./recap.ts";
import { terminalHuman } from "./terminal-human.ts";

const EXIT_WINDOW_MS = 2_000;

/** Parses a slash command. A pasted block cannot be a command, only its argument. */
function parseCommand(line: TypedLine, commands: readonly SlashCommand[]): ReturnType<typeof parseCommandLine> {
  const parsed = parseCommandLine(line.typed, commands);
  return parsed && "command" in parsed ? { ...parsed, args: withPastes(parsed.args, line.pastes) } : parsed;
}

export interface InteractiveOptions {
  readonly home: Home;
  readonly terminal: Terminal;
  readonly app: App;
  /** Show what tools report while they run. */
  readonly verbose: boolean;
  /** Builds the options of a conversation with this user. */
  options(human: Human): Promise<ConversationOptions>;
}

/** Why the session ends when another one opens; undefined when the same session continues with another model. */
function switchReason(answer: Extract<CommandAnswer, { type: "switch" | "model" }>): string | undefined {
  if (answer.type === "model") return undefined;
  return answer.sessionId === null ? "new_session" : "resumed_other";
}

class Session {
  readonly #terminal: Terminal;
  readonly #app: App;
  readonly #reader: LineReader;
  readonly #verbose: boolean;
  readonly #options: InteractiveOptions["options"];
  #opened: OpenedConversation | undefined;
  #changes: Partial<ConversationOptions> = {};
  #running: AbortController | undefined;
  #commands: readonly SlashCommand[] = [];
  readonly #pending: TypedLine[] = [];
  #printer: EventPrinter | undefined;
  /** Messages about background processes for the agent, sent when it is idle. */
  readonly #processMessages: string[] = [];
  /** The message that continues toward the goal, sent when nothing else waits. */
  #goalStep: string | undefined;
  #waiting: AbortController | undefined;
  #leaving = false;
  #yolo = false;
  #lastInterrupt = 0;
  #exitCode = 0;

  constructor({ home, terminal, app, verbose, options }: InteractiveOptions) {
    this.#terminal = terminal;
    this.#app = app;
    this.#verbose = verbose;
    this.#options = options;
    this.#reader = new LineReader(terminal, join(home.path, ".hermes_history"));
  }

  get #human(): Human {
    return terminalHuman(this.#terminal, {
      approvalMs: this.#app.config.approvals.timeout * 1000,
      reader: this.#reader,
    });
  }

  async #open(): Promise<OpenedConversation> {
    const options = await this.#options(this.#human);
    const { resume: first, ...rest } = options;
    const resume = "resume" in this.#changes ? this.#changes.resume : first;
    const opened = await this.#app.openConversation({
      ...rest,
      ...this.#changes,
      ...(resume ? { resume } : {}),
      human: this.#human,
    });
    this.#opened = opened;
    this.#commands = await this.#app.commands();
    const terminal = this.#terminal;
    for (const notice of opened.notices) terminal.out(terminal.style("dim", terminal.forOut(notice)));
    if (opened.caching) terminal.out(terminal.style("dim", terminal.forOut(opened.caching)));
    if (opened.resumed) terminal.out(await recap(this.#app.store, opened.conversation.sessionId, terminal));
    return opened;
  }

  /** Ctrl-C stops the turn; at the prompt it clears the line. A second Ctrl-C within two seconds exits. */
  #interrupted(): void {
    const now = Date.now();
    const again = now - this.#lastInterrupt <= EXIT_WINDOW_MS;
    this.#lastInterrupt = now;
    const terminal = this.#terminal;
    if (this.#running && !again) this.#running.abort();
    else if (!this.#running && this.#reader.clearDraft()) this.#lastInterrupt = 0;
    else if (again) this.#leave();
    else this.#reader.printAbove(() => terminal.err(terminal.style("dim", "  press Ctrl-C again to leave")));
  }

  #leave(): void {
    this.#leaving = true;
    this.#running?.abort();
    this.#reader.close();
  }

  /** References in `prepared` text are not resolved, as in pasted blocks. */
  async #turn(line: TypedLine, prepared?: { readonly untrusted: boolean }): Promise<void> {
    const opened = this.#opened ?? (await this.#open());
    const display = this.#app.config.display;
    const printer = new EventPrinter(this.#terminal, {
      quiet: false,
      stream: true,
      reasoning: display.show_reasoning,
      toolProgress: this.#verbose ? "verbose" : String(display.tool_progress),
    });
    const controller = new AbortController();
    let ended: Extract<AgentEvent, { type: "ended" }> | undefined;
    this.#running = controller;
    this.#printer = printer;
    try {
      const input = prepared
        ? { text: line.text, warnings: [], untrusted: prepared.untrusted }
        : await this.#app.prepareInput(line.typed, opened);
      const terminal = this.#terminal;
      for (const warning of input.warnings) terminal.err(`warning: ${terminal.forErr(warning)}`);
      const pasted = line.pastes.size > 0;
      const options = {
        signal: controller.signal,
        tainted: input.untrusted || pasted,
        taintOrigin: pasted ? "pasted text" : undefined,
        typed: prepared ? undefined : line.typed,
      };
      for await (const event of opened.conversation.send(withPastes(input.text, line.pastes), options)) {
        printer.show(event);
        if (event.type !== "ended") continue;
        if (event.undelivered) this.#pending.unshift(plainLine(event.undelivered));
        ended = event;
      }
      if (ended) await this.#continueGoal(opened, ended, controller.signal);
    } finally {
      this.#running = undefined;
      this.#printer = undefined;
    }
    if (display.bell_on_complete) this.#terminal.raw("\u0007");
  }

  /** Text that the user typed meanwhile is sent first. */
  async #continueGoal(
    { conversation }: OpenedConversation,
    ended: Extract<AgentEvent, { type: "ended" }>,
    signal: AbortSignal,
  ): Promise<void> {
    const step = await conversation.goal.afterTurn(ended, signal);
    if (step.notice) this.#terminal.err(this.#terminal.style("dim", `  ${this.#terminal.forErr(step.notice)}`));
    if (step.send !== undefined) this.#goalStep = step.send;
  }

  /** Handles text typed during a turn: interrupts, steers or queues, as configured, and acknowledges it. */
  #typedWhileBusy(line: TypedLine): void {
    const command = parseCommand(line, this.#commands);
    if (command && "command" in command && command.command.whileBusy) {
      this.#acknowledge(line);
      void this.#command(line);
      return;
    }
    const mode = this.#app.config.display.busy_input_mode;
    if (mode === "steer" && this.#opened?.conversation.steer(line.text)) {
      this.#acknowledge(line, "noted: it is sent with the next tool result");
      return;
    }
    this.#pending.push(line);
    this.#acknowledge(
      line,
      mode === "interrupt" ? "stopping; your message is next" : "queued: it is sent after this turn",
    );
    if (mode === "interrupt") this.#running?.abort();
  }

  /** Echoes the typed line, which was not drawn while the answer was being written. */
  #acknowledge(line: TypedLine, what?: string): void {
    const terminal = this.#terminal;
    const width = Math.min(terminal.columns, 100) - 6;
    const typed = fitToWidth(terminal.forErr(line.text.trim().replaceAll(/\s+/gu, " ")), width);
    const shown = terminal.style("dim", `  ❯ ${typed}${what ? `\n  ${what}` : ""}`);
    if (this.#printer) this.#printer.note(shown);
    else terminal.err(shown);
  }

  async #answer(answer: CommandAnswer, retry: (choice: string) => Promise<void>): Promise<void> {
    const terminal = this.#terminal;
    if (answer.type === "text") terminal.out(terminal.forOut(answer.text));
    else if (answer.type === "quit") this.#quit();
    else if (answer.type === "send" && answer.prepared) await this.#turn(plainLine(answer.text), answer.prepared);
    else if (answer.type === "send") this.#pending.push(plainLine(answer.text));
    else if (answer.type === "choose") {
      const chosen = await this.#choose(answer.title, answer.choices);
      if (chosen) await retry(chosen);
    } else if (answer.type === "terminal") {
      if (answer.request.kind === "display") terminal.out(terminal.forOut(answer.request.text));
      else terminal.err("This needs the full conversation screen.");
    } else {
      await this.#opened?.conversation.close({ reason: switchReason(answer) });
      const sessionId = answer.type === "switch" ? answer.sessionId : (this.#opened?.conversation.sessionId ?? null);
      const known = sessionId && (await this.#app.store.getSession(sessionId)) ? sessionId : undefined;
      const { resume: _, ...changes } = this.#changes;
      this.#changes = {
        ...changes,
        ...(answer.type === "model"
          ? { model: answer.model, ...(answer.provider ? { provider: answer.provider } : {}) }
          : {}),
      };
      Object.assign(this.#changes, { resume: known, title: answer.type === "switch" ? answer.title : undefined });
      this.#opened = undefined;
      const opened = await this.#open();
      if (answer.type === "switch" && answer.sessionId === null) await this.#notifyReset(opened.conversation.sessionId);
      const note = answer.type === "model" && answer.note ? ` · ${answer.note}` : "";
      const model = terminal.forOut(`${opened.identity.model}${note}`);
      terminal.out(terminal.style("dim", `session ${opened.conversation.sessionId} · ${model}`));
    }
  }

  async #notifyReset(sessionId: string): Promise<void> {
    const { hooks } = this.#app;
    if (hooks.listens("on_session_reset"))
      await hooks.run("on_session_reset", { session_id: sessionId, platform: "cli" });
  }

  #quit(): void {
    this.#leaving = true;
    this.#running?.abort();
  }

  async #choose(title: string, choices: readonly { label: string; value: string }[]): Promise<string | null> {
    if (!this.#terminal.interactive) {
      this.#terminal.out(this.#terminal.forOut(choices.map((choice) => choice.label).join("\n")));
      return null;
    }
    return this.#reader.release(() => pick(this.#terminal, title, choices));
  }

  /** Commands by exact name, then skills, then abbreviations. */
  async #findCommand(line: TypedLine): Promise<ReturnType<typeof parseCommandLine>> {
    const parsed = parseCommand(line, this.#commands);
    const word = line.typed.trim().slice(1).split(/\s/, 1)[0]?.toLowerCase() ?? "";
    const exact =
      parsed && "command" in parsed && [parsed.command.name, ...(parsed.command.aliases ?? [])].includes(word);
    if (!parsed || exact) return parsed;
    return parseCommand(line, [...this.#commands, ...(await this.#app.skillCommands())]);
  }

  async #command(line: TypedLine): Promise<boolean> {
    const commands = this.#commands;
    const parsed = await this.#findCommand(line);
    if (!parsed) return false;
    const terminal = this.#terminal;
    if ("unknown" in parsed) {
      terminal.err(
        `unknown command /${parsed.unknown}${parsed.candidates.length > 0 ? `; one of: ${parsed.candidates.map((name) => `/${name}`).join(" ")}` : ""}. See /help`,
      );
      return true;
    }
    const opened = this.#opened ?? (await this.#open());
    const run = async (args: string): Promise<void> => {
      try {
        const answer = await parsed.command.run(args, {
          store: this.#app.store,
          handoffs: this.#app.handoffs,
          ledger: this.#app.ledger,
          opened,
          conversation: opened.conversation,
          source: "cli",
          human: this.#human,
          busy: this.#running !== undefined,
          width: terminal.columns,
          commands,
          yolo: this.#yolo,
          setYolo: async (on) => {
            this.#yolo = on;
            await this.#app.setYolo(opened.conversation.sessionId, on);
          },
        });
        await this.#answer(answer, run);
      } catch (error) {
        terminal.err(`error: ${terminal.forErr(errorMessage(error))}`);
      }
    };
    await run(parsed.args);
    return true;
  }

  async #listen(): Promise<void> {
    await this.#reader.open();
    this.#reader.onInterrupt = () => this.#interrupted();
    this.#reader.onUnexpectedLine = (line) => (this.#running ? this.#typedWhileBusy(line) : this.#pending.push(line));
  }

  /** Prints a line for the user now and queues a message for the agent. */
  #onProcessEvent(notice: { conversationId: string; line: string; message: string }): void {
    if (notice.conversationId !== this.#opened?.conversation.conversationId) return;
    const terminal = this.#terminal;
    const shown = terminal.style("dim", `  ${terminal.forErr(notice.line)}`);
    this.#processMessages.push(notice.message);
    this.#waiting?.abort();
    this.#reader.printAbove(() => (this.#printer ? this.#printer.note(shown) : terminal.err(shown)));
  }

  /** The next input: user messages first, then messages about processes; null at the end of input. */
  async #next(): Promise<{ line: TypedLine } | { news: string } | { goal: string } | null> {
    for (;;) {
      const queued = this.#pending.shift();
      if (queued !== undefined) return { line: queued };
      const news = this.#processMessages.shift();
      if (news !== undefined) return { news };
      const goalStep = this.#goalStep;
      this.#goalStep = undefined;
      // The goal may have been paused or cleared since.
      if (goalStep !== undefined && (await this.#opened?.conversation.goal.get())?.status === "active")
        return { goal: goalStep };
      const waiting = new AbortController();
      this.#waiting = waiting;
      const line = await this.#reader.line(this.#terminal.style("cyan", "❯ "), waiting.signal);
      this.#waiting = undefined;
      if (line !== null) return { line };
      if (!waiting.signal.aborted || this.#leaving) return null;
    }
  }

  async run(): Promise<number> {
    await this.#listen();
    const release = this.#leaveOnSignals();
    await this.#open();
    const unsubscribe = this.#app.onProcessEvent((notice) => this.#onProcessEvent(notice));
    const terminal = this.#terminal;
    terminal.out(terminal.style("dim", "Type a message, /help for commands, Ctrl-D to leave."));
    while (!this.#leaving) {
      const next = await this.#next();
      if (next === null) break;
      if ("news" in next) {
        await this.#turn(plainLine(next.news), { untrusted: true });
        continue;
      }
      if ("goal" in next) {
        await this.#turn(plainLine(next.goal), { untrusted: false });
        continue;
      }
      const { line } = next;
      if (line.text.trim() === "") continue;
      await this.#reader.remember(line.text);
      if (!(await this.#command(line))) await this.#turn(line);
    }
    unsubscribe();
    this.#reader.close();
    await this.#opened?.conversation.close({ reason: "cli_close" });
    release();
    const id = this.#opened?.conversation.sessionId;
    if (id && (await this.#app.store.getSession(id)))
      terminal.out(terminal.style("dim", `Resume with: hermes -r ${id}`));
    return this.#exitCode;
  }

  /** Signals end the conversation: the turn stops, its state is stored, and the terminal is restored. */
  #leaveOnSignals(): () => void {
    const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
    const leave = (_name: NodeJS.Signals, code: number) => {
      this.#exitCode = 128 + code;
      this.#leave();
    };
    for (const name of signals) process.once(name, leave);
    return () => {
      for (const name of signals) process.off(name, leave);
    };
  }
}

/** Runs the interactive conversation until the user leaves; returns the exit code. */
export function interact(options: InteractiveOptions): Promise<number> {
  return new Session(options).run();
}
