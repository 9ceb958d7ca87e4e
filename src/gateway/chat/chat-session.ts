// One session of one chat: handles messages in order, one turn at a time, and those that arrive during a turn.

import { UserError } from "../../core/failure.ts";
import { absentHuman, type Human } from "../../core/human.ts";
import type { InboxRow } from "../../core/store/mailbox.ts";
import { mirror } from "../../delivery/api/mirror.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { GatewayContext } from "../control/gateway-context.ts";
import { checkAccess } from "../inbound/access.ts";
import { Album } from "../inbound/album.ts";
import { dispatchHook } from "../inbound/dispatch-hook.ts";
import type { LiveReply } from "../outbound/live-reply.ts";
import { type Change, Replies } from "../outbound/replies.ts";
import { ChatCommandRunner } from "./chat-command-runner.ts";
import { ownerAsking } from "./owner-asking.ts";
import { parseChatCommand } from "./parse-chat-command.ts";
import { type Asking, Prompts } from "./prompts.ts";
import { type QueuedMessage, Turn, type TurnResult } from "./run-turn.ts";

const ACK_MS = 30_000;
const CLOSED = "⏹ Not decided: the turn was stopped.";
const RESTARTING =
  "♻️ Not decided: the gateway is restarting. The question is repeated afterwards if it is still needed.";

interface Running {
  readonly queued: QueuedMessage;
  readonly controller: AbortController;
  readonly startedAt: number;
  readonly steered: InboxRow[];
  readonly work: Promise<void>;
  tool: string;
  live: LiveReply | undefined;
  superseded: boolean;
}

/** The last acknowledgement of a message that arrived during a turn. */
interface Acknowledgement {
  readonly what: string;
  readonly at: number;
  readonly change: Change;
  count: number;
}

export class ChatSession {
  readonly key: string;
  readonly #gateway: GatewayContext;
  readonly #replies: Replies;
  readonly #prompts: Prompts;
  readonly #album = new Album((row) => this.#take(row));
  readonly #commandRunner: ChatCommandRunner;
  readonly #waiting: QueuedMessage[] = [];
  /** Messages that jobs or other processes delivered to this chat during a turn. */
  readonly #delivered: { readonly from: string; readonly text: string }[] = [];
  #chain: Promise<void> = Promise.resolve();
  #running: Running | undefined;
  #ack: Acknowledgement | undefined;
  /** Number of messages that are being routed. */
  #routing = 0;
  #abandoned = false;
  /** A command is changing the session: no turn starts until it has finished. */
  #turnsPaused = false;

