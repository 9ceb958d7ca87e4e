// Token budgets of a compaction, derived from the window; they scale down to windows of a few thousand tokens.

export interface CompactionSettings {
  readonly enabled: boolean;
  /** Share of the window at which compaction starts. */
  readonly threshold: number;
  /** Share of the threshold that is kept as tail; clamped to 0.10–0.80. */
  readonly targetRatio: number;
  readonly protectLastN: number;
  readonly protectFirstN: number;
  /** Number of messages at which the gateway compacts regardless of their size. */
  readonly hygieneHardMessageLimit: number;
}

export const DEFAULT_COMPACTION: CompactionSettings = {
  enabled: true,
  threshold: 0.5,
  targetRatio: 0.2,
  protectLastN: 20,
  protectFirstN: 3,
  hygieneHardMessageLimit: 400,
};

/** The share of its content that a summary may take. */
export const SUMMARY_RATIO = 0.2;
const SUMMARY_MIN = 2_000;
const SUMMARY_MAX = 12_000;
/** A pass that saves less than this share is not worth its cost. */
export const MIN_SAVING = 0.1;
/** After a pass the messages fill at most this share of the room, so that the next pass is not needed soon. */
const AFTER_SHARE = 0.7;

const SMALL_WINDOW = 65_536;
const TINY_WINDOW = 8_192;
const TINY_THRESHOLD = 0.75;

/**
 * Below 64 K the fixed prompt takes a growing share of the window, so the trigger rises step by step to 75 % at 8 K:
 * the conversation keeps room, and a quarter of the window stays free for the answer.
 */
export function thresholdTokens(contextLength: number, threshold: number): number {
  let share = Math.min(1, Math.max(0.05, threshold));
  if (contextLength < SMALL_WINDOW) {
    const small = Math.max(0, contextLength - TINY_WINDOW) / (SMALL_WINDOW - TINY_WINDOW);
    share = Math.max(share, TINY_THRESHOLD - (TINY_THRESHOLD - 0.5) * small);
  }
  return Math.floor(contextLength * share);
}

export interface PassBudget {
  /** The most tokens of messages for which the request stays below the threshold. */
  readonly room: number;
  /** The target size of the messages after the pass, in tokens. */
  readonly goal: number;
  /** Up to this many tokens, summary included, the protected messages are kept as they are. */
  readonly protectedLimit: number;
  readonly tail: number;
  readonly summaryMin: number;
  readonly summaryMax: number;
}

export interface PassSize {
  readonly contextLength: number;
  readonly threshold: number;
  readonly targetRatio: number;
  /** Estimated tokens of the messages now. */
  readonly before: number;
  /** Tokens of the request that are not messages: system prompt, tool schemas, estimation error. */
  readonly overhead: number;
}

export function passBudget(size: PassSize): PassBudget {
  const ratio = Math.min(0.8, Math.max(0.1, size.targetRatio));
  const room = Math.max(size.threshold - size.overhead, Math.floor(size.contextLength * 0.15));
  const worthwhile = Math.floor(size.before * (1 - MIN_SAVING - 0.05));
  const goal = Math.min(Math.floor(room * AFTER_SHARE), worthwhile);
  const protectedLimit = size.before < room ? room : Math.min(room, worthwhile);
  const tail = Math.min(Math.floor(size.threshold * ratio), Math.floor(goal * 0.5));
  const share = Math.floor(size.contextLength * 0.05);
  const summaryMax = Math.min(SUMMARY_MAX, Math.max(share, Math.min(SUMMARY_MIN, Math.floor(goal * 0.25))));
  return { room, goal, protectedLimit, tail, summaryMax, summaryMin: Math.min(SUMMARY_MIN, summaryMax) };
}

/** Tokens for the summary of `contentTokens`: a fifth, within the limits. */
export function summaryBudget(contentTokens: number, budget: PassBudget): number {
  const wanted = Math.max(Math.floor(contentTokens * SUMMARY_RATIO), budget.summaryMin);
  return Math.max(1, Math.min(wanted, budget.summaryMax));
}
