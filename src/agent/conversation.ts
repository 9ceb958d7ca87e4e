// The conversation that every surface uses: runs one turn per input, emits events and stores every message.
import type {
  CompactionReport,
  Conversation,
  ConversationOptions,
  RunToolOptions,
  SendOptions,
  UndoneExchange,
} from "../core/conversation.ts";
import type { AgentEvent } from "../core/event.ts";
import { UserError } from "../core/failure.ts";
import type { Goals } from "../core/goal.ts";
import {
  type ContentPart,
  contentText,
  type JsonObject,
  type Message,
  type ToolMessage,
  type UserMessage,
} from "../core/message.ts";
import { lessTrusted, type Provenance } from "../core/trust.ts";
import { joinSignals } from "../lib/async/joined-signal.ts";
import { errorMessage } from "../lib/error-message.ts";
import { keepAbandonedAnswer } from "./answer-draft.ts";
import { compact, resetEngine } from "./compaction.ts";
import { type ConversationState, createState } from "./conversation-state.ts";
import { abandonedAnswer } from "./delegation/delegation-record.ts";
import { EventQueue } from "./event-queue.ts";
import { finishTurn } from "./finish-turn.ts";
import { SessionGoals } from "./goals/session-goals.ts";
import { lastExchangeStart } from "./last-exchange.ts";
import { createSessionId, MessageLog, rootSession } from "./message-log.ts";
import type { ConversationParts } from "./parts.ts";
import { generateTitle, lastExchange, wantsTitle } from "./title.ts";
import { answerTo, openCalls } from "./tools/open-calls.ts";
import { runForUser } from "./tools/run-for-user.ts";
import { runTurn } from "./turn.ts";
import { Turn, type TurnOutcome } from "./turn-state.ts";
import { untilAborted } from "./until-aborted.ts";
import { append, type Input, isAnswerTo, prepend, userMessage } from "./user-input.ts";

const CLOSE_MS = 5_000;
const DEFAULT_GOALS = { maxTurns: 20, verdictTokens: 4096 };
/** The abort reason at the end of every turn; created once. */
const TURN_OVER = new DOMException("The turn is over.", "AbortError");
const LOST_RESULT = "[no result: the process ended before this call finished; it may have taken effect]";

function failedBy(error: unknown): TurnOutcome {
  const hint = error instanceof UserError ? error.hint : undefined;
  return { end: "failed", text: "", failure: { kind: "unknown", message: errorMessage(error), hint } };
}

export class AgentConversation implements Conversation {
  readonly #state: ConversationState;
  readonly #background = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #running: { readonly controller: AbortController; readonly work: Promise<void> } | undefined;
  #firstText = "";
  #firstParts: readonly ContentPart[] = [];
  #closed = false;
  readonly goal: Goals;

  /** Characters of an answer that was cut off when the process of the last turn was killed. */
  readonly recoveredChars: number;

  constructor(parts: ConversationParts, log: MessageLog, recoveredChars = 0) {
    this.recoveredChars = recoveredChars;
    this.#state = createState(parts, log);
    const { store, side, settings } = parts;
    this.goal = new SessionGoals({
      store,
      side,
      ...(settings.goals ?? DEFAULT_GOALS),
      sessionId: () => log.sessionId,
    });
  }

  get sessionId(): string {
    return this.#state.log.sessionId;
  }

  get conversationId(): string {
    return this.#state.log.conversationId;
  }

  get messages(): readonly Message[] {
    return this.#state.log.messages;
  }

  get running(): boolean {
    return this.#running !== undefined;
  }

  get provenance(): Provenance {
    return this.#state.outside.worst;
  }

  /** Text that is put before the next input, for example skills that were asked for. */
  prependToNextInput(text: string): void {
    this.#firstText = [this.#firstText, text].filter((part) => part !== "").join("\n\n");
  }

