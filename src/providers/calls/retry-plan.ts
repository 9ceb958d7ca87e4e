// Decides the next step after a failed attempt. Pure; the client carries it out.
import type { Verdict } from "./classify.ts";

const MAX_RETRY_AFTER_MS = 120_000;

export interface Situation {
  readonly verdict: Verdict;
  /** Attempts on this endpoint so far, the failed one included. Recoveries and rotations do not count. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** How many rate limits this key has hit within this call. */
  readonly rateRefusals: number;
  readonly otherKey: boolean;
  readonly fallback: boolean;
  /** The recovery that the verdict names has not been tried yet. */
  readonly canRecover: boolean;
  /** Milliseconds left in the turn, and for this endpoint before the fallback takes over. */
  readonly turnLeftMs: number;
  readonly shareLeftMs: number;
  readonly backoff: { readonly baseMs: number; readonly maxMs: number; readonly random: number };
}

/** `coolDown`: the key must not be used for a while. */
export type Step =
  | { readonly do: "recover" }
  | { readonly do: "retry"; readonly inMs: number }
  | { readonly do: "rotate"; readonly coolDown: boolean }
  | { readonly do: "fallback"; readonly coolDown: boolean }
  | { readonly do: "fail"; readonly coolDown: boolean };

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

/** A retry if the time allows it; otherwise the fallback, or failure. */
function retryOrFallBack(situation: Situation, coolDown: boolean): Step {
  const inMs = delayFor(situation);
  const spent = situation.attempts >= situation.maxAttempts || inMs >= situation.turnLeftMs;
  if (!spent && (!situation.fallback || inMs < situation.shareLeftMs)) return { do: "retry", inMs };
  return situation.fallback ? { do: "fallback", coolDown } : { do: "fail", coolDown };
}

function afterRefusedKey(situation: Situation): Step {
  if (situation.otherKey) return { do: "rotate", coolDown: true };
  return situation.fallback ? { do: "fallback", coolDown: true } : { do: "fail", coolDown: true };
}

function afterRateLimit(situation: Situation): Step {
  const again = situation.rateRefusals >= 2;
  if (situation.otherKey && again) return { do: "rotate", coolDown: true };
  // Waits for the limit only when no other key or model is available.
  if (!situation.otherKey && situation.fallback) return { do: "fallback", coolDown: true };
  const step = retryOrFallBack(situation, again);
  return step.do !== "retry" && situation.otherKey ? { do: "rotate", coolDown: true } : step;
}

export function nextStep(situation: Situation): Step {
  const { failure, actions } = situation.verdict;
  if (situation.turnLeftMs <= 0) return { do: "fail", coolDown: false };
  if (actions.recovery !== undefined && situation.canRecover) return { do: "recover" };
  if (actions.compact) return { do: "fail", coolDown: false };
  if (failure.kind === "auth" || failure.kind === "billing") return afterRefusedKey(situation);
  if (failure.kind === "rate_limit") return afterRateLimit(situation);
  // If the recovery did not help, this endpoint will refuse the request again.
  if (actions.retry && actions.recovery === undefined) return retryOrFallBack(situation, false);
  return situation.fallback && (actions.fallback || actions.recovery !== undefined)
    ? { do: "fallback", coolDown: false }
    : { do: "fail", coolDown: false };
}
