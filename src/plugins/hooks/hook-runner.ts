// Runs hook callbacks in order, each with a time limit. A callback that fails is reported and skipped.
import type { HookName, Hooks } from "../../core/hook.ts";
import type { Json, JsonObject } from "../../core/message.ts";
import type { HookCallback } from "../../core/plugin.ts";
import { withTimeout } from "../../lib/async/with-timeout.ts";
import { errorMessage } from "../../lib/error-message.ts";

export const HOOK_TIMEOUT_MS = 5_000;
/** After this many failures in a row, a callback is disabled until the program restarts. */
const MAX_FAILURES = 3;

export interface HookListener {
  readonly callback: HookCallback;
  readonly timeoutMs?: number | undefined;
}

/** A plugin or shell hook with its callbacks. `listeners` may load code and never rejects. */
export interface HookSource {
  readonly owner: string;
  readonly names: readonly HookName[];
  listeners(name: HookName): Promise<readonly HookListener[]>;
}

interface Health {
  failures: number;
  reported: boolean;
  off: boolean;
}

/** Hooks whose answer replaces a text: an empty answer is ignored. */
const TRANSFORMS: ReadonlySet<HookName> = new Set([
  "transform_terminal_output",
  "transform_tool_result",
  "transform_llm_output",
]);

function isAnswer(name: HookName, answer: unknown): answer is Json {
  if (answer === undefined || answer === null) return false;
  return !TRANSFORMS.has(name) || (typeof answer === "string" && answer !== "");
}

function withLimit(work: () => unknown, ms: number): Promise<unknown> {
  return withTimeout((async () => work())(), ms, () => {
    throw new Error(`did not answer within ${ms / 1000} s`);
  });
}

export class HookRunner implements Hooks {
  readonly #sources: HookSource[] = [];
  readonly #health = new Map<HookListener, Health>();
  readonly #notice: (text: string) => void;
  readonly #timeoutMs: number;

  constructor(options: { notice(text: string): void; timeoutMs?: number | undefined }) {
    this.#notice = options.notice;
    this.#timeoutMs = options.timeoutMs ?? HOOK_TIMEOUT_MS;
  }

  /** Sources run in the order in which they were added. */
  add(source: HookSource): void {
    this.#sources.push(source);
  }

  listens(name: HookName): boolean {
    return this.#sources.some((source) => source.names.includes(name));
  }

  async run(name: HookName, args: JsonObject): Promise<readonly Json[]> {
    const answers: Json[] = [];
    for (const source of this.#sources) {
      if (!source.names.includes(name)) continue;
      for (const listener of await source.listeners(name)) {
        const answer = await this.#call(source.owner, name, listener, args);
        if (isAnswer(name, answer)) answers.push(answer);
      }
    }
    return answers;
  }

  async #call(owner: string, name: HookName, listener: HookListener, args: JsonObject): Promise<unknown> {
    const health = this.#health.get(listener) ?? { failures: 0, reported: false, off: false };
    this.#health.set(listener, health);
    if (health.off) return undefined;
    try {
      const copy = structuredClone(args) as JsonObject;
      const answer = await withLimit(() => listener.callback(copy), listener.timeoutMs ?? this.#timeoutMs);
      health.failures = 0;
      return answer;
    } catch (error) {
      this.#recordFailure(health, `${owner}, hook ${name}`, error);
      return undefined;
    }
  }

  #recordFailure(health: Health, who: string, error: unknown): void {
    health.failures += 1;
    const reason = errorMessage(error);
    if (health.failures >= MAX_FAILURES) {
      health.off = true;
      this.#notice(
        `${who}: failed ${MAX_FAILURES} times in a row and is disabled until the program restarts (${reason})`,
      );
    } else if (!health.reported) this.#notice(`${who}: ${reason}; skipped`);
    health.reported = true;
  }
}
