// A conversation: what every surface holds. Turns go in, events come out, everything between is durable.
import type { AgentEvent } from "../core/event.ts";
import { UserError } from "../core/failure.ts";
import type { ContentPart, Message, UserMessage } from "../core/message.ts";
import type { Provider, ToolSchema } from "../core/provider.ts";
import { wellFormed } from "../core/well-formed.ts";
import { joinSignals } from "../lib/async/joined-signal.ts";
import { type CompactionReport, compact } from "./compaction.ts";
import { ConversationState } from "./conversation-state.ts";
import { abandonedAnswer } from "./delegation/delegation-record.ts";
import { EventQueue } from "./event-queue.ts";
import { finishTurn } from "./finish-turn.ts";
import type { ConversationParts } from "./parts.ts";
import { freshSessionId, rootSession, SessionLog } from "./session-log.ts";
import { Steering } from "./steering.ts";
import { giveTitle, lastExchange, wantsTitle } from "./title.ts";
import { answerTo, openCalls } from "./tools/open-calls.ts";
import { resolveTools } from "./tools/resolved-tools.ts";
import { runTurn } from "./turn.ts";
import { type TurnOutcome, TurnScope } from "./turn-scope.ts";
import { untilAborted } from "./until-aborted.ts";

const CLOSE_MS = 5_000;
/** Why whatever still listens to a turn stops; made once, because every turn ends this way. */
const OVER = new DOMException("The turn is over.", "AbortError");
const LOST_RESULT = "[no result: the process ended before this call finished; it may have taken effect]";

export interface OpenOptions {
  /** Goes on with a stored session: an id or one of its ancestors by compaction. */
  readonly resume?: string | undefined;
  /** The id for a new session; made when absent. */
  readonly sessionId?: string | undefined;
  /** The conversation that started this one. */
  readonly parentSessionId?: string | undefined;
}

export interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  /** The input itself is not the owner's word: a stranger's message, a webhook. */
  readonly tainted?: boolean | undefined;
  readonly senderId?: string | undefined;
  /** Pieces of the answer are gathered and handed out no more often than this. Each at once when absent. */
  readonly deltaMs?: number | undefined;
  /** The model is asked only after this; its failure fails the turn. */
  readonly after?: Promise<unknown> | undefined;
}

interface Running {
  readonly controller: AbortController;
  readonly work: Promise<void>;
}

function failedBy(error: unknown): TurnOutcome {
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof UserError && error.hint !== undefined ? { hint: error.hint } : {};
  return { end: "failed", text: "", failure: { kind: "unknown", message, ...hint } };
}

function userMessage(input: string | readonly ContentPart[]): UserMessage {
  const content =
    typeof input === "string"
      ? wellFormed(input)
      : input.map((part) => (part.type === "text" ? { ...part, text: wellFormed(part.text) } : part));
  const empty = typeof content === "string" ? content.trim() === "" : content.length === 0;
  if (empty) throw new UserError("There is nothing to send.", { hint: "Type a message first." });
  return { role: "user", content };
}

export class Conversation {
  readonly #thread: ConversationState;
  readonly #queue: string[] = [];
  readonly #background = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  #running: Running | undefined;
  #closed = false;

  constructor(parts: ConversationParts, log: SessionLog) {
    this.#thread = new ConversationState(parts, { tools: resolveTools(parts), log, steering: new Steering() });
  }

  /** Changes when a compaction opens a continuation. */
  get sessionId(): string {
    return this.#thread.log.sessionId;
  }

  /** Stays the same for ever: the id of the first session. */
  get conversationId(): string {
    return this.#thread.log.conversationId;
  }

  get messages(): readonly Message[] {
    return this.#thread.log.messages;
  }

  /** The frozen schemas, as every request carries them. */
  get tools(): readonly ToolSchema[] {
    return this.#thread.tools.schemas;
  }

  /** The frozen system prompt; empty before the first turn of a new session. */
  get system(): string {
    return this.#thread.log.system;
  }

  /** Where text from outside came from that this conversation holds; undefined when there is none. */
  get outsideOrigin(): string | undefined {
    return this.#thread.outside.origin;
  }

  get busy(): boolean {
    return this.#running !== undefined;
  }

