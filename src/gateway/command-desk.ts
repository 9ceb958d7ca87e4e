// Slash commands of one chat: who may, what they answer, and what that changes in the chat's session.
import { randomBytes } from "node:crypto";
import type { CommandAnswer, SlashCommand } from "../core/command.ts";
import type { InboxRow } from "../core/mailbox.ts";
import type { ButtonPress } from "../core/platform.ts";
import { mayUse } from "./access.ts";
import { chatCommands, type Parsed, runOwn } from "./chat-commands.ts";
import { entryFor, openFor, sessionReset, signatureOf } from "./chat-entry.ts";
import type { Office } from "./office.ts";
import type { Asking, Prompts } from "./prompts.ts";
import type { Replies } from "./replies.ts";
import type { Job } from "./run-turn.ts";
import { scopedStore } from "./scoped-store.ts";

/** What the desk needs of the chat that it belongs to. */
export interface ChatDoor {
  readonly office: Office;
  readonly key: string;
  readonly replies: Replies;
  readonly prompts: Prompts;
  /** A turn runs. */
  running(): boolean;
  start(job: Job): void;
  /** After the running turn. */
  queue(job: Job): void;
  /** Ends the running turn; its answer is not sent. */
  interrupt(): Promise<void>;
  /** Ends the running turn and drops what waits. */
  stop(row: InboxRow): Promise<void>;
  /** Nothing else starts while the work changes the session. */
  holding(work: () => Promise<void>): Promise<void>;
  asking(row: InboxRow): Asking;
}

interface Picker {
  readonly command: SlashCommand;
  readonly values: readonly string[];
}

export class CommandDesk {
  readonly #door: ChatDoor;
  readonly #pickers = new Map<string, Picker>();
  #overrides: { model?: string; provider?: string } = {};
  #yolo = false;

  constructor(door: ChatDoor) {
    this.#door = door;
  }

