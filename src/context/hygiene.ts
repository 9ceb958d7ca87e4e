// The gateway's check before a turn: whether a chat has grown so large that it must be compacted first. Changes nothing.
import type { Message } from "../core/message.ts";
import { estimateMessagesTokens } from "../core/model/tokens.ts";
import { DEFAULT_COMPACTION } from "./compaction/budget.ts";

const HYGIENE_SHARE = 0.85;
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
