// The next step after a failed attempt: a pure decision over what is known, so that the client only carries it out.
import type { Verdict } from "./classify.ts";

const MAX_RETRY_AFTER_MS = 120_000;

export interface Situation {
  readonly verdict: Verdict;
  /** Attempts on this endpoint so far, the failed one included. Recoveries and rotations do not count. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** How often this key has been refused for its rate within this call. */
  readonly rateRefusals: number;
  readonly otherKey: boolean;
  readonly fallback: boolean;
  /** The recovery that the verdict names has not been tried yet. */
  readonly canRecover: boolean;
  /** Milliseconds left: of the turn, and of this endpoint's share while a fallback stands by. */
  readonly turnLeftMs: number;
  readonly shareLeftMs: number;
  readonly backoff: { readonly baseMs: number; readonly maxMs: number; readonly random: number };
}

export type Step =
  | { readonly do: "recover" }
  | { readonly do: "retry"; readonly inMs: number }
  | { readonly do: "rotate"; readonly rest: boolean }
  | { readonly do: "fallback"; readonly rest: boolean }
  | { readonly do: "fail"; readonly rest: boolean };

/** min(base·2^(n−1), max) plus up to half of it at random. */
export function backoffMs(attempt: number, options: Situation["backoff"]): number {
  const delay = Math.min(options.baseMs * 2 ** (attempt - 1), options.maxMs);
  return Math.round(delay + options.random * delay * 0.5);
}

function delayFor(situation: Situation): number {
  const asked = situation.verdict.failure.retryAfterMs;
  if (asked !== undefined) return Math.min(asked, MAX_RETRY_AFTER_MS);
  return backoffMs(Math.max(1, situation.attempts), situation.backoff);
}

/** A retry that fits the time left; otherwise on to the fallback, or the end. */
function retryOrLeave(situation: Situation, rest: boolean): Step {
  const inMs = delayFor(situation);
  const spent = situation.attempts >= situation.maxAttempts || inMs >= situation.turnLeftMs;
  if (!spent && (!situation.fallback || inMs < situation.shareLeftMs)) return { do: "retry", inMs };
  return situation.fallback ? { do: "fallback", rest } : { do: "fail", rest };
}

function afterRefusedKey(situation: Situation): Step {
  if (situation.otherKey) return { do: "rotate", rest: true };
  return situation.fallback ? { do: "fallback", rest: true } : { do: "fail", rest: true };
}

function afterRateLimit(situation: Situation): Step {
  const again = situation.rateRefusals >= 2;
  if (situation.otherKey && again) return { do: "rotate", rest: true };
  // Waiting for a limit to pass makes sense only when nothing else can answer now.
  if (!situation.otherKey && situation.fallback) return { do: "fallback", rest: true };
  const step = retryOrLeave(situation, again);
  return step.do !== "retry" && situation.otherKey ? { do: "rotate", rest: true } : step;
}

export function nextStep(situation: Situation): Step {
  const { failure, actions } = situation.verdict;
  if (situation.turnLeftMs <= 0) return { do: "fail", rest: false };
  if (actions.recovery !== undefined && situation.canRecover) return { do: "recover" };
  if (actions.compress) return { do: "fail", rest: false };
  if (failure.kind === "auth" || failure.kind === "billing") return afterRefusedKey(situation);
  if (failure.kind === "rate_limit") return afterRateLimit(situation);
  // A recovery that did not help leaves a request that this endpoint will go on refusing.
  if (actions.retry && actions.recovery === undefined) return retryOrLeave(situation, false);
  return situation.fallback && (actions.fallback || actions.recovery !== undefined)
    ? { do: "fallback", rest: false }
    : { do: "fail", rest: false };
}