  /** The model that this chat chose for its session. */
  get overrides(): { readonly model?: string; readonly provider?: string } {
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
    if (!mayUse(name, row.event, this.#door.office.access.section(row.event.source.platform))) return false;
    this.#pickers.delete(picked[1] ?? "");
    await this.#shared(row, picker.command, picker.values[Number(picked[2])] ?? "");
    return true;
  }

  async run(row: InboxRow, parsed: Parsed): Promise<void> {
    const { replies, office } = this.#door;
    const { event } = row;
    if (parsed.kind === "unknown") {
      const near = parsed.near.length > 0 ? ` One of: ${parsed.near.map((each) => `/${each}`).join(" ")}.` : "";
      return replies.reply(row, `There is no command /${parsed.name}.${near} See /help`, "command");
    }
    const name = parsed.kind === "shared" ? parsed.command.name : parsed.name;
    if (!mayUse(name, event, office.access.section(event.source.platform)))
      return replies.reply(row, `/${name} is for the people who run this agent.`, "command");
    const denied = await this.#deniedByHook(row, name, parsed.args);
    if (denied !== undefined) return replies.reply(row, denied, "command");
    if (parsed.kind === "own") return this.#own(row, parsed);
    if (parsed.kind === "quick") {
      const answer = await office.opened.runQuickCommand(parsed.command);
      return replies.reply(row, answer, "command");
    }
    return this.#ofAllSurfaces(row, parsed.command, parsed.args);
  }

  async #deniedByHook(row: InboxRow, name: string, args: string): Promise<string | undefined> {
    const { source } = row.event;
    const about = { platform: source.platform, user_id: source.userId, args };
    const decisions = await this.#door.office.hooks.run(`command:${name}`, about);
    const denied = decisions.find((each) => (each as { decision?: unknown }).decision === "deny") as
      | { message?: string }
      | undefined;
    return denied ? (denied.message ?? `/${name} is not allowed here.`) : undefined;
  }

  async #own(row: InboxRow, parsed: Extract<Parsed, { kind: "own" }>): Promise<void> {
    const { office, key, prompts, replies } = this.#door;
    const answer = await runOwn(parsed.name, parsed.args, { office, row, key, prompts });
    if (typeof answer === "string") return replies.reply(row, answer, "command");
    return this.#door.holding(async () => {
      await this.#door.interrupt();
      await this.#answer(row, parsed.name, answer);
    });
  }

  async #ofAllSurfaces(row: InboxRow, command: SlashCommand, args: string): Promise<void> {
    const { name } = command;
    if (name === "stop") return this.#door.stop(row);
    if (name === "new" || name === "resume")
      return this.#door.holding(async () => {
        if (args !== "" || name === "new") await this.#door.interrupt();
        await this.#shared(row, command, args);
      });
    if (this.#door.running() && !command.whileBusy) {
      const wait = `/${name} has to wait until the running turn is done. /stop ends it.`;
      return this.#door.replies.reply(row, wait, "command");
    }
    return this.#shared(row, command, args);
  }

  async #shared(row: InboxRow, command: SlashCommand, args: string): Promise<void> {
    const { office, key, prompts } = this.#door;
    const { app } = office.opened;
    const { entry } = await entryFor(office, key, row);
    const chat = { human: prompts.human(() => this.#door.asking(row)), overrides: this.#overrides };
    const running = this.#door.running();
    const agent =
      (running ? office.agents.peek(key) : undefined) ??
      (await office.agents.take(key, signatureOf(office, entry, chat), () => openFor(office, chat, { entry }, row)));
    try {
      const answer = await command.run(args, {
        // Others' sessions must not be listed, named or resumed.
        store: office.isOwner(row.event.source) ? app.store : scopedStore(app.store, office.tenant(row.event.source)),
        ledger: app.ledger,
        opened: agent.opened,
        conversation: agent.opened.conversation,
        source: row.platform,
        human: chat.human,
        busy: running,
        commands: await chatCommands(office),
        yolo: this.#yolo,
        setYolo: async (on) => {
          this.#yolo = on;
          await app.setYolo(agent.opened.conversation.sessionId, on);
        },
      });
      await office.index.moved(key, agent.opened.conversation.sessionId);
      if (answer.type === "choose") await this.#choose(row, command, answer);
      else await this.#answer(row, command.name, answer);
    } finally {
      // A command may have changed the log.
      agent.messages = undefined;
      if (!running && !this.#door.running()) office.agents.release(key);
    }
  }

  async #answer(row: InboxRow, name: string, answer: Exclude<CommandAnswer, { type: "choose" }>): Promise<void> {
    const { replies, office, key } = this.#door;
    if (answer.type === "text") return replies.reply(row, answer.text, "command");
    if (answer.type === "quit") return replies.finish(row, "command");
    if (answer.type === "switch") return this.#switch(row, answer.sessionId);
    if (answer.type === "model") {
      this.#overrides = { model: answer.model, ...(answer.provider ? { provider: answer.provider } : {}) };
      await office.agents.drop(key);
      return replies.reply(row, `This session goes on with ${answer.model}.`, "command");
    }
    const job = { row, text: answer.text, tainted: answer.prepared?.untrusted ?? false };
    if (!this.#door.running()) return this.#door.start(job);
    this.#door.queue(job);
    return replies.say(row, `⏳ Queued by /${name}: it is next after this turn.`, "ack");
  }

  /** The chat goes on in another session, or in a new one. */
  async #switch(row: InboxRow, sessionId: string | null): Promise<void> {
    const { replies, office, key } = this.#door;
    const { index, agents, opened } = office;
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
    await sessionReset(office, entry, row.event.source);
    const told = sessionId === null ? "A new session starts here." : `Back in session ${sessionId}.`;
    return replies.reply(row, told, "command");
  }

  async #choose(
    row: InboxRow,
    command: SlashCommand,
    answer: Extract<CommandAnswer, { type: "choose" }>,
  ): Promise<void> {
    const { replies, office } = this.#door;
    if (!office.platform(row.platform)?.capabilities.buttons) {
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
