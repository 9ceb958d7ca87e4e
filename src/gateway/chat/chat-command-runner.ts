// Slash commands of one chat: who may, what they answer, and what that changes in the chat's session.
import { randomBytes } from "node:crypto";
import { chatCommands, type Parsed, runOwn } from "../../commands/chat-commands.ts";
import { isForOwner } from "../../commands/command-roles.ts";
import type { CommandAnswer, SlashCommand } from "../../core/command.ts";
import { UserError } from "../../core/failure.ts";
import type { InboxRow } from "../../core/mailbox.ts";
import type { ButtonPress } from "../../core/platform.ts";
import type { Role } from "../../core/role.ts";
import type { GatewayContext } from "../control/gateway-context.ts";
import { mayUse } from "../inbound/access.ts";
import { scopedLedger, scopedStore } from "../inbound/scoped-store.ts";
import type { SessionEntry } from "../inbound/session-index.ts";
import type { Replies } from "../outbound/replies.ts";
import type { Agent } from "./agents.ts";
import { type ChatChoice, chatSignature, entryFor, openFor, sessionReset, sessionStarted } from "./chat-entry.ts";
import type { Asking, Prompts } from "./prompts.ts";
import type { QueuedMessage } from "./run-turn.ts";

/** What the desk needs of the chat that it belongs to. */
export interface ChatActions {
  readonly gateway: GatewayContext;
  readonly key: string;
  readonly replies: Replies;
  readonly prompts: Prompts;
  /** A turn runs. */
  running(): boolean;
  start(job: QueuedMessage): void;
  /** After the running turn. */
  queue(job: QueuedMessage): void;
  /** Ends the running turn; its answer is not sent. */
  interrupt(): Promise<void>;
  /** Ends the running turn and drops what waits. */
  stop(row: InboxRow): Promise<void>;
  /** Nothing else starts while the work changes the session. */
  holding(work: () => Promise<void>): Promise<void>;
  asking(row: InboxRow): Asking;
  /** Whose turn runs; undefined when none does. */
  runningRole(): Role | undefined;
}

interface Picker {
  readonly command: SlashCommand;
  readonly values: readonly string[];
}

