// Runs slash commands and does what they answer.
import type { App } from "../app/app.ts";
import type { Choice, CommandAnswer, CommandContext, SlashCommand } from "../core/chat/command.ts";
import type { TerminalRequest } from "../core/chat/terminal-request.ts";
import type { ConversationOptions, OpenedConversation } from "../core/conversation.ts";
import { UserError } from "../core/failure.ts";
import { errorMessage } from "../lib/error-message.ts";
import type { BackgroundTasks } from "./background-tasks.ts";
import type { ChatUi } from "./chat-ui.ts";
import { plainLine, type TypedLine } from "./composer/typed-line.ts";
import { parseCommand } from "./parse-command.ts";

/** The conversation that commands act on. */
export interface CommandHost {
  readonly app: App;
  readonly ui: ChatUi;
  readonly background: BackgroundTasks;
  readonly commands: readonly SlashCommand[];
  readonly busy: boolean;
  /** The open conversation; opens one when there is none. */
  conversation(): Promise<OpenedConversation>;
  /** Closes the conversation and opens another one, or the same one with other options. */
  reopen(changes: Partial<ConversationOptions>, reason: string | undefined): Promise<OpenedConversation>;
  turn(line: TypedLine, prepared?: { readonly untrusted: boolean }): Promise<void>;
  /** Sends the text when nothing runs. */
  queue(text: string): void;
  leave(): void;
}

/** Why the session ends when another one opens; undefined when the same session continues with another model. */
function switchReason(answer: Extract<CommandAnswer, { type: "switch" | "model" }>): string | undefined {
  if (answer.type === "model") return undefined;
  return answer.sessionId === null ? "new_session" : "resumed_other";
}

export class CommandRunner {
  readonly #session: CommandHost;
  #yolo = false;
  #busyMode: string | undefined;

  constructor(session: CommandHost) {
    this.#session = session;
  }

  /** What a message does while the agent works. */
  get busyMode(): string {
    return this.#busyMode ?? this.#session.app.config.display.busy_input_mode;
  }

  #context(opened: OpenedConversation): CommandContext {
    const session = this.#session;
    const { app, ui } = session;
    return {
      store: app.store,
      handoffs: app.handoffs,
      ledger: app.ledger,
      opened,
      conversation: opened.conversation,
      source: "cli",
      human: ui.human,
      busy: session.busy,
      commands: session.commands,
      width: ui.width,
      tasks: () => session.background.lines(),
      yolo: this.#yolo,
      setYolo: async (on) => {
        this.#yolo = on;
        await app.setYolo(opened.conversation.sessionId, on);
        ui.status({ yolo: on });
      },
    };
  }

  async complete(command: SlashCommand, args: string): Promise<readonly Choice[]> {
    return (await command.complete?.(args, this.#context(await this.#session.conversation()))) ?? [];
  }

  /** Commands by exact name, then skills, then abbreviations. */
  async #find(line: TypedLine): Promise<ReturnType<typeof parseCommand>> {
    const { commands, app } = this.#session;
    const parsed = parseCommand(line, commands);
    const word = line.typed.trim().slice(1).split(/\s/, 1)[0]?.toLowerCase() ?? "";
    const exact =
      parsed && "command" in parsed && [parsed.command.name, ...(parsed.command.aliases ?? [])].includes(word);
    if (!parsed || exact) return parsed;
    return parseCommand(line, [...commands, ...(await app.skillCommands())]);
  }

  /** False when the line is no command. */
  async run(line: TypedLine): Promise<boolean> {
    const parsed = await this.#find(line);
    if (!parsed) return false;
    const { ui } = this.#session;
    if ("unknown" in parsed) {
      const names = parsed.candidates.map((name) => `/${name}`).join(" ");
      ui.error(`unknown command /${parsed.unknown}${names === "" ? "" : `; one of: ${names}`}. See /help`);
      return true;
    }
    try {
      await this.#execute(parsed.command, parsed.args);
    } catch (error) {
      const hint = error instanceof UserError && error.hint ? `\n${error.hint}` : "";
      ui.error(`${errorMessage(error)}${hint}`);
    }
    return true;
  }

  async #execute(command: SlashCommand, args: string): Promise<void> {
    const opened = await this.#session.conversation();
    const answer = await command.run(args, this.#context(opened));
    await this.#answer(answer, (choice) => this.#execute(command, choice));
  }

  async #answer(answer: CommandAnswer, again: (args: string) => Promise<void>): Promise<void> {
    const session = this.#session;
    const { ui } = session;
    if (answer.type === "text") ui.text(answer.text, { columns: answer.columns });
    else if (answer.type === "quit") session.leave();
    else if (answer.type === "send" && answer.prepared && !session.busy)
      await session.turn(plainLine(answer.text), answer.prepared);
    else if (answer.type === "send") session.queue(answer.text);
    else if (answer.type === "choose") {
      const args = await ui.choose(answer);
      if (args !== null) await again(args);
    } else if (answer.type === "terminal") await this.#request(answer.request);
    else await this.#switch(answer);
  }

  async #request(request: TerminalRequest): Promise<void> {
    const { ui, background } = this.#session;
    if (request.kind === "background") {
      background.start(request.task);
      return;
    }
    if (request.kind === "display") {
      const mode = request.changes.busy_input_mode;
      if (typeof mode === "string") this.#busyMode = mode;
      ui.status({ busyMode: this.busyMode });
    }
    await ui.request(request);
  }

  async #switch(answer: Extract<CommandAnswer, { type: "switch" | "model" }>): Promise<void> {
    const session = this.#session;
    const { ui, app } = session;
    const current = (await session.conversation()).conversation.sessionId;
    const wanted = answer.type === "switch" ? answer.sessionId : current;
    const known = wanted && (await app.store.getSession(wanted)) ? wanted : undefined;
    const changes =
      answer.type === "model"
        ? { model: answer.model, ...(answer.provider ? { provider: answer.provider } : {}), resume: known }
        : { resume: known, title: answer.title };
    if (answer.type === "switch" && answer.clear) await ui.request({ kind: "clear" });
    const opened = await session.reopen(changes, switchReason(answer));
    if (answer.type === "switch" && answer.sessionId === null) await this.#notifyReset(opened.conversation.sessionId);
    ui.notice(`session ${opened.conversation.sessionId} · ${opened.identity.model}`);
    if (answer.type === "model" && answer.note) ui.notice(answer.note);
    if (answer.type === "switch" && answer.draft !== undefined) ui.setDraft(answer.draft);
  }

  async #notifyReset(sessionId: string): Promise<void> {
    const { hooks } = this.#session.app;
    if (hooks.listens("on_session_reset"))
      await hooks.run("on_session_reset", { session_id: sessionId, platform: "cli" });
  }
}
