// Progress bars: rate and time left, and a width that fits.
import { expect, it } from "vitest";
import { duration, progressText } from "./progress-bar.ts";

it("shows share, amount, rate and time left", () => {
  const state = { label: "Importing", done: 500, total: 2000, elapsedMs: 5_000, unit: "count", columns: 120 } as const;
  expect(progressText(state)).toBe("Importing ██████░░░░░░░░░░░░░░░░░░ 25% (500/2,000)  100/s, 15 s left");
  expect(progressText({ ...state, elapsedMs: 100 })).not.toContain("left");
  expect(progressText({ ...state, done: 2_000 })).toContain("100% (2,000/2,000)  400/s, 5 s");
  expect(progressText({ ...state, done: 5_000_000, total: 1e9, unit: "bytes" })).toContain(
    "977 KB/s, 16 min 35 s left",
  );
  expect(progressText({ ...state, columns: 30 }).length).toBeLessThan(30);
  expect(progressText({ ...state, done: 0, total: 0 })).toContain("100%");
});

it("names long times", () => expect([duration(59.6), duration(3700)]).toEqual(["1 min 0 s", "1 h 1 min"]));
