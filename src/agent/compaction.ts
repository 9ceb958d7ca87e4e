// Makes a conversation shorter and goes on in a new session, but only when the result is provably smaller.
import type { CompressOutcome } from "../core/context.ts";
import type { AgentEvent } from "../core/event.ts";
import type { Message } from "../core/message.ts";
import { estimateMessagesTokens } from "../core/tokens.ts";
import { todoNote, withTodoNote } from "./carried-todos.ts";
import type { ConversationState } from "./conversation-state.ts";
import { freshSessionId } from "./session-log.ts";
import { ABORTED, orElse, untilAborted } from "./until-aborted.ts";

/** A pass that saves less is not worth a new session and a cold cache. */
const LEAST_SAVING = 0.02;
const MOST_PREFLIGHT_PASSES = 3;

export interface CompactionRequest {
  readonly signal: AbortSignal;
  readonly focus?: string | undefined;
  emit(event: AgentEvent): void;
}

export interface CompactionReport {
  readonly shrunk: boolean;
  readonly beforeTokens: number;
  readonly afterTokens: number;
  readonly method: string;
  readonly notice?: string | undefined;
}

async function squeeze(
  thread: ConversationState,
  request: CompactionRequest,
): Promise<CompressOutcome | typeof ABORTED> {
  const { engine, memory } = thread.parts;
  const { messages } = thread.log;
  const carry = await orElse(memory.beforeCompress(messages), request.signal, "");
  const options = {
    currentTokens: thread.requestTokens(),
    sessionId: thread.log.sessionId,
    signal: request.signal,
    ...(request.focus === undefined ? {} : { focusTopic: request.focus }),
    ...(carry === "" ? {} : { carry }),
  };
  try {
    if (engine.hasContentToCompress?.(messages) === false) return { messages, method: "none", modelCalls: 0 };
    return await untilAborted(engine.compress(messages, options), request.signal);
  } catch (error) {
    // An engine may be a plugin: its bug costs this pass, never the conversation.
    const notice = `The context engine ${engine.name} failed: ${error instanceof Error ? error.message : String(error)}`;
    return { messages, method: "none", modelCalls: 0, notice };
  }
}

/** Lifecycle calls to a plugin's engine: trouble there is its own. */
async function tell(request: CompactionRequest, work: Promise<void> | undefined): Promise<void> {
  try {
    await work;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    request.emit({ type: "notice", level: "warning", text: `The context engine failed: ${why}` });
  }
}

async function moveOn(
  thread: ConversationState,
  messages: readonly Message[],
  request: CompactionRequest,
): Promise<void> {
  const { parts, log } = thread;
  const { store, engine, memory, settings } = parts;
  const oldId = log.sessionId;
  const system = await parts.systemPrompt();
  const oldTitle = await store.getSessionTitle(oldId);
  const title = oldTitle === null ? undefined : await store.getNextTitleInLineage(oldTitle);
  await memory.sessionEnded(log.messages);
  await tell(request, engine.onSessionEnd?.(oldId, log.messages));
  const newId = freshSessionId(thread.now(), settings.source);
  await log.split({ sessionId: newId, system, title, messages });
  await tell(request, engine.onSessionStart?.(newId, { boundaryReason: "compression", oldSessionId: oldId }));
  await memory.sessionSwitched(newId, { parentSessionId: oldId, reset: false, reason: "compression" });
  parts.forgetReads?.(log.conversationId);
  thread.forgetReport();
  thread.pressureShown = false;
}

/** One pass. Nothing changes in the store unless the outcome is smaller; then the whole change is one transaction. */
export async function compact(thread: ConversationState, request: CompactionRequest): Promise<CompactionReport> {
  const { log } = thread;
  const before = log.tokens();
  const none = { shrunk: false, beforeTokens: before, afterTokens: before, method: "none" };
  const outcome = await squeeze(thread, request);
  if (outcome === ABORTED || request.signal.aborted) return none;
  const notice = outcome.notice === undefined ? {} : { notice: outcome.notice };
  if (outcome.notice !== undefined) request.emit({ type: "notice", level: "warning", text: outcome.notice });
  const messages = withTodoNote(outcome.messages, todoNote(log.messages));
  const after = estimateMessagesTokens(messages);
  if (outcome.messages === log.messages || messages.length === 0 || after > before * (1 - LEAST_SAVING))
    return { ...none, ...notice };
  const fromSessionId = log.sessionId;
  await moveOn(thread, messages, request);
  const report = { beforeTokens: before, afterTokens: after, method: outcome.method };
  request.emit({ type: "compressed", fromSessionId, sessionId: log.sessionId, ...report });
  return { shrunk: true, ...report, ...notice };
}

/** Before a turn's first call: up to three passes, as long as they help and the request is still too large. */
export async function compactBeforeTurn(thread: ConversationState, request: CompactionRequest): Promise<void> {
  const { engine, settings } = thread.parts;
  if (settings.compression === false) return;
  for (let pass = 0; pass < MOST_PREFLIGHT_PASSES; pass++) {
    // The engine has the last word: it knows when passes have stopped helping.
    const wanted =
      engine.shouldCompress(thread.requestTokens()) || engine.shouldCompressPreflight?.(thread.log.messages) === true;
    if (!wanted || request.signal.aborted) return;
    if (!(await compact(thread, request)).shrunk) return;
  }
}
