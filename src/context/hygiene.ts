// The gateway's check before a turn: whether a chat has grown so large that it must be compacted first. Changes nothing.
import type { CompressOptions, CompressOutcome, ContextEngine } from "../core/context.ts";
import type { Message } from "../core/message.ts";
import { estimateMessagesTokens } from "../core/tokens.ts";
import { DEFAULT_COMPACTION } from "./compaction/budget.ts";

const HYGIENE_SHARE = 0.85;
const WARN_SHARE = 0.95;
const MIN_MESSAGES = 4;

export interface HygieneState {
  readonly messages: readonly Message[];
  readonly contextLength: number;
  /** What the provider reported for the last turn; the estimate is used when it is absent or 0. */
  readonly lastPromptTokens?: number | undefined;
  /** `compression.enabled`. */
  readonly enabled: boolean;
  /** `compression.hygiene_hard_message_limit`. */
  readonly hardMessageLimit?: number | undefined;
}

/** True at 85 % of the window, or at the hard message limit; never for fewer than four messages. */
export function needsHygiene(state: HygieneState): boolean {
  if (!state.enabled || state.messages.length < MIN_MESSAGES) return false;
  const limit = state.hardMessageLimit ?? DEFAULT_COMPACTION.hygieneHardMessageLimit;
  return state.messages.length >= limit || countTokens(state) >= state.contextLength * HYGIENE_SHARE;
}

function countTokens(state: HygieneState): number {
  return state.lastPromptTokens || estimateMessagesTokens(state.messages);
}

export interface HygieneResult {
  /** The messages to continue with in a new session; the old one keeps every row. */
  readonly outcome: CompressOutcome;
  readonly warning?: string | undefined;
}

/** Compacts when needed and returns the result; null when there is nothing to do or nothing was gained. */
export async function runHygiene(
  engine: ContextEngine,
  state: HygieneState,
  options: CompressOptions,
): Promise<HygieneResult | null> {
  if (!needsHygiene(state)) return null;
  const before = countTokens(state);
  const outcome = await engine.compress(state.messages, { currentTokens: before, ...options });
  if (outcome.messages === state.messages) return null;
  const saved = estimateMessagesTokens(state.messages) - estimateMessagesTokens(outcome.messages);
  const full = before - saved >= state.contextLength * WARN_SHARE;
  const warning = "This chat is still close to the model's limit. Start a new one with /new if answers fail.";
  return full ? { outcome, warning } : { outcome };
}
