// What was refused in this turn: the same effect by another tool, spelling or interpreter is refused without asking.
import { rememberNewest } from "../../lib/remember-newest.ts";
import type { Effect } from "./effects.ts";

interface Denial {
  readonly key: string;
  readonly effects: readonly Effect[];
}

function overlap(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}

/** The same kind of thing done to the same target, or to a target that is not known. */
function isVariant(denied: Effect, tried: Effect): boolean {
  if (denied.category !== tried.category) return denied.rule === tried.rule;
  if (tried.targets.length === 0 || denied.targets.length === 0)
    return tried.level !== "note" && denied.level !== "note";
  return tried.targets.some((target) => denied.targets.some((other) => overlap(other, target)));
}

/** More turns than ever run at once. */
const MOST_SESSIONS = 2_000;

/** Kept per session; a new turn starts clean. */
export class Denials {
  readonly #bySession = new Map<string, Denial[]>();

  begin(sessionId: string): void {
    this.#bySession.delete(sessionId);
  }

  record(sessionId: string, key: string, effects: readonly Effect[]): void {
    const denials = this.#bySession.get(sessionId) ?? [];
    denials.push({ key, effects: effects.filter((effect) => effect.level !== "note") });
    rememberNewest(this.#bySession, sessionId, denials, MOST_SESSIONS);
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
