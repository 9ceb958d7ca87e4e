// Approvals that are remembered: for a session or for good, always for the exact intent and never for a beginning of it.
import { rememberNewest } from "../../lib/remember-newest.ts";
import { SHELL_RULES } from "./analyse.ts";
import type { Effect } from "./effects.ts";

/** Older homes keep the description of a pattern; it stands for every command under that rule. */
const LEGACY = new Map<string, Set<string>>();
for (const rule of SHELL_RULES) {
  for (const description of rule.legacy ?? []) {
    const rules = LEGACY.get(description.toLowerCase()) ?? new Set<string>();
    LEGACY.set(description.toLowerCase(), rules.add(rule.id));
  }
}

/** The stable key of an intent: rules, place and the whole text. Readable, because people keep it in config.yaml. */
export function intentKey(effects: readonly Effect[], cwd: string, normal: string): string {
  const rules = [...new Set(effects.filter((effect) => effect.level !== "note").map((effect) => effect.rule))].sort();
  return `exact [${rules.join(",")}] in ${cwd}: ${normal}`;
}

/** Of more sessions those go whose last approval is the oldest: they ask again. */
const MOST_SESSIONS = 2_000;

export class AllowList {
  readonly #bySession = new Map<string, Set<string>>();
  readonly #permanent = new Set<string>();

  constructor(permanent: Iterable<string>) {
    for (const entry of permanent) this.#permanent.add(entry);
  }

  allows(sessionId: string, key: string, effects: readonly Effect[]): boolean {
    if (this.#permanent.has(key) || this.#bySession.get(sessionId)?.has(key)) return true;
    const stopping = effects.filter((effect) => effect.level !== "note");
    return stopping.length > 0 && stopping.every((effect) => this.#coveredByDescription(effect.rule));
  }

  #coveredByDescription(rule: string): boolean {
    for (const entry of this.#permanent) {
      const text = entry.toLowerCase();
      if (text === rule || LEGACY.get(text)?.has(rule)) return true;
    }
    return false;
  }

  addForSession(sessionId: string, key: string): void {
    rememberNewest(this.#bySession, sessionId, (this.#bySession.get(sessionId) ?? new Set()).add(key), MOST_SESSIONS);
  }

  addPermanent(key: string): void {
    this.#permanent.add(key);
  }
}
