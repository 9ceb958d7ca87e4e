// One turn of one chat: opens the session, runs the conversation, shows progress and puts the answer into the outbox.
import { join } from "node:path";
import type { Destination, Platform } from "../../core/chat/platform.ts";
import type { OpenedConversation } from "../../core/conversation.ts";
import type { AgentEvent } from "../../core/event.ts";
import { UserError } from "../../core/failure.ts";
import { type AssistantMessage, contentText } from "../../core/message.ts";
import type { InboxRow, NewOutgoing } from "../../core/store/mailbox.ts";
import { joinSignals } from "../../lib/async/joined-signal.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { GatewayContext } from "../control/gateway-context.ts";
import type { HookContext } from "../control/hooks.ts";
import { buildContent, readIncoming } from "../inbound/incoming.ts";
import { inputTaint } from "../inbound/input-taint.ts";
import { isShared } from "../inbound/session-key.ts";
import { type AnswerPlace, formatEnd, outgoingAnswer, outgoingText } from "../outbound/answer.ts";
import { LiveReply } from "../outbound/live-reply.ts";
import { withoutProtected } from "../outbound/media.ts";
import { Replies } from "../outbound/replies.ts";
import { footer, liveSettings, reasoningText } from "../outbound/reply-extras.ts";
import { retryUntilStored } from "../outbound/retry-until-stored.ts";
import { spokenAnswer } from "../outbound/spoken-answer.ts";
import type { Agent } from "./agents.ts";
import { type ChatChoice, chatSignature, entryFor, indexSaved, openFor, sessionStarted } from "./chat-entry.ts";
import { continueGoal } from "./goal-step.ts";
import { IdleTimeout } from "./idle-timeout.ts";
import { RESUME_NOTE, recover, streamed } from "./recover.ts";
import { StillWorking } from "./still-working.ts";

const DELETE_MS = 10_000;
const DELTA_MS = 200; // Models send deltas far more often than a chat message can be edited.
const RESTART_NOTE_MS = 5_000;

export interface QueuedMessage {
  readonly row: InboxRow;
  /** Replaces the event's text; set by commands such as /queue. */
  readonly text?: string | undefined;
  readonly tainted?: boolean | undefined;
  /** Inbox rows of edits of this message; finished together with it. */
  readonly absorbed?: readonly number[] | undefined;
}

export interface TurnChat extends ChatChoice {
  readonly key: string;
  readonly signal: AbortSignal;
  /** A newer message replaced this turn: its answer is not sent. */
  superseded(): boolean;
  /** The gateway stops: the turn resumes after the next start. */
  abandoned(): boolean;
  /** Messages that steer the running turn; finished together with it. */
  steered(): readonly InboxRow[];
  /** True when messages wait for the end of the turn. */
  waiting(): boolean;
  onTool(name: string): void;
  onLive(live: LiveReply): void;
}

interface ModelInput {
  readonly text: string;
  readonly pictures: readonly string[];
}

export interface TurnResult {
  /** The turn ended before its steering messages reached the model: they need a turn themselves. */
  readonly undelivered: boolean;
  /** Messages that continue toward the session's goal. */
  readonly goal?: readonly InboxRow[] | undefined;
}

export class Turn {
  readonly #gateway: GatewayContext;
  readonly #chat: TurnChat;
  readonly #queued: QueuedMessage;
  readonly #platform: Platform;
  readonly #to: Destination;
  #interim = 0;
  #live: LiveReply | undefined;
  #agent: Agent | undefined;
  /** Number of stored messages of the session; undefined after a compaction. */
  #messages: number | undefined;
  /** Texts for the user, sent before the answer. */
  readonly #notices: string[] = [];
  #freshlyReset = false;
  #restartNote: NodeJS.Timeout | undefined;
  #tool = "";
  #steps = 0;
  #reasoning = "";
  #contextTokens = 0;

  constructor(
    gateway: GatewayContext,
    chat: TurnChat,
    queued: QueuedMessage,
    where: { platform: Platform; to: Destination },
  ) {
    this.#gateway = gateway;
    this.#chat = chat;
    this.#queued = queued;
    this.#platform = where.platform;
    this.#to = where.to;
  }

