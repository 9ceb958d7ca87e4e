import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { displayWidth } from "../text/text-width.ts";
import { bar, barChart, sparkline } from "./charts.ts";

describe("bar", () => {
  test("fills its part and shades the rest", () => {
    expect(bar(0.5, 10)).toBe("█████░░░░░");
    expect(bar(0, 4)).toBe("░░░░");
    expect(bar(1, 4)).toBe("████");
  });

  test("shows a small part, and clamps parts outside 0 to 1", () => {
    expect(bar(0.001, 10)).toBe("█░░░░░░░░░");
    expect(bar(7, 3)).toBe("███");
    expect(bar(-1, 3)).toBe("░░░");
    expect(bar(Number.NaN, 3)).toBe("░░░");
  });
});

describe("sparkline", () => {
  test("scales from zero to the largest value", () => {
    expect(sparkline([0, 1, 7])).toBe("▁▂█");
    expect(sparkline([0, 0])).toBe("▁▁");
    expect(sparkline([])).toBe("");
  });

  test("keeps a peak when it condenses", () => {
    const values = Array.from({ length: 100 }, (_, index) => (index === 37 ? 100 : 1));
    expect(sparkline(values, 10)).toHaveLength(10);
    expect(sparkline(values, 10)).toContain("█");
  });
});

describe("barChart", () => {
  test("aligns labels, bars and texts", () => {
    const lines = barChart(
      [
        { label: "claude", value: 100, text: "$1.00" },
        { label: "数据", value: 50, text: "$0.50" },
      ],
      30,
    );
    expect(lines).toEqual(["claude  ███████████████  $1.00", "数据    ███████▌         $0.50"]);
  });

  test("fits any width", () => {
    const row = fc.record({
      label: fc.string({ unit: "grapheme", maxLength: 30 }),
      value: fc.double({ min: 0, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 8 }), fc.integer({ min: 1, max: 120 }), (rows, width) => {
        for (const line of barChart(rows, width)) expect(displayWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});