  /**
   * One turn. The last event is always `ended`, exactly once; leaving the loop early interrupts the turn and still
   * stores what happened. Only one turn runs at a time.
   */
  async *send(
    input: string | readonly ContentPart[],
    options: SendOptions = {},
  ): AsyncGenerator<AgentEvent, void, undefined> {
    const message = userMessage(input);
    this.#mustBeFree();
    const controller = new AbortController();
    const { signal, release } = joinSignals([controller.signal, ...(options.signal ? [options.signal] : [])]);
    const events = new EventQueue<AgentEvent>();
    const turn = new TurnScope(this.#thread, message, {
      signal,
      tainted: options.tainted ?? false,
      senderId: options.senderId,
      deltaMs: options.deltaMs ?? 0,
      emit: (event) => events.push(event),
    });
    // Met where it is waited for; a turn that fails earlier does not wait.
    options.after?.catch(() => undefined);
    const work = this.#runTurn(turn, message, { events, after: options.after });
    this.#running = { controller, work };
    try {
      for (let event = await events.take(); event !== undefined; event = await events.take()) yield event;
    } finally {
      controller.abort(OVER);
      release();
      await work;
    }
  }

  /** Never rejects. */
  async #runTurn(
    turn: TurnScope,
    message: UserMessage,
    { events, after }: { events: EventQueue<AgentEvent>; after: Promise<unknown> | undefined },
  ): Promise<void> {
    let outcome: TurnOutcome;
    try {
      await this.#begin(turn);
      const [[stored]] = await Promise.all([turn.append([message]), after]);
      turn.userMessage = stored ?? message;
      outcome = await runTurn(turn);
    } catch (error) {
      outcome = turn.signal.aborted ? { end: "interrupted", text: "" } : failedBy(error);
    }
    const ended = await finishTurn(turn, outcome);
    if (outcome.end === "done") this.#nameInBackground(outcome.text);
    this.#running = undefined;
    events.push(ended);
    events.close();
  }

  async #begin(turn: TurnScope): Promise<void> {
    const { parts, log } = this.#thread;
    parts.provider.beginTurn();
    this.#thread.turns += 1;
    if (!log.opened) {
      const problem = await this.#open();
      if (problem !== undefined) turn.notice("warning", problem);
      if (!log.resumed && parts.hooks.listens("on_session_start")) {
        const { model } = parts.provider.identity;
        const args = { session_id: log.sessionId, model, platform: parts.settings.source };
        await log.created();
        await untilAborted(parts.hooks.run("on_session_start", args), turn.signal);
      }
    }
    const { outside } = this.#thread;
    await outside.load(log.resumed, log.messages);
    if (turn.tainted) await outside.add("a message that the owner did not write");
    turn.tainted = outside.origin !== undefined;
    parts.gate?.beginTurn(log.sessionId);
    await this.#answerLostCalls(turn);
  }

  /** Answers with what the person should know: an engine may be a plugin, and its start may fail. */
  async #open(): Promise<string | undefined> {
    const { parts, log } = this.#thread;
    await log.open();
    if (!parts.engine.onSessionStart) return undefined;
    await log.created();
    try {
      await parts.engine.onSessionStart(log.sessionId, {});
      return undefined;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return `The context engine ${parts.engine.name} did not start: ${why}`;
    }
  }

  /** Calls that a crash left open are answered before anything else is said. */
  async #answerLostCalls(turn: TurnScope): Promise<void> {
    const { parts, log } = this.#thread;
    const answers: Message[] = [];
    for (const call of openCalls(log.messages)) {
      const abandoned = await abandonedAnswer(parts.store, log.conversationId, call.id);
      answers.push(answerTo(call, abandoned ?? LOST_RESULT));
    }
    if (answers.length > 0) await turn.append(answers);
  }

  #nameInBackground(answer: string): void {
    const { parts, log } = this.#thread;
    if (parts.settings.titles === false || !wantsTitle(log.messages)) return;
    const exchange = lastExchange(log.messages, answer);
    // The answer leaves first.
    const work: Promise<void> = new Promise((resolve) => setImmediate(resolve))
      .then(() => giveTitle(this.#thread, exchange, this.#ending.signal))
      // A missing name is no trouble worth telling; the next turn may try again.
      .catch(() => undefined)
      .finally(() => this.#background.delete(work));
    this.#background.add(work);
  }

  #mustBeFree(): void {
    if (this.#closed) throw new UserError("This conversation is closed.", { hint: "Open it again to go on." });
    if (this.#running !== undefined)
      throw new UserError("A turn is already running here.", { hint: "Wait for it, steer it or interrupt it." });
  }

  /** False when no turn runs or the text is blank: then send it as a message. */
  steer(text: string): boolean {
    return this.#running !== undefined && this.#thread.steering.add(text);
  }

  /** Keeps a message for after the running turn; returns how many wait. */
  queue(text: string): number {
    if (text.trim() !== "") this.#queue.push(text);
    return this.#queue.length;
  }

  /** The oldest queued message, for the surface to send next. */
  takeQueued(): string | undefined {
    return this.#queue.shift();
  }

  /** Stops the running turn within half a second, running tools included. False when none runs. */
  interrupt(): boolean {
    if (this.#running === undefined) return false;
    this.#running.controller.abort();
    return true;
  }

  /** Another model from the next turn on. The prompt prefix stays as it is. */
  async useProvider(provider: Provider): Promise<void> {
    this.#mustBeFree();
    const limits = await provider.limits();
    this.#thread.parts = { ...this.#thread.parts, provider };
    this.#thread.parts.engine.updateModel?.(provider.identity.model, limits.contextLength);
  }

  /** Shortens the conversation now; `focus` names what must be kept in most detail. */
  async compress(focus?: string, signal: AbortSignal = this.#ending.signal): Promise<CompactionReport> {
    this.#mustBeFree();
    if (!this.#thread.log.opened) await this.#open();
    const request = { signal, emit: () => undefined };
    return compact(this.#thread, focus === undefined ? request : { ...request, focus });
  }

  /** Interrupts what runs, lets background work finish within a deadline; `reason` also ends the session's row. */
  async close(options: { readonly reason?: string | undefined } = {}): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const running = this.#running;
    running?.controller.abort();
    await running?.work;
    const { parts, log } = this.#thread;
    const deadline = AbortSignal.timeout(parts.settings.closeMs ?? CLOSE_MS);
    await untilAborted(Promise.all(this.#background), deadline);
    this.#ending.abort();
    try {
      if (!log.opened) return;
      await untilAborted(this.#notifyClosed(), deadline);
      if (options.reason !== undefined) await parts.store.endSession(log.sessionId, options.reason);
    } finally {
      // With a time of its own: a slow end of the session does not cost the provider its shutdown.
      await untilAborted(parts.memory.close(), AbortSignal.timeout(parts.settings.closeMs ?? CLOSE_MS));
    }
  }

  async #notifyClosed(): Promise<void> {
    const { parts, log } = this.#thread;
    await parts.memory.sessionEnded(log.messages);
    // It may be a plugin: its trouble keeps nobody from leaving, and must not take the place of an answer.
    await parts.engine.onSessionEnd?.(log.sessionId, log.messages).catch(() => undefined);
    if (!parts.hooks.listens("on_session_finalize")) return;
    await parts.hooks.run("on_session_finalize", { session_id: log.sessionId, platform: parts.settings.source });
  }
}

/** Opens a new conversation, or goes on with a stored one at the tip of its chain. */
export async function openConversation(parts: ConversationParts, options: OpenOptions = {}): Promise<Conversation> {
  const { store, settings } = parts;
  if (options.resume === undefined) {
    const sessionId = options.sessionId ?? freshSessionId(parts.clock?.now() ?? Date.now(), settings.source);
    const parent = options.parentSessionId === undefined ? {} : { parentSessionId: options.parentSessionId };
    return new Conversation(parts, new SessionLog(parts, { sessionId, conversationId: sessionId, ...parent }));
  }
  const sessionId = await store.resolveResumeSessionId(await store.getCompressionTip(options.resume));
  const row = await store.getSession(sessionId);
  if (row === null)
    throw new UserError(`There is no session ${options.resume}.`, { hint: "List them with `hermes sessions list`." });
  const messages = await store.getConversation(sessionId);
  const conversationId = await rootSession(parts, row);
  return new Conversation(parts, new SessionLog(parts, { sessionId, conversationId, row, messages }));
}
