// One session of one chat: messages in order, one turn at a time, and what happens to those that arrive meanwhile.
import { randomBytes } from "node:crypto";
import type { CommandAnswer, SlashCommand } from "../core/command.ts";
import type { InboxRow } from "../core/mailbox.ts";
import { accessOf, mayUse } from "./access.ts";
import { ownCommands, parseChatCommand, runOwn } from "./chat-commands.ts";
import type { LiveReply } from "./live-reply.ts";
import type { Office } from "./office.ts";
import { type Asking, Prompts } from "./prompts.ts";
import { Replies } from "./replies.ts";
import { entryFor, type Job, openFor, signatureOf, Turn } from "./run-turn.ts";
import { scopedStore } from "./scoped-store.ts";

const ACK_MS = 30_000;

interface Running {
  readonly job: Job;
  readonly controller: AbortController;
  readonly startedAt: number;
  readonly steered: InboxRow[];
  readonly work: Promise<void>;
  tool: string;
  live: LiveReply | undefined;
  superseded: boolean;
}

interface Picker {
  readonly command: SlashCommand;
  readonly values: readonly string[];
}

export class ChatSession {
  readonly key: string;
  readonly #office: Office;
  readonly #replies: Replies;
  readonly #prompts = new Prompts();
  readonly #waiting: Job[] = [];
  readonly #pickers = new Map<string, Picker>();
  #chain: Promise<void> = Promise.resolve();
  #running: Running | undefined;
  #overrides: { model?: string; provider?: string } = {};
  #yolo = false;
  #ackAt = 0;
  #abandoned = false;
  /** A command changes the session: nothing else starts until it is done. */
  #held = false;

  constructor(office: Office, key: string) {
    this.#office = office;
    this.#replies = new Replies(office);
    this.key = key;
  }

  get busy(): boolean {
    return this.#running !== undefined || this.#waiting.length > 0;
  }