  #isProtected(path: string): Promise<boolean> {
    return this.#gateway.opened.isProtected(path, this.#gateway.roleFor(this.#queued.row));
  }

  get #key(): string {
    return `in:${this.#queued.row.id}`;
  }

  #place(more: Partial<AnswerPlace> = {}): AnswerPlace {
    const { event } = this.#queued.row;
    const section = this.#gateway.access.section(this.#platform.name);
    const mode = String(section.reply_to_mode ?? "first") as AnswerPlace["replyMode"];
    return {
      platform: this.#platform,
      to: this.#to,
      key: this.#key,
      // A private chat needs no quote of the question.
      replyTo: event.source.chatKind === "dm" || event.messageId.includes(":") ? undefined : event.messageId,
      replyMode: mode,
      prefix: typeof section.reply_prefix === "string" ? section.reply_prefix : undefined,
      ...more,
    };
  }

  /** Never rejects: a failure becomes the answer. */
  async run(): Promise<TurnResult> {
    try {
      return await this.#run();
    } catch (error) {
      const gateway = this.#gateway;
      const hint = error instanceof UserError && error.hint ? `\n${error.hint}` : "";
      const why = errorMessage(error);
      gateway.log("error", `turn of ${this.#chat.key} failed: ${why}`);
      await this.#finish("failed", outgoingText(`⚠️ ${why}${hint}`, this.#place()));
      return { undelivered: false };
    } finally {
      clearTimeout(this.#restartNote);
      this.#live?.end();
      this.#gateway.agents.release(this.#chat.key);
    }
  }

  async #run(): Promise<TurnResult> {
    const { row } = this.#queued;
    const found = await recover(this.#gateway.opened.app.store, row);
    if (found.state === "answered") {
      await this.#restoreEntry(found.sessionId);
      const text = await withoutProtected(found.text, (path) => this.#isProtected(path));
      await this.#finish(
        "answered",
        outgoingAnswer(text, this.#place({ streamId: await streamed(this.#gateway.opened.mailbox, this.#key) })),
      );
      return { undelivered: false };
    }
    if (!row.event.internal) await this.#gateway.limits.check(row.event.source, this.#gateway.roleFor(row));
    // Sent only when the answer takes longer than this.
    if (row.state === "running") this.#restartNote = setTimeout(() => this.#tellRestart(), RESTART_NOTE_MS).unref();
    if (found.state === "begun") await this.#restoreEntry(found.sessionId);
    const opened = await this.#open();
    const { sessionId } = opened.conversation;
    const { app, mailbox } = this.#gateway.opened;
    this.#messages ??= await app.store.messageCount(sessionId);
    // Stored in parallel with the start of the turn. After a crash in between, the log contains the message twice.
    const begun = mailbox.begin([row.id], { sessionId, logAfter: this.#messages });
    // The conversation waits for it and handles the failure.
    begun.catch(() => undefined);
    return this.#converse(opened, await this.#input(opened, found.state === "begun"), begun);
  }

  /** Tells the user once that a restart interrupted this turn. */
  #tellRestart(): void {
    if (this.#gateway.access.section(this.#platform.name).gateway_restart_notification === false) return;
    const text = "♻️ The gateway restarted; continuing.";
    void new Replies(this.#gateway).say(this.#queued.row, text, "restarted");
  }

  async #restoreEntry(sessionId: string): Promise<void> {
    const { index } = this.#gateway;
    const known = index.get(this.#chat.key);
    if (known) await index.moved(this.#chat.key, sessionId);
    else await index.renew(this.#chat.key, this.#queued.row.event.source, { sessionId });
  }

  async #open(): Promise<OpenedConversation> {
    const gateway = this.#gateway;
    const { row } = this.#queued;
    const { key } = this.#chat;
    const { source } = row.event;
    await gateway.opened.refreshEnv();
    const { entry, notice, fresh } = await entryFor(gateway, key, row);
    this.#freshlyReset = notice !== null;
    if (notice) this.#notices.push(notice);
    if (fresh) await sessionStarted(gateway, entry, source);
    const open = () => openFor(gateway, this.#chat, { entry, fresh }, row);
    const agent = await gateway.agents.take(key, chatSignature(gateway, entry, this.#chat), open);
    this.#agent = agent;
    const { opened } = agent;
    gateway.index.touch(key, { resume_pending: false });
    gateway.processes.remember(opened.conversation.conversationId, row);
    const { session_id: sessionId } = entry;
    const messages = fresh ? 0 : (agent.messages ?? (await gateway.opened.app.store.messageCount(sessionId)));
    agent.messages = undefined;
    this.#messages = opened.conversation.sessionId === sessionId ? messages : undefined;
    const promptTokens = Number(entry.last_prompt_tokens) || 0;
    const known = { messages, promptTokens, contextLength: opened.contextLength };
    if (!fresh && (await gateway.opened.hygieneDue(sessionId, known)) && (await opened.conversation.compact()).shrunk) {
      this.#messages = undefined;
      gateway.log("info", `${key} was compacted before its turn`);
      await gateway.index.moved(key, opened.conversation.sessionId);
      gateway.index.touch(key, { last_prompt_tokens: 0 });
    }
    return opened;
  }

  async #input(conversation: OpenedConversation, again: boolean): Promise<ModelInput> {
    const { row, text } = this.#queued;
    const { keyRules, opened, connection } = this.#gateway;
    const event = text === undefined ? row.event : { ...row.event, text, attachments: [] };
    const read = await readIncoming(event, {
      connection: () => connection(row.platform),
      cacheDir: join(opened.app.home.path, "cache"),
      shared: isShared(row.event.source, keyRules),
      pictures: conversation.pictures,
      transcribe: (path) => opened.listen(path),
      signal: this.#chat.signal,
    });
    this.#notices.push(...read.notices);
    const context = this.#freshlyReset ? `[A new session was started automatically.]\n\n${read.text}` : read.text;
    return { text: again ? `${RESUME_NOTE}\n\n${context}` : context, pictures: read.pictures };
  }

  async #converse(opened: OpenedConversation, input: ModelInput, begun: Promise<void>): Promise<TurnResult> {
    const gateway = this.#gateway;
    const { row } = this.#queued;
    const { source } = row.event;
    const shared = isShared(source, gateway.keyRules);
    const { origin, typed } = inputTaint(row.event, { role: gateway.roleFor(row), shared });
    const tainted = this.#queued.tainted === true || origin !== undefined;
    const live = new LiveReply({
      mailbox: gateway.opened.mailbox,
      sender: gateway.sender,
      platform: this.#platform,
      to: this.#to,
      key: this.#key,
      settings: liveSettings(gateway.opened.app.config, this.#platform),
      remove: (id) => void gateway.connection(row.platform)?.delete?.(this.#to, id, AbortSignal.timeout(DELETE_MS)),
    });
    this.#live = live;
    this.#chat.onLive(live);
    live.typing(true);
    void gateway.connection(row.platform)?.react?.(this.#to, row.event.messageId, "seen");
    const about = { platform: source.platform, user_id: source.userId, session_id: opened.conversation.sessionId };
    await gateway.hooks.run("agent:start", { ...about, message: input.text.slice(0, 500) });
    const { agent } = gateway.opened.app.config;
    const watch = new IdleTimeout(agent.gateway_timeout * 1000);
    const notes = this.#stillWorking();
    const { signal, release } = joinSignals([this.#chat.signal, watch.signal]);
    let ended: Extract<AgentEvent, { type: "ended" }> | undefined;
    try {
      const content = buildContent(input.text, input.pictures);
      for await (const event of opened.conversation.send(content, {
        signal,
        tainted,
        taintOrigin: origin,
        typed: this.#queued.text === undefined ? typed : "",
        after: begun,
        deltaMs: DELTA_MS,
      })) {
        watch.reset();
        notes.reset();
        if (event.type === "ended") ended = event;
        else await this.#show(event, live);
        if (event.type === "message" && event.message.role === "assistant") {
          this.#reasoning = event.message.reasoning ?? "";
          await this.#step(event.message, about, notes);
        }
      }
    } finally {
      watch.end();
      notes.end();
      release();
    }
    await gateway.hooks.run("agent:end", { ...about, response: ended?.text.slice(0, 500) ?? "" });
    return this.#end(ended, live, opened);
  }

  #stillWorking(): StillWorking {
    const { agent } = this.#gateway.opened.app.config;
    const replies = new Replies(this.#gateway);
    return new StillWorking({
      everyMs: agent.gateway_notify_interval * 1000,
      warnMs: agent.gateway_timeout_warning * 1000,
      tool: () => this.#tool,
      say: (text, name) => void replies.say(this.#queued.row, text, name),
    });
  }

  /** Runs the hooks for one model call with tool calls. */
  async #step(message: AssistantMessage, about: HookContext, notes: StillWorking): Promise<void> {
    const names = (message.tool_calls ?? []).map((call) => call.function.name);
    if (names.length === 0) return;
    notes.step();
    this.#steps += 1;
    await this.#gateway.hooks.run("agent:step", { ...about, iteration: this.#steps, tool_names: names });
  }

  async #show(event: AgentEvent, live: LiveReply): Promise<void> {
    const { index, opened } = this.#gateway;
    if (event.type === "message" && this.#messages !== undefined) this.#messages += 1;
    if (event.type === "delta" && event.kind === "text") live.delta(event.text);
    else if (event.type === "restarted") live.restart();
    else if (event.type === "tool_started") {
      this.#tool = event.name;
      this.#chat.onTool(event.name);
      live.tool(event.name, event.preview);
    } else if (event.type === "compressed") {
      this.#messages = undefined;
      await index.moved(this.#chat.key, event.sessionId);
    } else if (event.type === "usage") {
      this.#contextTokens = event.contextTokens;
      index.touch(this.#chat.key, { last_prompt_tokens: event.contextTokens });
    } else if (event.type === "message" && event.message.role === "assistant" && event.message.tool_calls?.length) {
      const text = contentText(event.message.content ?? "").trim();
      const isSilent = this.#queued.row.event.deliverTo === null;
      if (text === "" || isSilent || !opened.app.config.display.interim_assistant_messages) return;
      const place = this.#place({ key: `${this.#key}:m${this.#interim}`, streamId: await live.takeStream() });
      this.#interim += 1;
      const rows = await opened.mailbox.enqueue(outgoingText(text, place));
      live.newSegment();
      this.#gateway.sender.add(rows);
    }
  }

  /** The answer with reasoning and footer, as configured. */
  #withExtras(text: string, opened: OpenedConversation): string {
    const { config, home } = this.#gateway.opened.app;
    const { name } = this.#platform;
    const facts = { opened, contextTokens: this.#contextTokens, cwd: config.terminal.cwd || home.cwd };
    return `${reasoningText(config, name, this.#reasoning)}${text}${footer(config, name, facts)}`;
  }

  async #end(
    ended: Extract<AgentEvent, { type: "ended" }> | undefined,
    live: LiveReply,
    opened: OpenedConversation,
  ): Promise<TurnResult> {
    const { row } = this.#queued;
    const abandoned = ended?.end === "interrupted" && this.#chat.abandoned();
    const cut = !ended || (ended.end === "interrupted" && this.#chat.superseded());
    if (cut && !abandoned) live.stopStream();
    live.end();
    if (this.#agent && ended) this.#agent.messages = this.#messages;
    const connection = this.#gateway.connection(row.platform);
    if (abandoned) return { undelivered: false };
    if (cut) {
      await this.#finish("interrupted", []);
      void connection?.react?.(this.#to, row.event.messageId, "clear");
      return { undelivered: false };
    }
    await this.#gateway.index.moved(this.#chat.key, ended.sessionId);
    const failed = ended.end === "failed";
    const streamId =
      (await live.takeFinal()) ??
      (row.state === "running" ? await streamed(this.#gateway.opened.mailbox, this.#key) : null);
    const text = await withoutProtected(formatEnd(ended), (path) => this.#isProtected(path));
    const place = this.#place({ streamId });
    const spoken = failed ? [] : await spokenAnswer(this.#gateway, row, text, place);
    await this.#finish(
      failed ? "failed" : "answered",
      [...spoken, ...outgoingAnswer(failed ? text : this.#withExtras(text, opened), place)],
      ended.undelivered === undefined,
    );
    void connection?.react?.(this.#to, row.event.messageId, failed ? "failed" : "done");
    const undelivered = ended.undelivered !== undefined;
    if (undelivered || this.#chat.waiting()) return { undelivered };
    return { undelivered, goal: await continueGoal(this.#gateway, row, { opened, ended }, this.#chat.signal) };
  }

  async #finish(
    outcome: "answered" | "failed" | "interrupted",
    outgoing: readonly NewOutgoing[],
    withSteered = true,
  ): Promise<void> {
    const { mailbox } = this.#gateway.opened;
    const isSilent = this.#queued.row.event.deliverTo === null;
    const words = this.#notices.join("\n\n");
    const notice = words ? outgoingText(words, { ...this.#place(), key: `${this.#key}:notice` }) : [];
    const { row, absorbed } = this.#queued;
    await indexSaved(this.#gateway, this.#chat.key);
    const all = isSilent ? [] : [...notice, ...outgoing];
    const ids = [row.id, ...(row.absorbed ?? [])];
    const store = (sending?: { readonly mark: string | null }) => mailbox.finish(ids, outcome, all, sending);
    await retryUntilStored(this.#gateway, () => this.#gateway.sender.storeAndSend(all, store));
    if (absorbed) await mailbox.finish(absorbed, "merged");
    const steered = withSteered ? this.#chat.steered().map((row) => row.id) : [];
    if (steered.length > 0) await mailbox.finish(steered, "steered");
  }
}
