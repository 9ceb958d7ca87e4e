// Runs hooks: every callback in order, each with a time limit and on its own. One that fails is reported and skipped.
import type { HookName, Hooks } from "../../core/hook.ts";
import type { Json, JsonObject } from "../../core/message.ts";
import type { HookCallback } from "../../core/plugin.ts";

export const HOOK_MS = 5_000;
/** Failures in a row after which a callback is left alone for the rest of the process. */
const MAX_FAILURES = 3;

export interface HookListener {
  readonly callback: HookCallback;
  readonly timeoutMs?: number | undefined;
}

/** Somebody who listens; the callbacks may need code that is not loaded yet. Never rejects. */
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

/** Hooks whose answer replaces a text: only a text that says something counts. */
const TRANSFORMS: ReadonlySet<HookName> = new Set([
  "transform_terminal_output",
  "transform_tool_result",
  "transform_llm_output",
]);

function counts(name: HookName, answer: unknown): answer is Json {
  if (answer === undefined || answer === null) return false;
  return !TRANSFORMS.has(name) || (typeof answer === "string" && answer !== "");
}

async function limited(work: () => unknown, ms: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not answer within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([(async () => work())(), late]);
  } finally {
    clearTimeout(timer);
  }
}

export class HookRunner implements Hooks {
  readonly #sources: HookSource[] = [];
  readonly #health = new Map<HookListener, Health>();
  readonly #notice: (text: string) => void;
  readonly #timeoutMs: number;

  constructor(options: { notice(text: string): void; timeoutMs?: number | undefined }) {
    this.#notice = options.notice;
    this.#timeoutMs = options.timeoutMs ?? HOOK_MS;
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
        if (counts(name, answer)) answers.push(answer);
      }
    }
    return answers;
  }

  async #call(owner: string, name: HookName, listener: HookListener, args: JsonObject): Promise<unknown> {
    const health = this.#health.get(listener) ?? { failures: 0, reported: false, off: false };
    this.#health.set(listener, health);
    if (health.off) return undefined;
    try {
      const own = structuredClone(args) as JsonObject;
      const answer = await limited(() => listener.callback(own), listener.timeoutMs ?? this.#timeoutMs);
      health.failures = 0;
      return answer;
    } catch (error) {
      this.#failed(health, `${owner}, hook ${name}`, error);
      return undefined;
    }
  }

  #failed(health: Health, who: string, error: unknown): void {
    health.failures += 1;
    const reason = error instanceof Error ? error.message : String(error);
    if (health.failures >= MAX_FAILURES) {
      health.off = true;
      this.#notice(
        `${who}: failed ${MAX_FAILURES} times in a row and is off until the program starts again (${reason})`,
      );
    } else if (!health.reported) this.#notice(`${who}: ${reason}; skipped`);
    health.reported = true;
  }
}