  async runTool(name: string, args: JsonObject, options: RunToolOptions): Promise<string> {
    this.#mustBeFree();
    const controller = new AbortController();
    const { signal, release } = joinSignals([controller.signal, options.signal]);
    const turn = new Turn(this.#state, userMessage(options.label), {
      signal,
      tainted: undefined,
      typed: undefined,
      senderId: undefined,
      deltaMs: 0,
      emit: (event) => options.onEvent(event),
    });
    const run = async (): Promise<string> => {
      await this.#begin(turn);
      return runForUser(turn, name, args);
    };
    const work = run();
    this.#running = {
      controller,
      work: work.then(
        () => undefined,
        () => undefined,
      ),
    };
    try {
      const text = await work;
      this.prependToNextInput(`[${options.label}]\n${text}`);
      return text;
    } finally {
      this.#running = undefined;
      controller.abort(TURN_OVER);
      release();
    }
  }

  async *send(
    input: string | readonly ContentPart[],
    options: SendOptions = {},
  ): AsyncGenerator<AgentEvent, void, undefined> {
    const message = userMessage(append(prepend(this.#firstText, input), this.#firstParts));
    this.#mustBeFree();
    this.#firstText = "";
    this.#firstParts = [];
    yield* this.#stream(message, options);
  }

  async *continueWith(
    results: readonly ToolMessage[],
    options: SendOptions = {},
  ): AsyncGenerator<AgentEvent, void, undefined> {
    this.#mustBeFree();
    const question = this.messages.findLast((message) => message.role === "user");
    yield* this.#stream(question ?? { role: "user", content: "" }, options, results);
  }

  /** Runs one turn. With `results` the message is stored already, and the turn continues after its calls. */
  async *#stream(
    message: UserMessage,
    options: SendOptions,
    results?: readonly ToolMessage[],
  ): AsyncGenerator<AgentEvent, void, undefined> {
    const controller = new AbortController();
    const { signal, release } = joinSignals([controller.signal, ...(options.signal ? [options.signal] : [])]);
    const events = new EventQueue<AgentEvent>();
    const turn = new Turn(this.#state, message, {
      signal,
      tainted: options.tainted === true ? (options.taintOrigin ?? "a message that the owner did not write") : undefined,
      typed: options.typed,
      senderId: options.senderId,
      deltaMs: options.deltaMs ?? 0,
      emit: (event) => events.push(event),
    });
    // `#runTurn` awaits it; a turn that fails earlier must not leave an unhandled rejection.
    options.after?.catch(() => undefined);
    const work = this.#runTurn(turn, message, { after: options.after, results }).then((ended) => {
      events.push(ended);
      events.close();
    });
    this.#running = { controller, work };
    try {
      for (let event = await events.take(); event !== undefined; event = await events.take()) yield event;
    } finally {
      controller.abort(TURN_OVER);
      release();
      await work;
    }
  }

  /** Never rejects. Resolves with the last event. */
  async #runTurn(turn: Turn, message: UserMessage, { after, results }: Input): Promise<AgentEvent> {
    let outcome: TurnOutcome;
    try {
      await this.#begin(turn, results);
      const [stored] = await Promise.all([results ? [] : turn.append([message]), after]);
      turn.userMessage = stored[0] ?? message;
      outcome = await runTurn(turn);
    } catch (error) {
      outcome = turn.signal.aborted ? { end: "interrupted", text: "" } : failedBy(error);
    }
    const ended = await finishTurn(turn, outcome);
    if (outcome.end === "done") this.#titleInBackground(outcome.text);
    this.#running = undefined;
    return ended;
  }

  async #begin(turn: Turn, results: readonly ToolMessage[] = []): Promise<void> {
    const { provider, log, hooks, settings, outside, gate } = this.#state;
    provider.beginTurn();
    this.#state.turns += 1;
    if (!log.opened) {
      const problem = await this.#openLog();
      if (problem !== undefined) turn.notice("warning", problem);
      if (!log.resumed && hooks.listens("on_session_start")) {
        const args = { session_id: log.sessionId, model: provider.identity.model, platform: settings.source };
        await log.created();
        await untilAborted(hooks.run("on_session_start", args), turn.signal);
      }
    }
    await outside.load(log.resumed, log.sessionId);
    const prompt = await this.#state.promptTrust?.();
    if (prompt && lessTrusted(outside.worst, prompt) !== outside.worst) await outside.add(log.sessionId, prompt);
    if (turn.inputOrigin !== undefined)
      await outside.add(log.sessionId, { trust: "untrusted", origin: turn.inputOrigin });
    gate?.beginTurn(log.sessionId);
    await this.#answerOpenCalls(turn, results);
  }

  /** Returns a warning for the user when the context engine, which may come from a plugin, did not start. */
  async #openLog(): Promise<string | undefined> {
    const { engine, log } = this.#state;
    await log.open();
    if (!engine.onSessionStart) return undefined;
    await log.created();
    try {
      await engine.onSessionStart(log.sessionId, {});
      return undefined;
    } catch (error) {
      return `The context engine ${engine.name} did not start: ${errorMessage(error)}`;
    }
  }

  /** Stores the results that the caller brings, and one for each call that a crash left without, before anything else. */
  async #answerOpenCalls(turn: Turn, results: readonly ToolMessage[]): Promise<void> {
    const { store, log } = this.#state;
    const answers: Message[] = [];
    for (const call of openCalls(log.messages)) {
      const given = results.find((result) => result.tool_call_id === call.id);
      if (given !== undefined) {
        answers.push(answerTo(call, given.content));
        continue;
      }
      const abandoned = await abandonedAnswer(store, log.conversationId, call.id);
      answers.push(answerTo(call, abandoned ?? LOST_RESULT));
    }
    const unknown = results.find(({ tool_call_id: id }) => !answers.some((answer) => isAnswerTo(answer, id)));
    if (unknown !== undefined)
      throw new UserError(`The call ${unknown.tool_call_id} does not wait for a result.`, {
        hint: "Send the results of the calls of the last answer, each once.",
      });
    if (answers.length > 0) await turn.append(answers);
  }

  #titleInBackground(answer: string): void {
    const { settings, log } = this.#state;
    if (settings.titles === false || !wantsTitle(log.messages)) return;
    const exchange = lastExchange(log.messages, answer);
    // Later, so that the `ended` event is delivered first.
    const work: Promise<void> = new Promise((resolve) => setImmediate(resolve))
      .then(() => generateTitle(this.#state, exchange, this.#closing.signal))
      // A missing title is not worth a message; the next turn tries again.
      .catch(() => undefined)
      .finally(() => this.#background.delete(work));
    this.#background.add(work);
  }

  #mustBeFree(): void {
    if (this.#closed) throw new UserError("This conversation is closed.", { hint: "Open it again to continue." });
    if (this.#running !== undefined)
      throw new UserError("A turn is already running here.", { hint: "Wait for it, steer it or interrupt it." });
  }

  steer(text: string): boolean {
    return this.#running !== undefined && this.#state.steering.add(text);
  }

  interrupt(): boolean {
    if (this.#running === undefined) return false;
    this.#running.controller.abort();
    return true;
  }

  async compact(focus?: string): Promise<CompactionReport> {
    this.#mustBeFree();
    if (!this.#state.log.opened) await this.#openLog();
    return compact(this.#state, { signal: this.#closing.signal, focus, emit: () => undefined });
  }

  attachToNextInput(parts: readonly ContentPart[]): void {
    this.#firstParts = [...this.#firstParts, ...parts];
  }

  async undo(): Promise<UndoneExchange | null> {
    this.#mustBeFree();
    const { log } = this.#state;
    const from = lastExchangeStart(log.messages);
    const message = log.messages[from];
    if (message === undefined) return null;
    const count = log.messages.length - from;
    await log.undo(from);
    this.#state.onUndo?.(log.conversationId, log.messages);
    const parts = typeof message.content === "string" ? [] : (message.content ?? []);
    return { text: contentText(message.content), parts: parts.filter((part) => part.type !== "text"), count };
  }

  async branch(title?: string): Promise<{ sessionId: string; title: string } | null> {
    this.#mustBeFree();
    const { log, store, settings } = this.#state;
    if ((!log.opened && !log.resumed) || log.messages.length === 0) return null;
    // A session that was resumed and has had no turn yet has ended: the branch gives the reason of its end.
    if (!log.opened) await this.#openLog();
    await log.created();
    const sessionId = createSessionId(settings.source);
    await log.branch({ sessionId, title: title || undefined });
    return { sessionId, title: (await store.getSessionTitle(sessionId)) ?? "" };
  }

  setTitle(title: string): Promise<string> {
    this.#state.titled = true;
    return this.#state.log.setTitle(title);
  }

  async saveTrajectory(dir: string, completed: boolean): Promise<string> {
    const { appendTrajectory, toConversations } = await import("./trajectory.ts");
    const { tools, provider } = this.#state;
    const conversations = toConversations(this.messages, tools.schemas);
    const { model } = provider.identity;
    return appendTrajectory(dir, { conversations, timestamp: new Date().toISOString(), model, completed });
  }

  async close(options: { readonly reason?: string | undefined } = {}): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const running = this.#running;
    running?.controller.abort();
    await running?.work;
    const { settings, log, store, memory } = this.#state;
    const closeMs = settings.closeMs ?? CLOSE_MS;
    const deadline = AbortSignal.timeout(closeMs);
    await untilAborted(Promise.all(this.#background), deadline);
    this.#closing.abort();
    try {
      // A resumed session without a turn ends too; one that had ended keeps its first reason.
      if (!log.opened) {
        if (options.reason !== undefined && log.resumed) await store.endSession(log.sessionId, options.reason);
        return;
      }
      await untilAborted(this.#notifyClosed(options.reason), deadline);
      if (options.reason !== undefined) await store.endSession(log.sessionId, options.reason);
    } finally {
      // With its own time limit: a slow `sessionEnded` must not cost the memory provider its shutdown.
      await untilAborted(memory.close(), AbortSignal.timeout(closeMs));
    }
  }

  async #notifyClosed(reason: string | undefined): Promise<void> {
    const { memory, engine, hooks, log, settings } = this.#state;
    await memory.sessionEnded(log.messages);
    // The engine may come from a plugin: its error must not prevent closing.
    await engine.onSessionEnd?.(log.sessionId, log.messages).catch(() => undefined);
    if (reason === "new_session" || reason === "session_reset") resetEngine(engine);
    if (!hooks.listens("on_session_finalize")) return;
    await hooks.run("on_session_finalize", { session_id: log.sessionId, platform: settings.source });
  }
}

/** Opens a new conversation, or resumes a stored one at the tip of its compaction chain. */
export async function openConversation(
  parts: ConversationParts,
  options: Pick<ConversationOptions, "resume" | "sessionId" | "parentSessionId" | "title"> = {},
): Promise<AgentConversation> {
  const { store, settings } = parts;
  if (options.resume === undefined) {
    const sessionId = options.sessionId ?? createSessionId(settings.source);
    const { parentSessionId, title } = options;
    const origin = { sessionId, conversationId: sessionId, parentSessionId, title: title || undefined };
    return new AgentConversation(parts, new MessageLog(parts, origin));
  }
  const sessionId = await store.resolveResumeSessionId(await store.getCompressionTip(options.resume));
  const row = await store.getSession(sessionId);
  if (row === null)
    throw new UserError(`There is no session ${options.resume}.`, { hint: "List them with `hermes sessions list`." });
  const messages = await store.getConversation(sessionId);
  const conversationId = await rootSession(store, row);
  const log = new MessageLog(parts, { sessionId, conversationId, row, messages });
  return new AgentConversation(parts, log, await keepAbandonedAnswer(parts, log));
}
