// Joined signals: they fire with the first source, and the sources forget them.
import { getEventListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { joinSignals, underSignals } from "./joined-signal.ts";

const listeners = (source: AbortController) => getEventListeners(source.signal, "abort").length;

describe("joined signals", () => {
  it("abort with the first source and its reason", () => {
    const program = new AbortController();
    const turn = new AbortController();
    const { signal } = joinSignals([program.signal, turn.signal], 60_000);
    turn.abort("enough");
    program.abort("stop");
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBe("enough");
  });

  it("are aborted when a source was aborted before", () => {
    const { signal, late } = joinSignals([new AbortController().signal, AbortSignal.abort("gone")], 5);
    expect(signal.reason).toBe("gone");
    expect(late).toBe(false);
  });

  it("abort after the time limit, and report it", async () => {
    const source = new AbortController();
    const joined = joinSignals([source.signal], 5);
    await new Promise((resolve) => joined.signal.addEventListener("abort", resolve));
    expect(joined.late).toBe(true);
    expect((joined.signal.reason as DOMException).name).toBe("TimeoutError");
    expect(listeners(source)).toBe(0);
  });

  it("abort in time after a garbage collection", async () => {
    setFlagsFromString("--expose-gc");
    const tidying = setInterval(runInNewContext("gc") as () => void, 20);
    const fired = () =>
      new Promise((resolve) =>
        joinSignals([new AbortController().signal], 200).signal.addEventListener("abort", resolve),
      );
    try {
      expect(await fired()).toBeInstanceOf(Event);
    } finally {
      clearInterval(tidying);
    }
  });

  it("do not abort at once when the limit is longer than the longest timer", async () => {
    const { signal, release } = joinSignals([], 40 * 86_400_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(signal.aborted).toBe(false);
    release();
  });

  it("leave no listener on a source, whether the work succeeds, fails or is stopped", async () => {
    const program = new AbortController();
    const turn = new AbortController();
    const sources = [program.signal, turn.signal];
    expect(await underSignals(sources, 60_000, async (signal) => signal.aborted)).toBe(false);
    await expect(underSignals(sources, undefined, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    const { signal } = joinSignals(sources);
    expect(listeners(program)).toBe(1);
    turn.abort();
    expect(signal.aborted).toBe(true);
    expect(listeners(program)).toBe(0);
  });

  it("do not abort after the work", async () => {
    const program = new AbortController();
    const kept = await underSignals([program.signal], 5, async (signal) => signal);
    program.abort();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(kept.aborted).toBe(false);
  });
});
