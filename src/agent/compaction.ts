// Compaction: replaces the older part of a conversation and continues in a new session, if the result is smaller.
import type { CompressOutcome, ContextEngine } from "../core/context.ts";
import type { CompactionReport } from "../core/conversation.ts";
import type { AgentEvent } from "../core/event.ts";
import type { Failure, FailureKind } from "../core/failure.ts";
import type { Message } from "../core/message.ts";
import { estimateMessagesTokens } from "../core/model/tokens.ts";
import { errorMessage } from "../lib/error-message.ts";
import { todoNote, withTodoNote } from "./carried-todos.ts";
import { type ConversationState, requestTokens } from "./conversation-state.ts";
import { createSessionId } from "./message-log.ts";
import type { Turn } from "./turn-state.ts";
import { ABORTED, untilAborted, valueOrFallback } from "./until-aborted.ts";

/** A smaller saving is not worth a new session and a cold prompt cache. */
const MIN_SAVING = 0.02;
const MAX_PASSES_BEFORE_TURN = 3;
const MAX_OVERFLOWS = 3;
const OVERFLOW_KINDS: ReadonlySet<FailureKind> = new Set([
  "context_overflow",
  "payload_too_large",
  "long_context_tier",
]);
const LONG_CONTEXT_TIER = 200_000;
/** Usual window sizes, for refusals that name no limit. */
const WINDOW_SIZES = [256_000, 200_000, 128_000, 64_000, 32_000, 16_000, 8_000];

export interface CompactionRequest {
  readonly signal: AbortSignal;
  readonly focus?: string | undefined;
  emit(event: AgentEvent): void;
}

async function runEngine(
  state: ConversationState,
  request: CompactionRequest,
): Promise<CompressOutcome | typeof ABORTED> {
  const { engine, memory, log } = state;
  const { messages } = log;
  const carry = await valueOrFallback(memory.beforeCompaction(messages), request.signal, "");
  const options = {
    currentTokens: requestTokens(state),
    sessionId: log.sessionId,
    signal: request.signal,
    focusTopic: request.focus,
    carry: carry === "" ? undefined : carry,
  };
  try {
    if (engine.hasContentToCompress?.(messages) === false) return { messages, method: "none", modelCalls: 0 };
    return await untilAborted(engine.compress(messages, options), request.signal);
  } catch (error) {
    // An engine may come from a plugin: its error must not end the conversation.
    const notice = `The context engine ${engine.name} failed: ${errorMessage(error)}`;
    return { messages, method: "none", modelCalls: 0, notice };
  }
}

/** Reports an error of the engine as a notice. */
async function notifyEngine(request: CompactionRequest, work: Promise<void> | undefined): Promise<void> {
  try {
    await work;
  } catch (error) {
    const text = `The context engine failed: ${errorMessage(error)}`;
    request.emit({ type: "notice", level: "warning", text });
  }
}

/** Ends the session and continues in a new one that holds `messages`. */
async function startNextSession(
  state: ConversationState,
  messages: readonly Message[],
  request: CompactionRequest,
): Promise<void> {
  const { log, store, engine, memory, settings } = state;
  const oldId = log.sessionId;
  const system = await state.systemPrompt();
  const oldTitle = await store.getSessionTitle(oldId);
  const title = oldTitle === null ? undefined : await store.getNextTitleInLineage(oldTitle);
  await memory.sessionEnded(log.messages);
  await notifyEngine(request, engine.onSessionEnd?.(oldId, log.messages));
  const newId = createSessionId(settings.source);
  await log.split({ sessionId: newId, system, title, messages });
  await notifyEngine(request, engine.onSessionStart?.(newId, { boundaryReason: "compression", oldSessionId: oldId }));
  await memory.sessionSwitched(newId, { parentSessionId: oldId, reset: false, reason: "compression" });
  state.forgetReads?.(log.conversationId);
  state.pressureShown = false;
}

