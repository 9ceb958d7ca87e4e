// Runs the slash commands of one chat: checks who may use them, and applies their answers to the chat's session.
import { randomBytes } from "node:crypto";
import type { ChatCommandContext } from "../../core/chat/chat-command.ts";
import { type ChatCommandAnswer, type CommandAnswer, isForOwner, type SlashCommand } from "../../core/chat/command.ts";
import type { ButtonPress } from "../../core/chat/platform.ts";
import type { Role } from "../../core/chat/role.ts";
import { UserError } from "../../core/failure.ts";
import type { InboxRow } from "../../core/store/mailbox.ts";
import { withTenant } from "../../core/store/tenant.ts";
import type { GatewayContext } from "../control/gateway-context.ts";
import { mayUse } from "../inbound/access.ts";
import { handoffsFor, ledgerFor, storeFor } from "../inbound/scoped-store.ts";
import type { SessionEntry } from "../inbound/session-index.ts";
import type { Replies } from "../outbound/replies.ts";
import type { Agent } from "./agents.ts";
import { type ChatChoice, chatSignature, entryFor, openFor, sessionReset, sessionStarted } from "./chat-entry.ts";
import { runGatewayRequest } from "./gateway-requests.ts";
import { chatCommands, type ParsedCommand } from "./parse-chat-command.ts";
import type { Asking, Prompts } from "./prompts.ts";
import type { QueuedMessage } from "./run-turn.ts";

/** The parts of a chat that the runner uses. */
export interface ChatActions {
  readonly gateway: GatewayContext;
  readonly key: string;
  readonly replies: Replies;
  readonly prompts: Prompts;
  /** True while a turn runs. */
  running(): boolean;
  start(queued: QueuedMessage): void;
  /** Runs the message after the current turn. */
  queue(queued: QueuedMessage): void;
  /** Ends the running turn; its answer is not sent. */
  interrupt(): Promise<void>;
  /** Ends the running turn and drops queued messages. */
  stop(row: InboxRow): Promise<void>;
  /** Starts no turn while `work` changes the session. */
  pauseTurns(work: () => Promise<void>): Promise<void>;
  asking(row: InboxRow): Asking;
  /** Role of the sender whose turn runs; undefined when none runs. */
  runningRole(): Role | undefined;
}

interface Picker {
  readonly command: SlashCommand;
  readonly values: readonly string[];
}

/** Chats have no monospaced font: aligned columns become `name: value`. */
function formatForChat({ text, columns }: Extract<CommandAnswer, { type: "text" }>): string {
  return columns ? text.replaceAll(/(?<=\S) {2,}(?=\S)/g, ": ") : text;
}

export class ChatCommandRunner {
  readonly #chat: ChatActions;
  readonly #pickers = new Map<string, Picker>();
  #overrides: { model?: string | undefined; provider?: string } = {};
  #yolo = false;

  constructor(chat: ChatActions) {
    this.#chat = chat;
  }

  /** The model that this chat chose for its session. */
  get overrides(): { readonly model?: string | undefined; readonly provider?: string } {
    return this.#overrides;
  }

  get hasState(): boolean {
    return this.#yolo || Object.keys(this.#overrides).length > 0;
  }