  /** Routed in the order of arrival; resolves when it is decided what happens with it. */
  receive(row: InboxRow): Promise<void> {
    this.#chain = this.#chain
      .then(() => this.#route(row))
      .catch(async (error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        this.#office.log("error", `${this.key}: ${why}`);
        await this.#replies.reply(row, `⚠️ ${why}`, "failed");
      });
    return this.#chain;
  }

  /** The running turn ends here and goes on after the next start. */
  async abandon(): Promise<void> {
    this.#abandoned = true;
    this.#prompts.cancel();
    this.#running?.controller.abort();
    await this.#running?.work;
  }

  async settled(): Promise<void> {
    while (this.#running) await this.#running.work;
  }

  async #route(row: InboxRow): Promise<void> {
    const { event } = row;
    if (this.#office.draining()) return;
    if (event.edited) return this.#replies.finish(row, "dropped");
    const access = await accessOf(event, this.#office.access);
    if (!access.allowed) return this.#refuse(row, access.offer);
    // A turn that a crash cut off goes on where it was.
    if (row.state === "running") return this.#start({ row });
    if (event.press) return this.#press(row);
    const command = await parseChatCommand(this.#office, event.text);
    if (command) return this.#command(row, command);
    if (this.#prompts.takesText && event.text !== "" && this.#prompts.text(event.text))
      return this.#replies.finish(row, "answer");
    if (!this.#replies.where(row)) return this.#replies.finish(row, "dropped");
    if (this.#running) return this.#whileBusy(row);
    this.#start({ row });
  }

  async #refuse(row: InboxRow, offer: "pair" | "nothing"): Promise<void> {
    const { source } = row.event;
    this.#office.log("info", `a message of ${source.platform} user ${source.userId ?? "?"} was not let in`);
    if (offer === "nothing" || !source.userId) return this.#replies.finish(row, "unauthorised");
    const user = { id: source.userId, name: source.userName ?? "" };
    const code = await this.#office.opened.pairing.request(source.platform, user);
    if (!code) return this.#replies.finish(row, "unauthorised");
    const how = `hermes pairing approve ${source.platform} ${code}`;
    const text = `I don't know you yet. To let you in, the owner of this agent runs:\n\`${how}\`\nThe code is valid for an hour.`;
    return this.#replies.reply(row, text, "unauthorised");
  }

  async #press(row: InboxRow): Promise<void> {
    const { press } = row.event;
    if (!press) return;
    const connection = this.#office.connection(row.platform);
    const picked = /^pk:(\w+):(\d+)$/.exec(press.data);
    const picker = picked ? this.#pickers.get(picked[1] ?? "") : undefined;
    if (picked && picker) {
      this.#pickers.delete(picked[1] ?? "");
      void connection?.answerPress?.(press);
      return this.#shared(row, picker.command, picker.values[Number(picked[2])] ?? "");
    }
    const told = this.#prompts.press(press.data);
    void connection?.answerPress?.(press, told ?? "This question is closed.");
    return this.#replies.finish(row, "press");
  }

  async #command(row: InboxRow, parsed: NonNullable<Awaited<ReturnType<typeof parseChatCommand>>>): Promise<void> {
    const { event } = row;
    const name = parsed.kind === "shared" ? parsed.command.name : parsed.name;
    if (parsed.kind === "unknown") {
      const near = parsed.near.length > 0 ? ` One of: ${parsed.near.map((each) => `/${each}`).join(" ")}.` : "";
      return this.#replies.reply(row, `There is no command /${parsed.name}.${near} See /help`, "command");
    }
    if (!mayUse(name, event, this.#office.access.section(event.source.platform)))
      return this.#replies.reply(row, `/${name} is for the people who run this agent.`, "command");
    const decisions = await this.#office.hooks.run(`command:${name}`, {
      platform: event.source.platform,
      user_id: event.source.userId,
      args: parsed.args,
    });
    const denied = decisions.find((each) => (each as { decision?: unknown }).decision === "deny") as
      | { message?: string }
      | undefined;
    if (denied) return this.#replies.reply(row, denied.message ?? `/${name} is not allowed here.`, "command");
    if (parsed.kind === "own") {
      const place = { office: this.#office, row, key: this.key, prompts: this.#prompts, busy: this.busy };
      return this.#replies.reply(row, await runOwn(parsed.name, parsed.args, place), "command");
    }
    if (name === "stop") return this.#stop(row);
    if (name === "new" || name === "resume") return this.#change(row, parsed.command, parsed.args);
    if (this.#running && !parsed.command.whileBusy)
      return this.#replies.reply(row, `/${name} has to wait until the running turn is done. /stop ends it.`, "command");
    return this.#shared(row, parsed.command, parsed.args);
  }

  async #change(row: InboxRow, command: SlashCommand, args: string): Promise<void> {
    this.#held = true;
    try {
      if (args !== "" || command.name === "new") await this.#interrupt();
      await this.#shared(row, command, args);
    } finally {
      this.#held = false;
      this.#next();
    }
  }

  #next(): void {
    if (this.#running || this.#held || this.#abandoned || this.#office.draining()) return;
    const job = this.#waiting.shift();
    if (job) this.#start(job);
  }

  async #stop(row: InboxRow): Promise<void> {
    const dropped = this.#waiting.splice(0);
    const wasRunning = this.#running !== undefined;
    await this.#interrupt();
    for (const job of dropped) await this.#replies.finish(job.row, "interrupted");
    return this.#replies.reply(row, wasRunning ? "Stopped." : "Nothing is running.", "command");
  }

  async #interrupt(): Promise<void> {
    if (!this.#running) return;
    this.#running.superseded = true;
    this.#prompts.cancel();
    this.#running.controller.abort();
    await this.#running.work;
  }

  async #shared(row: InboxRow, command: SlashCommand, args: string): Promise<void> {
    const { app } = this.#office.opened;
    const { entry } = await entryFor(this.#office, this.key, row);
    const chat = { human: this.#prompts.human(() => this.#asking(row)), overrides: this.#overrides };
    const running = this.#running !== undefined;
    const agent =
      (running ? this.#office.agents.peek(this.key) : undefined) ??
      (await this.#office.agents.take(this.key, signatureOf(entry, chat), () =>
        openFor(this.#office, chat, entry, row),
      ));
    try {
      const shared = (await app.commands()).filter((each) => each.name !== "quit");
      const answer = await command.run(args, {
        // Others' sessions must not be listed, named or resumed.
        store: this.#office.isOwner(row.event.source)
          ? app.store
          : scopedStore(app.store, this.#office.tenant(row.event.source)),
        ledger: app.ledger,
        opened: agent.opened,
        conversation: agent.opened.conversation,
        source: row.platform,
        human: chat.human,
        busy: running,
        commands: [...shared, ...ownCommands()].sort((a, b) => a.name.localeCompare(b.name)),
        yolo: this.#yolo,
        setYolo: async (on) => {
          this.#yolo = on;
          await app.setYolo(agent.opened.conversation.sessionId, on);
        },
      });
      await this.#office.index.moved(this.key, agent.opened.conversation.sessionId);
      await this.#answer(row, command, answer);
    } finally {
      if (!running && !this.#running) this.#office.agents.release(this.key);
    }
  }

  async #answer(row: InboxRow, command: SlashCommand, answer: CommandAnswer): Promise<void> {
    const { index, agents, opened } = this.#office;
    const { source } = row.event;
    if (answer.type === "text") return this.#replies.reply(row, answer.text, "command");
    if (answer.type === "quit") return this.#replies.finish(row, "command");
    if (answer.type === "send") {
      const job = { row, text: answer.text, tainted: answer.prepared?.untrusted ?? false };
      if (!this.#running) return this.#start(job);
      this.#waiting.push(job);
      return this.#replies.say(row, "⏳ Queued: it is next after this turn.", "ack");
    }
    if (answer.type === "choose") return this.#choose(row, command, answer);
    if (answer.type === "model") {
      this.#overrides = { model: answer.model, ...(answer.provider ? { provider: answer.provider } : {}) };
      await agents.drop(this.key);
      return this.#replies.reply(row, `This session goes on with ${answer.model}.`, "command");
    }
    const old = index.get(this.key)?.session_id;
    await agents.drop(this.key);
    const reason = answer.sessionId === null ? "session_reset" : "session_switch";
    if (old && old !== answer.sessionId && (await opened.app.store.getSession(old)))
      await opened.app.store.endSession(old, reason);
    this.#overrides = {};
    if (answer.sessionId !== null) await opened.app.store.reopenSession(answer.sessionId);
    await index.renew(
      this.key,
      source,
      answer.sessionId === null ? { is_fresh_reset: true } : { sessionId: answer.sessionId },
    );
    await this.#office.hooks.run("session:reset", {
      platform: source.platform,
      user_id: source.userId,
      session_key: this.key,
    });
    return this.#replies.reply(
      row,
      answer.sessionId === null ? "A new session starts here." : `Back in session ${answer.sessionId}.`,
      "command",
    );
  }

  async #choose(
    row: InboxRow,
    command: SlashCommand,
    answer: Extract<CommandAnswer, { type: "choose" }>,
  ): Promise<void> {
    const platform = this.#office.platform(row.platform);
    if (!platform?.capabilities.buttons) {
      const lines = answer.choices.map((choice) => `/${command.name} ${choice.value}  ${choice.label}`);
      return this.#replies.reply(row, [answer.title, ...lines].join("\n"), "command");
    }
    const id = randomBytes(4).toString("hex");
    const shown = answer.choices.slice(0, 20);
    this.#pickers.set(id, { command, values: shown.map((choice) => choice.value) });
    const oldest = this.#pickers.size > 10 ? this.#pickers.keys().next().value : undefined;
    if (oldest) this.#pickers.delete(oldest);
    const buttons = shown.map((choice, index) => [{ label: choice.label.slice(0, 60), data: `pk:${id}:${index}` }]);
    return this.#replies.reply(row, answer.title, "command", buttons);
  }

  /** Interrupt, steer or queue, as configured; always acknowledged. */
  async #whileBusy(row: InboxRow): Promise<void> {
    const running = this.#running;
    if (!running) return this.#start({ row });
    const mode = this.#office.opened.app.config.display.busy_input_mode;
    const photo = (row.event.attachments ?? []).length > 0;
    const agent = this.#office.agents.peek(this.key);
    if (mode === "steer" && !photo && agent?.opened.conversation.steer(row.event.text)) {
      running.steered.push(row);
      return this.#acknowledge(row, running, "⏩ Noted: I take it into account at the next step");
    }
    this.#waiting.push({ row });
    if (mode !== "interrupt" || photo) return this.#acknowledge(row, running, "⏳ Queued: it is next");
    running.superseded = true;
    this.#prompts.cancel();
    running.controller.abort();
    return this.#acknowledge(row, running, "⚡ Interrupting; your message is next");
  }

  async #acknowledge(row: InboxRow, running: Running, what: string): Promise<void> {
    const now = this.#office.now();
    if (!this.#office.opened.app.config.display.busy_ack_enabled || now - this.#ackAt < ACK_MS) return;
    this.#ackAt = now;
    const seconds = Math.round((now - running.startedAt) / 1000);
    await this.#replies.say(row, `${what} (${seconds} s so far${running.tool ? `, at ${running.tool}` : ""}).`, "ack");
  }

  #start(job: Job): void {
    const where = this.#replies.where(job.row);
    if (!where) return void this.#replies.finish(job.row, "dropped");
    const controller = new AbortController();
    const running: Running = {
      job,
      controller,
      startedAt: this.#office.now(),
      steered: [],
      work: Promise.resolve(),
      tool: "",
      live: undefined,
      superseded: false,
    };
    this.#running = running;
    const turn = new Turn(
      this.#office,
      {
        key: this.key,
        human: this.#prompts.human(() => this.#asking(job.row)),
        overrides: this.#overrides,
        signal: controller.signal,
        superseded: () => running.superseded,
        abandoned: () => this.#abandoned,
        steered: () => running.steered,
        onTool: (name) => {
          running.tool = name;
        },
        onLive: (live) => {
          running.live = live;
        },
      },
      job,
      where,
    );
    (running as { work: Promise<void> }).work = turn.run().then(({ undelivered }) => {
      this.#running = undefined;
      if (this.#abandoned) return;
      if (undelivered) this.#waiting.unshift(...running.steered.map((row) => ({ row })));
      this.#next();
    });
  }

  #asking(row: InboxRow): Asking {
    const { config } = this.#office.opened.app;
    const platform = this.#office.platform(row.platform);
    return {
      buttons: platform?.capabilities.buttons ?? false,
      approvalMs: config.approvals.gateway_timeout * 1000,
      clarifyMs: config.agent.clarify_timeout * 1000,
      waiting: (on) => this.#running?.live?.typing(!on),
      show: (text, buttons) => this.#replies.show(row, text, buttons),
    };
  }
}
