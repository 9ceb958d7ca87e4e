import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { classify } from "./classify.ts";
import { backoffMs, nextStep, type Situation } from "./retry-plan.ts";

const WHO = { provider: "p", model: "m", label: "P" };

function situation(status: number, extra: Partial<Situation> = {}, retryAfterMs?: number): Situation {
  return {
    verdict: classify({ status, message: "", ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }, WHO),
    attempts: 1,
    maxAttempts: 3,
    rateRefusals: status === 429 ? 1 : 0,
    otherKey: false,
    fallback: false,
    canRecover: false,
    turnLeftMs: 1_800_000,
    shareLeftMs: 25_000,
    backoff: { baseMs: 2_000, maxMs: 60_000, random: 0 },
    ...extra,
  };
}

describe("the next step", () => {
  test("the pause doubles up to a limit, plus a random half", () => {
    const options = { baseMs: 2_000, maxMs: 60_000, random: 0 };
    expect([1, 2, 3, 9].map((attempt) => backoffMs(attempt, options))).toEqual([2_000, 4_000, 8_000, 60_000]);
    expect(backoffMs(1, { ...options, random: 1 })).toBe(3_000);
  });

  test("Retry-After is obeyed up to two minutes, and not at all when a fallback can answer now", () => {
    expect(nextStep(situation(429, {}, 30_000))).toEqual({ do: "retry", inMs: 30_000 });
    expect(nextStep(situation(429, {}, 999_000))).toEqual({ do: "retry", inMs: 120_000 });
    expect(nextStep(situation(429, { fallback: true }, 1_000)).do).toBe("fallback");
    expect(nextStep(situation(503, { fallback: true }, 40_000)).do).toBe("fallback");
  });

  test("rotation comes before fallback", () => {
    expect(nextStep(situation(401, { otherKey: true, fallback: true })).do).toBe("rotate");
    expect(nextStep(situation(429, { otherKey: true, fallback: true, rateRefusals: 2 })).do).toBe("rotate");
    expect(nextStep(situation(402, { fallback: true })).do).toBe("fallback");
    expect(nextStep(situation(402)).do).toBe("fail");
  });

  test("pauses end with the primary's time when there is a fallback, and with the turn", () => {
    const statuses = fc.constantFrom(400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 529);
    const facts = fc.record({
      attempts: fc.integer({ min: 1, max: 10 }),
      rateRefusals: fc.integer({ min: 0, max: 5 }),
      otherKey: fc.boolean(),
      fallback: fc.boolean(),
      turnLeftMs: fc.integer({ min: -10, max: 1_800_000 }),
      shareLeftMs: fc.integer({ min: -10, max: 25_000 }),
    });
    const wait = fc.option(fc.integer({ min: 0, max: 10_000_000 }), { nil: undefined });
    fc.assert(
      fc.property(statuses, facts, wait, (status, extra, retryAfterMs) => {
        const step = nextStep(situation(status, extra, retryAfterMs));
        if (step.do !== "retry") return;
        expect(step.inMs).toBeLessThan(extra.turnLeftMs);
        if (extra.fallback) expect(step.inMs).toBeLessThan(extra.shareLeftMs);
        expect(extra.attempts).toBeLessThan(3);
      }),
    );
  });
});