  /** False when the button is not one of an open list of choices. */
  async picked(row: InboxRow, press: ButtonPress): Promise<boolean> {
    const picked = /^pk:(\w+):(\d+)$/.exec(press.data);
    const picker = picked ? this.#pickers.get(picked[1] ?? "") : undefined;
    if (!picked || !picker) return false;
    const { name } = picker.command;
    if (!mayUse(name, row.event, this.#chat.gateway.access.section(row.event.source.platform))) return false;
    const value = picker.values[Number(picked[2])] ?? "";
    if (isForOwner(picker.command, value) && !this.#chat.gateway.owners.has(row.event.source)) return false;
    this.#pickers.delete(picked[1] ?? "");
    await this.#runShared(row, picker.command, value);
    return true;
  }

  async run(row: InboxRow, parsed: ParsedCommand): Promise<void> {
    const { replies, gateway } = this.#chat;
    const { event } = row;
    if ("unknown" in parsed) {
      const { candidates } = parsed;
      const near = candidates.length > 0 ? ` One of: ${candidates.map((each) => `/${each}`).join(" ")}.` : "";
      return replies.reply(row, `There is no command /${parsed.unknown}.${near} See /help`, "command");
    }
    const { command, args } = parsed;
    if (!mayUse(command.name, event, gateway.access.section(event.source.platform)))
      return replies.reply(row, `/${command.name} is only for the admins of this agent.`, "command");
    if (isForOwner(command, args) && !gateway.owners.has(event.source))
      return replies.reply(row, gateway.owners.refusal(event.source), "command");
    const denied = await this.#deniedByHook(row, command.name, args);
    if (denied !== undefined) return replies.reply(row, denied, "command");
    if (command.runInChat) return this.#runInChat(row, command.name, await command.runInChat(args, this.#context(row)));
    return this.#runInSession(row, command, args);
  }

  #context({ event }: InboxRow): ChatCommandContext {
    const { gateway, key } = this.#chat;
    const { source } = event;
    return {
      source,
      sessionKey: key,
      isOwner: gateway.owners.has(source),
      sharesHome: gateway.sharesHome(source),
      hasHomeChannel: gateway.destination(source.platform) !== null,
    };
  }

  async #deniedByHook(row: InboxRow, name: string, args: string): Promise<string | undefined> {
    const { source } = row.event;
    const about = { platform: source.platform, user_id: source.userId, args };
    const decisions = await this.#chat.gateway.hooks.run(`command:${name}`, about);
    const denied = decisions.find((each) => (each as { decision?: unknown }).decision === "deny") as
      | { message?: string | undefined }
      | undefined;
    return denied ? (denied.message ?? `/${name} is not allowed here.`) : undefined;
  }

  async #runInChat(row: InboxRow, name: string, given: ChatCommandAnswer): Promise<void> {
    const { gateway, prompts, replies } = this.#chat;
    const answer = given.type === "gateway" ? await runGatewayRequest(given.request, { gateway, row, prompts }) : given;
    if (typeof answer === "string") return replies.reply(row, answer, "command");
    if (answer.type === "text") return replies.reply(row, formatForChat(answer), "command");
    return this.#chat.pauseTurns(async () => {
      await this.#chat.interrupt();
      await this.#answer(row, name, answer);
    });
  }

  async #runInSession(row: InboxRow, command: SlashCommand, args: string): Promise<void> {
    const { name } = command;
    if (name === "stop") {
      await this.#chat.gateway.agents.peek(this.#chat.key)?.opened.conversation.goal.pause("you stopped the turn");
      return this.#chat.stop(row);
    }
    // A guest's text must not enter a turn that has the owner's rights.
    if (name === "steer" && this.#chat.runningRole() === "owner" && this.#chat.gateway.roleFor(row) !== "owner")
      return this.#chat.replies.reply(row, "A turn of the owner is running: /queue TEXT waits for its end.", "command");
    if (name === "new" || name === "resume")
      return this.#chat.pauseTurns(async () => {
        if (args !== "" || name === "new") await this.#chat.interrupt();
        await this.#runShared(row, command, args);
      });
    if (this.#chat.running() && !command.whileBusy) {
      const wait = `/${name} has to wait for the end of the running turn. /stop ends it.`;
      return this.#chat.replies.reply(row, wait, "command");
    }
    return this.#runShared(row, command, args);
  }

  async #runShared(row: InboxRow, command: SlashCommand, args: string): Promise<void> {
    const { gateway, key, prompts } = this.#chat;
    const { app } = gateway.opened;
    const { entry } = await entryFor(gateway, key, row);
    const running = this.#chat.running();
    const agent = (running ? gateway.agents.peek(key) : undefined) ?? (await this.#openWithFallback(row, entry));
    try {
      const answer = await command.run(args, {
        store: storeFor(gateway, row.event.source),
        ledger: ledgerFor(gateway, row.event.source),
        handoffs: handoffsFor(gateway, row.event.source),
        opened: agent.opened,
        conversation: agent.opened.conversation,
        source: row.platform,
        human: prompts.human(() => this.#chat.asking(row)),
        busy: running,
        commands: await chatCommands(gateway.opened),
        yolo: this.#yolo,
        setYolo: async (on) => {
          this.#yolo = on;
          await app.setYolo(agent.opened.conversation.sessionId, on);
        },
      });
      await gateway.index.moved(key, agent.opened.conversation.sessionId);
      if (answer.type === "choose") await this.#choose(row, command, answer);
      else if (answer.type === "terminal")
        await this.#chat.replies.reply(row, `/${command.name} works in the terminal only.`, "command");
      else await this.#answer(row, command.name, answer);
    } finally {
      // A command may have changed the log.
      agent.messages = undefined;
      if (!running && !this.#chat.running()) gateway.agents.release(key);
    }
  }

  async #answer(
    row: InboxRow,
    name: string,
    answer: Exclude<CommandAnswer, { type: "choose" | "terminal" }>,
  ): Promise<void> {
    const { replies } = this.#chat;
    if (answer.type === "text") return replies.reply(row, formatForChat(answer), "command");
    if (answer.type === "quit") return replies.finish(row, "command");
    if (answer.type === "switch") return this.#switch(row, answer);
    if (answer.type === "model") return this.#model(row, answer);
    const queued = { row, text: answer.text, tainted: answer.prepared?.untrusted ?? false };
    if (!this.#chat.running()) return this.#chat.start(queued);
    this.#chat.queue(queued);
    await replies.say(row, `⏳ Queued by /${name}: next after this turn.`, "ack");
  }

  /** Switches only when a conversation with the model opens: a chat with an unknown model could not answer any more. */
  async #model(row: InboxRow, { model, provider, note }: Extract<CommandAnswer, { type: "model" }>): Promise<void> {
    const { gateway, key, replies } = this.#chat;
    const overrides = { model, ...(provider ? { provider } : {}) };
    const { entry } = await entryFor(gateway, key, row);
    await gateway.agents.drop(key);
    await this.#open(row, entry, overrides);
    this.#overrides = overrides;
    return replies.reply(row, `This session now uses ${model}${note ? ` (${note})` : ""}.`, "command");
  }

  /** The chat's conversation; the caller releases it. */
  #open(row: InboxRow, entry: SessionEntry, overrides: ChatChoice["overrides"]): Promise<Agent> {
    const { gateway, key, prompts } = this.#chat;
    const chat = { human: prompts.human(() => this.#chat.asking(row)), overrides };
    return gateway.agents.take(key, chatSignature(gateway, entry, chat), () => openFor(gateway, chat, { entry }, row));
  }

  /** Falls back to the default model when the chosen one cannot be opened, so that /model and /new still work. */
  async #openWithFallback(row: InboxRow, entry: SessionEntry): Promise<Agent> {
    try {
      return await this.#open(row, entry, this.#overrides);
    } catch (error) {
      if (!(error instanceof UserError) || Object.keys(this.#overrides).length === 0) throw error;
      return this.#open(row, entry, {});
    }
  }

  /** Moves the chat to another session, or to a new one. */
  async #switch(row: InboxRow, { sessionId, title }: Extract<CommandAnswer, { type: "switch" }>): Promise<void> {
    const { replies, gateway, key } = this.#chat;
    const { index, agents, opened } = gateway;
    const { store } = opened.app;
    const old = index.get(key)?.session_id;
    await agents.drop(key, sessionId === null ? "session_reset" : undefined);
    if (old && old !== sessionId && (await store.getSession(old)))
      await store.endSession(old, sessionId === null ? "session_reset" : "session_switch");
    this.#overrides = {};
    this.#yolo = false;
    if (sessionId !== null) await store.reopenSession(sessionId);
    const entry = await index.renew(
      key,
      row.event.source,
      sessionId === null ? { is_fresh_reset: true } : { sessionId },
    );
    await sessionReset(gateway, entry, row.event.source);
    if (sessionId === null) await sessionStarted(gateway, entry, row.event.source);
    if (sessionId !== null)
      return replies.reply(row, title ? `Continued in "${title}".` : `Resumed session ${sessionId}.`, "command");
    if (title) await this.#createSession(row, entry.session_id, title);
    return replies.reply(row, title ? `New session: "${title}".` : "New session.", "command");
  }

  /** Creates the session before its first message, to give it a title. */
  async #createSession(row: InboxRow, id: string, title: string): Promise<void> {
    const { gateway } = this.#chat;
    const { source } = row.event;
    const { store } = gateway.opened.app;
    const tenant = gateway.sharesHome(source) ? null : gateway.tenant(source);
    const userId = source.userId ?? undefined;
    await store.createSession({ id, source: source.platform, userId, modelConfig: withTenant(undefined, tenant) });
    await store.setSessionTitle(id, title);
  }

  async #choose(
    row: InboxRow,
    command: SlashCommand,
    answer: Extract<CommandAnswer, { type: "choose" }>,
  ): Promise<void> {
    const { replies, gateway } = this.#chat;
    if (!gateway.platform(row.platform)?.capabilities.buttons) {
      const lines = answer.choices.map((choice) => `/${command.name} ${choice.value}  ${choice.label}`);
      return replies.reply(row, [answer.title, ...lines].join("\n"), "command");
    }
    const id = randomBytes(4).toString("hex");
    const shown = answer.choices.slice(0, 20);
    this.#pickers.set(id, { command, values: shown.map((choice) => choice.value) });
    const oldest = this.#pickers.size > 10 ? this.#pickers.keys().next().value : undefined;
    if (oldest) this.#pickers.delete(oldest);
    const buttons = shown.map((choice, index) => [{ label: choice.label.slice(0, 60), data: `pk:${id}:${index}` }]);
    return replies.reply(row, answer.title, "command", buttons);
  }
}
