// Denials of the current turn: the same effect through another tool, spelling or interpreter is denied without asking.
import { rememberNewest } from "../../lib/remember-newest.ts";
import type { Effect } from "./effects.ts";

interface Denial {
  readonly key: string;
  readonly effects: readonly Effect[];
}

function overlap(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}

/** True for an effect of the same category on the same target, or on an unknown target. */
function isVariant(denied: Effect, tried: Effect): boolean {
  if (denied.category !== tried.category) return denied.rule === tried.rule;
  if (tried.targets.length === 0 || denied.targets.length === 0)
    return tried.level !== "note" && denied.level !== "note";
  return tried.targets.some((target) => denied.targets.some((other) => overlap(other, target)));
}

/** Far above the number of turns that run at the same time. */
const MAX_SESSIONS = 2_000;

/** Denials per session; `begin` clears them at the start of a turn. */
export class Denials {
  readonly #bySession = new Map<string, Denial[]>();

  begin(sessionId: string): void {
    this.#bySession.delete(sessionId);
  }

  record(sessionId: string, key: string, effects: readonly Effect[]): void {
    const denials = this.#bySession.get(sessionId) ?? [];
    denials.push({ key, effects: effects.filter((effect) => effect.level !== "note") });
    rememberNewest(this.#bySession, sessionId, denials, MAX_SESSIONS);
  }

  /** The rule of the earlier denial that this attempt repeats. */
  find(sessionId: string, key: string, effects: readonly Effect[]): string | undefined {
    for (const denial of this.#bySession.get(sessionId) ?? []) {
      if (denial.key === key) return denial.effects[0]?.rule ?? "denied";
      for (const denied of denial.effects) if (effects.some((effect) => isVariant(denied, effect))) return denied.rule;
    }
    return undefined;
  }
}
