// Remembered approvals, for a session or permanently. An approval covers the exact command only, never a prefix.
import { rememberNewest } from "../../lib/remember-newest.ts";
import { SHELL_RULES } from "./analyse.ts";
import type { Effect } from "./effects.ts";

/** Hermes 0.14 stored the description of a pattern; such an entry allows every command that matches the rule. */
const LEGACY = new Map<string, Set<string>>();
for (const rule of SHELL_RULES) {
  for (const description of rule.legacy ?? []) {
    const rules = LEGACY.get(description.toLowerCase()) ?? new Set<string>();
    LEGACY.set(description.toLowerCase(), rules.add(rule.id));
  }
}

/** The stable key of a command: rules, folder and full text. Readable, because it is stored in config.yaml. */
export function intentKey(effects: readonly Effect[], cwd: string, normal: string): string {
  const rules = [...new Set(effects.filter((effect) => effect.level !== "note").map((effect) => effect.rule))].sort();
  return `exact [${rules.join(",")}] in ${cwd}: ${normal}`;
}

/** Beyond this number the sessions with the oldest approvals are dropped; they are asked again. */
const MAX_SESSIONS = 2_000;

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
    rememberNewest(this.#bySession, sessionId, (this.#bySession.get(sessionId) ?? new Set()).add(key), MAX_SESSIONS);
  }

  addPermanent(key: string): void {
    this.#permanent.add(key);
  }
}