  constructor(gateway: GatewayContext, key: string) {
    this.#gateway = gateway;
    this.#prompts = new Prompts(gateway.questions);
    this.#replies = new Replies(gateway);
    this.key = key;
    this.#commandRunner = new ChatCommandRunner({
      gateway,
      key,
      replies: this.#replies,
      prompts: this.#prompts,
      running: () => this.#running !== undefined,
      start: (queued) => this.#start(queued),
      queue: (queued) => void this.#waiting.push(queued),
      interrupt: () => this.#interrupt(),
      stop: (row) => this.#stop(row),
      pauseTurns: (work) => this.#pauseTurns(work),
      asking: (row) => this.#asking(this.#running?.queued.row ?? row),
      runningRole: () => (this.#running ? gateway.roleFor(this.#running.queued.row) : undefined),
    });
  }

  get busy(): boolean {
    return this.#running !== undefined || this.#waiting.length > 0;
  }

  /**
   * This object has state that exists nowhere else: a message in progress, an open question, a chosen model, or an open
   * conversation that asks the user through it.
   */
  get hasState(): boolean {
    const asks = this.#prompts.open > 0 || this.#gateway.agents.peek(this.key) !== undefined;
    return asks || this.#routing > 0 || this.#album.open || this.#commandRunner.hasState;
  }

  /** Handles messages in the order of arrival. */
  receive(row: InboxRow): void {
    if (!this.#album.takes(row)) this.#take(row);
  }

  #take(row: InboxRow): void {
    this.#routing += 1;
    this.#chain = this.#chain
      .then(() => this.#route(row))
      .catch((error: unknown) => this.#failed(row, error))
      .finally(() => {
        this.#routing -= 1;
      });
  }

  /** Reports the failure in the chat. When that cannot be stored either, the message is retried at the next start. */
  async #failed(row: InboxRow, error: unknown): Promise<void> {
    const why = errorMessage(error);
    const hint = error instanceof UserError && error.hint ? `\n${error.hint}` : "";
    this.#gateway.log("error", `${this.key}: ${why}`);
    try {
      await this.#replies.reply(row, `⚠️ ${why}${hint}`, "failed");
    } catch (failure) {
      this.#gateway.log("error", `${this.key}: message ${row.id} stays unfinished: ${String(failure)}`);
    }
  }

  /** Adds a message delivered by a job or another process to the session, as soon as no turn runs. */
  mirror(from: string, text: string): Promise<void> {
    this.#delivered.push({ from, text });
    this.#chain = this.#chain.then(async () => {
      if (!this.#running) await this.#keepDelivered();
    });
    return this.#chain;
  }

  async #keepDelivered(): Promise<void> {
    const { index, agents, opened, log } = this.#gateway;
    const entry = index.get(this.key);
    if (this.#delivered.length === 0 || !entry) return;
    try {
      // An open conversation does not reread its log.
      await agents.drop(this.key);
      for (const { from, text } of this.#delivered.splice(0))
        await mirror(opened.app.store, entry.session_id, from, text);
    } catch (error) {
      log("warning", `${this.key}: a delivery was not added to the session: ${errorMessage(error)}`);
    }
  }

  /** Interrupts the running turn; it resumes after the next start. */
  async abandon(): Promise<void> {
    this.#abandoned = true;
    this.#running?.controller.abort();
    await this.#running?.work;
  }

  /** While the gateway stops: resolves when no turn runs. A turn that waits for an answer is abandoned. */
  async settled(): Promise<void> {
    if (this.#prompts.blocksTurn) return this.abandon();
    while (this.#running) await this.#running.work;
  }

  async #route(given: InboxRow): Promise<void> {
    if (this.#gateway.draining()) return;
    const row = await dispatchHook(this.#gateway.opened.app.hooks, given);
    if (row === null) return this.#replies.finish(given, "dropped");
    const { event } = row;
    await this.#gateway.owners.refresh();
    const access = event.internal ? null : await checkAccess(event, this.#gateway.access);
    if (access && !access.allowed) return this.#refuse(row, access.offer);
    if (event.edited) return this.#edited(row);
    // Resumes a turn that a crash interrupted.
    if (row.state === "running") return this.#running ? void this.#waiting.push({ row }) : this.#start({ row });
    if (event.press) return this.#press(row);
    // Text of programs may come from unknown senders: it runs no commands.
    const acceptsCommands = !event.internal && event.source.chatKind !== "webhook";
    const command = acceptsCommands ? await parseChatCommand(this.#gateway.opened, event.text) : null;
    if (command) return this.#commandRunner.run(row, command);
    if (this.#prompts.takesText && !event.internal && event.text !== "" && this.#prompts.text(event.text))
      return this.#replies.finish(row, "answer");
    if (!this.#replies.where(row)) return this.#replies.finish(row, "dropped");
    const lobby = await this.#gateway.topics.lobby(event);
    if (lobby !== null) return this.#replies.reply(row, lobby, "command");
    if (this.#running) return this.#whileBusy(row);
    this.#start({ row });
  }

  async #refuse(row: InboxRow, offer: "pair" | "nothing"): Promise<void> {
    const { source } = row.event;
    this.#gateway.log("info", `a message of ${source.platform} user ${source.userId ?? "?"} was refused`);
    const { press } = row.event;
    if (press) void this.#gateway.connection(row.platform)?.answerPress?.(press, "Only an owner can decide this.");
    if (offer === "nothing" || !source.userId) return this.#replies.finish(row, "unauthorised");
    const user = { id: source.userId, name: source.userName ?? "" };
    const code = await this.#gateway.opened.pairing.request(source.platform, user).catch((error: unknown) => {
      this.#gateway.log("warning", `no pairing code could be created: ${errorMessage(error)}`);
      return null;
    });
    if (!code) return this.#replies.finish(row, "unauthorised");
    const how = `hermes pairing approve ${source.platform} ${code}`;
    const text = `You have no access yet. To grant it, the owner of this agent runs:\n\`${how}\`\nThe code is valid for an hour.`;
    return this.#replies.reply(row, text, "unauthorised");
  }

  /** Replaces the text of a message that still waits; a message that is being answered does not change. */
  async #edited(row: InboxRow): Promise<void> {
    const { edits, source, text, attachments } = row.event;
    const at = this.#waiting.findIndex(
      ({ row: { event }, text: given }) =>
        given === undefined && event.messageId === edits && event.source.userId === source.userId,
    );
    const old = this.#waiting[at];
    if (!old) return this.#replies.finish(row, "dropped");
    // A new caption does not change the pictures of an album.
    const event = { ...old.row.event, text, ...(attachments && !old.row.absorbed ? { attachments } : {}) };
    // The edit is finished with the message: after a crash both are handled again.
    this.#waiting[at] = { ...old, row: { ...old.row, event }, absorbed: [...(old.absorbed ?? []), row.id] };
  }

  async #press(row: InboxRow): Promise<void> {
    const { press } = row.event;
    if (!press) return;
    const connection = this.#gateway.connection(row.platform);
    if (press.data.startsWith("pk:")) void connection?.answerPress?.(press);
    if (await this.#commandRunner.picked(row, press)) return;
    const { source } = row.event;
    const by = { role: this.#gateway.owners.roleFor(source), userId: source.userId };
    const reply = this.#prompts.press(press.data, by) ?? this.#gateway.questions.press(press.data, by);
    if (!press.data.startsWith("pk:")) void connection?.answerPress?.(press, reply ?? "This question is closed.");
    return this.#replies.finish(row, "press");
  }

  async #pauseTurns(work: () => Promise<void>): Promise<void> {
    this.#turnsPaused = true;
    try {
      await work();
    } finally {
      this.#turnsPaused = false;
      this.#next();
    }
  }

  #next(): void {
    if (this.#running || this.#turnsPaused || this.#abandoned || this.#gateway.draining()) return;
    const queued = this.#waiting.shift();
    if (queued) this.#start(queued);
  }

  async #stop(row: InboxRow): Promise<void> {
    const dropped = this.#waiting.splice(0);
    const wasRunning = this.#running !== undefined;
    await this.#interrupt();
    for (const queued of dropped) {
      await this.#replies.finish(queued.row, "interrupted");
      if (queued.absorbed) await this.#gateway.opened.mailbox.finish(queued.absorbed, "merged");
    }
    const waited = dropped.length > 0 ? ` Dropped waiting messages: ${dropped.length}.` : "";
    return this.#replies.reply(row, wasRunning ? `Stopped.${waited}` : "Nothing is running.", "command");
  }

  async #interrupt(): Promise<void> {
    if (!this.#running) return;
    this.#running.superseded = true;
    this.#running.controller.abort();
    await this.#running.work;
  }

  /** Interrupt, steer or queue, as configured; always acknowledged. */
  async #whileBusy(row: InboxRow): Promise<void> {
    const running = this.#running;
    if (!running) return this.#start({ row });
    // Notices of background processes never interrupt a turn.
    if (row.event.internal) return void this.#waiting.push({ row });
    const mode = this.#gateway.opened.app.config.display.busy_input_mode;
    const photo = (row.event.attachments ?? []).length > 0;
    const agent = this.#gateway.agents.peek(this.key);
    // A guest's text must not enter a turn that has the owner's rights.
    const { roleFor } = this.#gateway;
    const steers = mode === "steer" && !photo && roleFor(row) === roleFor(running.queued.row);
    if (steers && agent?.opened.conversation.steer(row.event.text)) {
      running.steered.push(row);
      return this.#acknowledge(row, running, "⏩ Noted: used at the next step");
    }
    this.#waiting.push({ row });
    if (mode !== "interrupt" || photo) return this.#acknowledge(row, running, "⏳ Queued: next");
    running.superseded = true;
    running.controller.abort();
    return this.#acknowledge(row, running, "⚡ Interrupting; your message is next");
  }

  async #acknowledge(row: InboxRow, running: Running, what: string): Promise<void> {
    if (!this.#gateway.opened.app.config.display.busy_ack_enabled) return;
    const now = this.#gateway.now();
    const state = `${Math.round((now - running.startedAt) / 1000)} s so far${running.tool ? `, at ${running.tool}` : ""}`;
    const last = this.#ack;
    if (!last || last.what !== what || now - last.at >= ACK_MS) {
      this.#ack = { what, at: now, count: 1, change: await this.#replies.say(row, `${what} (${state}).`, "ack") };
      return;
    }
    // Edits the recent acknowledgement instead of sending another.
    last.count += 1;
    last.change(`${what} (${last.count} messages, ${state}).`);
  }

  #start(queued: QueuedMessage): void {
    const where = this.#replies.where(queued.row);
    if (!where) return void this.#drop(queued.row);
    const controller = new AbortController();
    const running: Running = {
      queued,
      controller,
      startedAt: this.#gateway.now(),
      steered: [],
      work: Promise.resolve(),
      tool: "",
      live: undefined,
      superseded: false,
    };
    this.#running = running;
    const turn = new Turn(
      this.#gateway,
      {
        key: this.key,
        // Programs cannot answer questions.
        human: queued.row.event.source.chatKind === "webhook" ? absentHuman : this.#human(queued.row),
        overrides: this.#commandRunner.overrides,
        signal: controller.signal,
        superseded: () => running.superseded,
        abandoned: () => this.#abandoned,
        steered: () => running.steered,
        waiting: () => this.#waiting.length > 0,
        onTool: (name) => {
          running.tool = name;
        },
        onLive: (live) => {
          running.live = live;
        },
      },
      queued,
      where,
    );
    const ended = async ({ undelivered, goal }: TurnResult) => {
      await this.#keepDelivered();
      this.#running = undefined;
      if (this.#abandoned) return;
      if (undelivered) this.#waiting.unshift(...running.steered.map((row) => ({ row })));
      this.#waiting.push(...(goal ?? []).map((row) => ({ row })));
      this.#next();
    };
    (running as { work: Promise<void> }).work = turn.run().then(ended, (error: unknown) => {
      // The end could not be stored: the turn is retried at the next start, and the chat handles its next message.
      this.#gateway.log("error", `${this.key}: a turn stays unfinished: ${String(error)}`);
      return ended({ undelivered: false });
    });
  }

  /** For a message whose answer cannot be sent anywhere. */
  #drop(row: InboxRow): void {
    this.#replies.finish(row, "dropped").catch((error: unknown) => {
      this.#gateway.log("error", `${this.key}: message ${row.id} stays unfinished: ${String(error)}`);
    });
  }

  /** The sender of the running turn; in a shared chat the next message may be from another user. */
  #human(row: InboxRow): Human {
    return this.#prompts.human(() => this.#asking(this.#running?.queued.row ?? row));
  }

  /** The user of this chat, for questions of a background task. */
  backgroundHuman(row: InboxRow): Human {
    return this.#prompts.human(() => this.#asking(row), "background");
  }

  #waits(on: boolean): void {
    this.#running?.live?.typing(!on);
    if (on && this.#gateway.draining() && this.#prompts.blocksTurn) void this.abandon();
  }

  #asking(row: InboxRow): Asking {
    const { config } = this.#gateway.opened.app;
    const platform = this.#gateway.platform(row.platform);
    const role = this.#gateway.roleFor(row);
    return {
      role,
      owner: role === "owner" ? undefined : ownerAsking(this.#gateway, row),
      userId: row.event.source.userId,
      buttons: platform?.capabilities.buttons ?? false,
      maxLength: platform?.maxLength ?? 0,
      approvalMs: config.approvals.gateway_timeout * 1000,
      clarifyMs: config.agent.clarify_timeout * 1000,
      closed: () => (this.#gateway.draining() ? RESTARTING : CLOSED),
      waiting: (on) => this.#waits(on),
      show: (question, buttons) => this.#replies.show(row, question, buttons),
    };
  }
}
