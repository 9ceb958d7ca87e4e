// The refusals of the gate, as the model reads them.
import type { Verdict } from "../../core/gate.ts";
import type { Effect } from "./effects.ts";
import { describePolicy, type PolicyDecision } from "./policies.ts";

export const NO_VARIANTS =
  "Do not retry it with another tool, spelling or interpreter; tell the user what you need instead.";
export const UNDECIDED = "Not run: the turn was stopped before the user answered.";

export function blocked(effect: Effect): Verdict {
  return {
    allowed: false,
    status: "blocked",
    rule: effect.rule,
    message: `Blocked: it ${effect.reason}. This is never allowed. ${NO_VARIANTS}`,
  };
}

export const SPLIT = "Split the command into smaller and simpler ones that can be checked separately.";

/** Refused in every mode: the user, the shell and the rules could each read the text differently. */
export function refuseUnreadable(problem: string): Verdict {
  return {
    allowed: false,
    status: "blocked",
    rule: "unreadable_text",
    message: `Not run: ${problem}. Then try again.`,
  };
}

export function deniedByPolicy(decision: PolicyDecision): Verdict {
  const message = `Denied by ${describePolicy(decision)}. ${NO_VARIANTS}`;
  return { allowed: false, status: "denied", rule: "policy", message };
}

export function denied(rule: string, why: string): Extract<Verdict, { allowed: false }> {
  return { allowed: false, status: "denied", rule, message: `Denied: ${why} ${NO_VARIANTS}` };
}
