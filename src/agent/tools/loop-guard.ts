// Detects that a model repeats calls without progress. No I/O.

export interface GuardLimits {
  /** The same call fails again. */
  readonly exactFailure: number;
  /** One tool fails repeatedly, with any arguments. */
  readonly sameToolFailure: number;
  /** The same calls have the same results, alone or in a cycle of up to four. */
  readonly noProgress: number;
}

/** `tool_loop_guardrails`. */
export interface GuardSettings {
  readonly warnings: boolean;
  readonly hardStop: boolean;
  readonly warnAfter: GuardLimits;
  readonly stopAfter: GuardLimits;
}

const GUARD_DEFAULTS: GuardSettings = {
  warnings: true,
  hardStop: false,
  warnAfter: { exactFailure: 2, sameToolFailure: 3, noProgress: 2 },
  stopAfter: { exactFailure: 5, sameToolFailure: 8, noProgress: 5 },
};

export interface ObservedCall {
  readonly tool: string;
  /** Canonical arguments: the same for equal calls. */
  readonly args: string;
  /** A digest of the result; times and counters of the runner are not part of it. */
  readonly result: string;
  readonly failed: boolean;
  readonly mutates: boolean;
  /** Polling and paging tools are repeated on purpose. */
  readonly repeatable: boolean;
}

export type GuardCode = "repeated_exact_failure" | "same_tool_failure" | "idempotent_no_progress";

export type GuardVerdict =
  | { readonly kind: "fine" }
  | { readonly kind: "warn" | "stop"; readonly code: GuardCode; readonly times: number; readonly text: string };

const MAX_CYCLE = 4;
const FINE: GuardVerdict = { kind: "fine" };

function adviceFor(code: GuardCode, tool: string, times: number): string {
  if (code === "repeated_exact_failure")
    return `[Loop guard: this exact ${tool} call has failed ${times} times. Repeating it will not help: change the arguments or the approach, or tell the user what blocks you.]`;
  if (code === "same_tool_failure")
    return `[Loop guard: ${tool} has failed ${times} times in a row. Stop varying it: check what you assume, use another way, or tell the user what blocks you.]`;
  return `[Loop guard: the same calls have returned the same results ${times} times. There is nothing new to learn from them: use what you have, or try something else.]`;
}

/** One guard serves one turn. */
export class LoopGuard {
  readonly #settings: GuardSettings;
  readonly #history: { readonly signature: string; readonly mutates: boolean }[] = [];
  readonly #exactFailures = new Map<string, number>();
  readonly #toolFailures = new Map<string, number>();

  constructor(settings: Partial<GuardSettings> = {}) {
    this.#settings = { ...GUARD_DEFAULTS, ...settings };
  }

  observe(call: ObservedCall): GuardVerdict {
    if (call.repeatable && !call.failed) return FINE;
    const key = `${call.tool}\u0000${call.args}`;
    this.#history.push({ signature: `${key}\u0000${call.result}`, mutates: call.mutates });
    if (!call.failed) {
      this.#exactFailures.delete(key);
      this.#toolFailures.delete(call.tool);
      return this.#judge("idempotent_no_progress", call.tool, this.#cycleRepeats());
    }
    const exact = (this.#exactFailures.get(key) ?? 0) + 1;
    const same = (this.#toolFailures.get(call.tool) ?? 0) + 1;
    this.#exactFailures.set(key, exact);
    this.#toolFailures.set(call.tool, same);
    const byCall = this.#judge("repeated_exact_failure", call.tool, exact);
    const byTool = this.#judge("same_tool_failure", call.tool, same);
    if (byCall.kind === "stop" || byTool.kind === "fine") return byCall;
    return byTool.kind === "stop" || byCall.kind === "fine" ? byTool : byCall;
  }

  /**
   * How often the newest 1 to 4 calls were repeated with the same results. A cycle that changes something gets one
   * more round: an edit and a test may legitimately fail twice in the same way.
   */
  #cycleRepeats(): number {
    const history = this.#history;
    let most = 1;
    for (let period = 1; period <= MAX_CYCLE; period++) {
      let matched = 0;
      while (
        matched + period < history.length &&
        history.at(-1 - matched)?.signature === history.at(-1 - matched - period)?.signature
      )
        matched++;
      const rounds = Math.floor(matched / period) + 1;
      const changes = history.slice(-period).some((entry) => entry.mutates);
      most = Math.max(most, changes ? rounds - 1 : rounds);
    }
    return most;
  }

  #judge(code: GuardCode, tool: string, times: number): GuardVerdict {
    const limit = code === "repeated_exact_failure" ? "exactFailure" : "noProgress";
    const name = code === "same_tool_failure" ? "sameToolFailure" : limit;
    const { warnings, hardStop, warnAfter, stopAfter } = this.#settings;
    const text = adviceFor(code, tool, times);
    if (hardStop && times >= stopAfter[name]) return { kind: "stop", code, times, text };
    if (warnings && times >= warnAfter[name]) return { kind: "warn", code, times, text };
    return FINE;
  }
}

/** The result without times and durations, which change although nothing new was learned. */
export function withoutTimes(text: string): string {
  return text
    .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?/g, "<time>")
    .replace(/"(duration|elapsed|took|timestamp)[a-z_]*":\s*"?[\d.]+"?/gi, '"$1":0');
}
