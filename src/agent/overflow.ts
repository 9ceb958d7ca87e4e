// The provider says that a request is too large: its limit is learnt, the log shortened, the call repeated for free.
import type { Failure, FailureKind } from "../core/failure.ts";
import { compact } from "./compaction.ts";
import type { TurnScope } from "./turn-scope.ts";

const MOST_OVERFLOWS = 3;
const TOO_LARGE: ReadonlySet<FailureKind> = new Set(["context_overflow", "payload_too_large", "long_context_tier"]);
const LONG_CONTEXT_TIER = 200_000;
/** Window sizes that models come in, for refusals that name no limit. */
const TIERS = [256_000, 200_000, 128_000, 64_000, 32_000, 16_000, 8_000];

export function isOverflow(failure: Failure): boolean {
  return TOO_LARGE.has(failure.kind);
}

/** The window that the refusal tells of: named, or the next usual size below what was refused. */
function limitFrom(failure: Failure, requestTokens: number): number | undefined {
  if (failure.limitTokens !== undefined && failure.limitTokens > 0) return failure.limitTokens;
  if (failure.kind === "long_context_tier") return LONG_CONTEXT_TIER;
  return TIERS.find((tier) => tier < requestTokens);
}

function learn(turn: TurnScope, limit: number | undefined): void {
  const { engine, provider } = turn.thread.parts;
  if (limit !== undefined && limit < engine.contextLength) engine.updateModel?.(provider.identity.model, limit);
}

async function shrink(turn: TurnScope): Promise<boolean> {
  if (!(await compact(turn.thread, turn)).shrunk) return false;
  turn.findUserMessage();
  turn.callsLeft += 1;
  return true;
}

/** Undefined when the call may be repeated; otherwise the failure that ends the turn. */
export async function shrinkAfterOverflow(turn: TurnScope, failure: Failure): Promise<Failure | undefined> {
  const { thread } = turn;
  turn.overflows += 1;
  if (thread.parts.settings.compression !== false && turn.overflows <= MOST_OVERFLOWS) {
    const limit = limitFrom(failure, thread.requestTokens());
    // A body of too many bytes says nothing about the window, unless an ordinary pass does not help.
    if (failure.kind !== "payload_too_large") learn(turn, limit);
    if (await shrink(turn)) return undefined;
    if (failure.kind === "payload_too_large" && !turn.signal.aborted) {
      learn(turn, limit);
      if (await shrink(turn)) return undefined;
    }
  }
  const hint = failure.hint ?? "Start a new conversation, or choose a model with a larger window.";
  return { ...failure, hint };
}