/** Chats have fonts of many widths: columns become `name: words`. */
function inChat({ text, columns }: Extract<CommandAnswer, { type: "text" }>): string {
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

  get keeps(): boolean {
    return this.#yolo || Object.keys(this.#overrides).length > 0;
  }

  /** False when the button belongs to no list of choices. */
  async picked(row: InboxRow, press: ButtonPress): Promise<boolean> {
    const picked = /^pk:(\w+):(\d+)$/.exec(press.data);
    const picker = picked ? this.#pickers.get(picked[1] ?? "") : undefined;
    if (!picked || !picker) return false;
    const { name } = picker.command;
    if (!mayUse(name, row.event, this.#chat.gateway.access.section(row.event.source.platform))) return false;
    this.#pickers.delete(picked[1] ?? "");
    await this.#shared(row, picker.command, picker.values[Number(picked[2])] ?? "");
    return true;
  }

  async run(row: InboxRow, parsed: Parsed): Promise<void> {
    const { replies, gateway } = this.#chat;
    const { event } = row;
    if (parsed.kind === "unknown") {
      const near = parsed.near.length > 0 ? ` One of: ${parsed.near.map((each) => `/${each}`).join(" ")}.` : "";
      return replies.reply(row, `There is no command /${parsed.name}.${near} See /help`, "command");
    }
    const name = parsed.kind === "shared" ? parsed.command.name : parsed.name;
    if (!mayUse(name, event, gateway.access.section(event.source.platform)))
      return replies.reply(row, `/${name} is for the people who run this agent.`, "command");
    if (isForOwner(name, parsed.args) && !gateway.owners.has(event.source))
      return replies.reply(row, gateway.owners.refusal(event.source), "command");
    const denied = await this.#deniedByHook(row, name, parsed.args);
    if (denied !== undefined) return replies.reply(row, denied, "command");
    if (parsed.kind === "own") return this.#own(row, parsed);
    if (parsed.kind === "quick") {
      const answer = await gateway.opened.runQuickCommand(parsed.command);
      return replies.reply(row, answer, "command");
    }
    return this.#ofAllSurfaces(row, parsed.command, parsed.args);
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

  async #own(row: InboxRow, parsed: Extract<Parsed, { kind: "own" }>): Promise<void> {
    const { gateway, key, prompts, replies } = this.#chat;
    const answer = await runOwn(parsed.name, parsed.args, { gateway, row, key, prompts });
    if (typeof answer === "string") return replies.reply(row, answer, "command");
    return this.#chat.holding(async () => {
      await this.#chat.interrupt();
      await this.#answer(row, parsed.name, answer);
    });
  }

  async #ofAllSurfaces(row: InboxRow, command: SlashCommand, args: string): Promise<void> {
    const { name } = command;
    if (name === "stop") return this.#chat.stop(row);
    // A guest's words must not go on in a turn with the owner's rights.
    if (name === "steer" && this.#chat.runningRole() === "owner" && this.#chat.gateway.roleOf(row) === "guest")
      return this.#chat.replies.reply(row, "The owner's turn runs: /queue TEXT waits for its end.", "command");
    if (name === "new" || name === "resume")
      return this.#chat.holding(async () => {
        if (args !== "" || name === "new") await this.#chat.interrupt();
        await this.#shared(row, command, args);
      });
    if (this.#chat.running() && !command.whileBusy) {
      const wait = `/${name} has to wait until the running turn is done. /stop ends it.`;
      return this.#chat.replies.reply(row, wait, "command");
    }
    return this.#shared(row, command, args);
  }

  async #shared(row: InboxRow, command: SlashCommand, args: string): Promise<void> {
    const { gateway, key, prompts } = this.#chat;
    const { app } = gateway.opened;
    const { entry } = await entryFor(gateway, key, row);
    const running = this.#chat.running();
    const agent = (running ? gateway.agents.peek(key) : undefined) ?? (await this.#openSomehow(row, entry));
    try {
      const answer = await command.run(args, {
        // Others' sessions must not be listed, named or resumed.
        store: gateway.isOwner(row.event.source) ? app.store : scopedStore(app.store, gateway.tenant(row.event.source)),
        handoffs: app.handoffs,
        ledger: gateway.isOwner(row.event.source) ? app.ledger : scopedLedger(app, gateway.tenant(row.event.source)),
        opened: agent.opened,
        conversation: agent.opened.conversation,
        source: row.platform,
        human: prompts.human(() => this.#chat.asking(row)),
        busy: running,
        commands: await chatCommands(gateway),
        yolo: this.#yolo,
        setYolo: async (on) => {
          this.#yolo = on;
          await app.setYolo(agent.opened.conversation.sessionId, on);
        },
      });
      await gateway.index.moved(key, agent.opened.conversation.sessionId);
      if (answer.type === "choose") await this.#choose(row, command, answer);
      else await this.#answer(row, command.name, answer);
    } finally {
      // A command may have changed the log.
      agent.messages = undefined;
      if (!running && !this.#chat.running()) gateway.agents.release(key);
    }
  }

  async #answer(row: InboxRow, name: string, answer: Exclude<CommandAnswer, { type: "choose" }>): Promise<void> {
    const { replies } = this.#chat;
    if (answer.type === "text") return replies.reply(row, inChat(answer), "command");
    if (answer.type === "quit") return replies.finish(row, "command");
    if (answer.type === "switch") return this.#switch(row, answer);
    if (answer.type === "model") return this.#model(row, answer);
    const job = { row, text: answer.text, tainted: answer.prepared?.untrusted ?? false };
    if (!this.#chat.running()) return this.#chat.start(job);
    this.#chat.queue(job);
    await replies.say(row, `⏳ Queued by /${name}: it is next after this turn.`, "ack");
  }

  /** Taken only when a conversation with it could be opened: with a model that does not exist the chat would be dead. */
  async #model(row: InboxRow, { model, provider }: Extract<CommandAnswer, { type: "model" }>): Promise<void> {
    const { gateway, key, replies } = this.#chat;
    const overrides = { model, ...(provider ? { provider } : {}) };
    const { entry } = await entryFor(gateway, key, row);
    await gateway.agents.drop(key);
    await this.#open(row, entry, overrides);
    this.#overrides = overrides;
    return replies.reply(row, `This session goes on with ${model}.`, "command");
  }

  /** The chat's conversation, which its owner releases. */
  #open(row: InboxRow, entry: SessionEntry, overrides: ChatChoice["overrides"]): Promise<Agent> {
    const { gateway, key, prompts } = this.#chat;
    const chat = { human: prompts.human(() => this.#chat.asking(row)), overrides };
    return gateway.agents.take(key, chatSignature(gateway, entry, chat), () => openFor(gateway, chat, { entry }, row));
  }

  /** The same with the usual model where the chosen one has become impossible: /model and /new are the ways out. */
  async #openSomehow(row: InboxRow, entry: SessionEntry): Promise<Agent> {
    try {
      return await this.#open(row, entry, this.#overrides);
    } catch (error) {
      if (!(error instanceof UserError) || Object.keys(this.#overrides).length === 0) throw error;
      return this.#open(row, entry, {});
    }
  }

  /** The chat goes on in another session, or in a new one. */
  async #switch(row: InboxRow, { sessionId, title }: Extract<CommandAnswer, { type: "switch" }>): Promise<void> {
    const { replies, gateway, key } = this.#chat;
    const { index, agents, opened } = gateway;
    const { store } = opened.app;
    const old = index.get(key)?.session_id;
    await agents.drop(key);
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
    if (title) await this.#begin(row, entry.session_id, title);
    const named = title ? `A new session starts here: "${title}".` : "A new session starts here.";
    return replies.reply(row, sessionId === null ? named : `Back in session ${sessionId}.`, "command");
  }

  /** A session that has its name before its first message. */
  async #begin(row: InboxRow, id: string, title: string): Promise<void> {
    const { gateway } = this.#chat;
    const { source } = row.event;
    const { store } = gateway.opened.app;
    const whose = gateway.isOwner(source) ? {} : { userId: gateway.tenant(source) };
    await store.createSession({ id, source: source.platform, ...whose });
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
