// The loop guard against a corpus of loops and of honest work.
import { describe, expect, it } from "vitest";
import { type GuardVerdict, LoopGuard, type ObservedCall, withoutTimes } from "./loop-guard.ts";

function seen(tool: string, args: string, result: string, more: Partial<ObservedCall> = {}): ObservedCall {
  return { tool, args, result, failed: false, mutates: false, repeatable: false, ...more };
}

/** A small generator with a fixed seed: the corpus is the same in every run. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const READERS = ["read_file", "search_files", "web_search", "session_search"];
const WRITERS = ["terminal", "write_file", "patch", "browser_click"];

function someCall(roll: (below: number) => number, tag: string): ObservedCall {
  const mutates = roll(3) === 0;
  const names = mutates ? WRITERS : READERS;
  const name = names[roll(names.length)] ?? "read_file";
  return seen(name, `${tag}${roll(1_000_000)}`, `r${tag}${roll(1_000_000)}`, { mutates });
}

/** Some honest steps, then a cycle of 1 to 4 calls that never changes. */
function loopTrace(seed: number): { calls: ObservedCall[]; from: number } {
  const roll = dice(seed);
  const start = Array.from({ length: roll(12) }, (_, index) => someCall(roll, `s${index}`));
  const period = 1 + roll(4);
  const failing = roll(4) === 0;
  const cycle = Array.from({ length: period }, (_, index) => ({ ...someCall(roll, `c${index}`), failed: failing }));
  const rounds = Array.from({ length: 5 }, () => cycle).flat();
  return { calls: [...start, ...rounds], from: start.length };
}

/** Work that repeats in form but makes progress: edits and tests, paging, polling, looking twice after a change. */
function honestTrace(seed: number): ObservedCall[] {
  const roll = dice(seed + 77_777);
  const kind = seed % 6;
  const steps = 6 + roll(30);
  return Array.from({ length: steps }, (_, step): ObservedCall[] => {
    if (kind === 0)
      return [
        seen("patch", `file edit ${step} ${roll(1e6)}`, "ok", { mutates: true }),
        seen("terminal", "npm test", `fails at ${roll(1e6)}`, { mutates: true, failed: step % 3 === 1 }),
      ];
    if (kind === 1) return [seen("read_file", `big.log offset ${step * 500}`, `page ${step}`)];
    if (kind === 2) return [seen("process", "poll 7", "still running", { repeatable: true })];
    if (kind === 3)
      return [
        seen("read_file", `f${step % 3}`, `version ${step}`),
        seen("write_file", `f${step % 3} v${step}`, "written", { mutates: true }),
      ];
    if (kind === 4)
      return [someCall(roll, `n${step}`), seen("read_file", "notes.md", "the same notes"), someCall(roll, `m${step}`)];
    return [someCall(roll, `w${step}`), seen("search_files", `word${step}`, "no matches")];
  }).flat();
}

const alarms = (calls: readonly ObservedCall[]): GuardVerdict[] => {
  const guard = new LoopGuard();
  return calls.map((call) => guard.observe(call));
};

describe("the loop guard", () => {
  it("catches at least 95 % of loops, within three rounds and not before they begin", () => {
    let caught = 0;
    const total = 500;
    for (let seed = 1; seed <= total; seed++) {
      const { calls, from } = loopTrace(seed);
      const first = alarms(calls).findIndex((verdict) => verdict.kind !== "fine");
      if (first >= from) caught += 1;
    }
    expect(caught / total).toBeGreaterThanOrEqual(0.95);
  });

  it("reports a loop in at most 2 % of honest runs", () => {
    let alarmed = 0;
    const total = 500;
    for (let seed = 1; seed <= total; seed++)
      if (alarms(honestTrace(seed)).some((verdict) => verdict.kind !== "fine")) alarmed += 1;
    expect(alarmed / total).toBeLessThanOrEqual(0.02);
  });

  it("warns of repeated failures by call and by tool, and forgets them after a success", () => {
    const guard = new LoopGuard();
    const fail = (args: string) => guard.observe(seen("terminal", args, args, { failed: true, mutates: true }));
    expect(fail("a").kind).toBe("fine");
    expect(fail("a")).toMatchObject({ kind: "warn", code: "repeated_exact_failure", times: 2 });
    expect(fail("b")).toMatchObject({ kind: "warn", code: "same_tool_failure", times: 3 });
    guard.observe(seen("terminal", "c", "fine", { mutates: true }));
    expect(fail("d").kind).toBe("fine");
  });

  it("stops only when configured to", () => {
    const same = seen("read_file", "a", "x");
    const soft = new LoopGuard();
    const hard = new LoopGuard({ hardStop: true });
    for (let round = 0; round < 4; round++) {
      expect(soft.observe(same).kind).not.toBe("stop");
      expect(hard.observe(same).kind).not.toBe("stop");
    }
    expect(soft.observe(same).kind).toBe("warn");
    expect(hard.observe(same)).toMatchObject({ kind: "stop", code: "idempotent_no_progress" });
    const silent = new LoopGuard({ warnings: false });
    for (let round = 0; round < 20; round++) expect(silent.observe(same).kind).toBe("fine");
  });

  it("does not count a changing time as progress", () => {
    const a = withoutTimes('{"at":"2026-01-02T03:04:05Z","duration_ms": 12, "out":"x"}');
    expect(a).toBe(withoutTimes('{"at":"2026-01-02T03:04:09Z","duration_ms": 99, "out":"x"}'));
  });
});