/** The store changes only when the outcome is smaller, and then in one transaction. */
export async function compact(state: ConversationState, request: CompactionRequest): Promise<CompactionReport> {
  const { log } = state;
  const before = log.tokens();
  const unchanged = { shrunk: false, beforeTokens: before, afterTokens: before, method: "none" };
  const outcome = await runEngine(state, request);
  if (outcome === ABORTED || request.signal.aborted) return unchanged;
  const { notice } = outcome;
  if (notice !== undefined) request.emit({ type: "notice", level: "warning", text: notice });
  const messages = withTodoNote(outcome.messages, todoNote(log.messages));
  const after = estimateMessagesTokens(messages);
  if (outcome.messages === log.messages || messages.length === 0 || after > before * (1 - MIN_SAVING))
    return { ...unchanged, notice };
  const fromSessionId = log.sessionId;
  await startNextSession(state, messages, request);
  const report = { beforeTokens: before, afterTokens: after, method: outcome.method };
  request.emit({ type: "compressed", fromSessionId, sessionId: log.sessionId, ...report });
  return { shrunk: true, ...report, notice };
}

async function compactTurn(turn: Turn): Promise<boolean> {
  const { shrunk } = await compact(turn.state, turn);
  if (shrunk) turn.findUserMessage();
  return shrunk;
}

/** Up to three passes, as long as they help and the engine wants another. */
export async function compactBeforeTurn(turn: Turn): Promise<void> {
  const { state, signal } = turn;
  const { engine, settings, log } = state;
  for (let pass = 0; pass < MAX_PASSES_BEFORE_TURN && settings.compaction !== false; pass++) {
    const wanted =
      engine.shouldCompress(requestTokens(state)) || engine.shouldCompressPreflight?.(log.messages) === true;
    if (!wanted || signal.aborted || !(await compactTurn(turn))) break;
  }
}

export async function compactAfterTools(turn: Turn): Promise<void> {
  const { engine, settings } = turn.state;
  if (settings.compaction === false || turn.compactionFailed) return;
  if (!engine.shouldCompress(requestTokens(turn.state))) return;
  turn.compactionFailed = !(await compactTurn(turn));
}

/** The window size that a refusal implies: the one it names, or the next usual size below the request. */
function impliedLimit(failure: Failure, tokens: number): number | undefined {
  if (failure.limitTokens !== undefined && failure.limitTokens > 0) return failure.limitTokens;
  if (failure.kind === "long_context_tier") return LONG_CONTEXT_TIER;
  return WINDOW_SIZES.find((size) => size < tokens);
}

function lowerWindow({ state }: Turn, limit: number | undefined): void {
  const { engine, provider } = state;
  if (limit !== undefined && limit < engine.contextLength) engine.updateModel?.(provider.identity.model, limit);
}

/**
 * When the provider refused a request as too large: compacts, and lets the call be repeated for free. Undefined for
 * other failures.
 */
export async function recoverFromOverflow(
  turn: Turn,
  failure: Failure,
): Promise<{ readonly recovered: true } | { readonly recovered: false; readonly failure: Failure } | undefined> {
  if (!OVERFLOW_KINDS.has(failure.kind)) return undefined;
  turn.overflows += 1;
  if (turn.state.settings.compaction !== false && turn.overflows <= MAX_OVERFLOWS && (await shrink(turn, failure))) {
    turn.callsLeft += 1;
    return { recovered: true };
  }
  const hint = failure.hint ?? "Start a new conversation, or choose a model with a larger window.";
  return { recovered: false, failure: { ...failure, hint } };
}

async function shrink(turn: Turn, failure: Failure): Promise<boolean> {
  const limit = impliedLimit(failure, requestTokens(turn.state));
  // A limit in bytes says nothing about the window, unless an ordinary pass does not help.
  const inBytes = failure.kind === "payload_too_large";
  if (!inBytes) lowerWindow(turn, limit);
  if (await compactTurn(turn)) return true;
  if (!inBytes || turn.signal.aborted) return false;
  lowerWindow(turn, limit);
  return compactTurn(turn);
}

/** After `/new` and `/reset`: the engine comes from a plugin, and the conversation closes in any case. */
export function resetEngine(engine: Pick<ContextEngine, "onSessionReset">): void {
  try {
    engine.onSessionReset?.();
  } catch {
    return;
  }
}
