import fc from "fast-check";
import { expect, it } from "vitest";
import { displayWidth, fitToWidth, padToWidth, splitToWidth } from "./text-width.ts";

it.each([
  ["hello", 5],
  ["备份", 4],
  ["ﾊﾛｰ", 3],
  ["안녕", 4],
  ["é", 1],
  ["e\u0301", 1],
  ["👩‍👩‍👧‍👦", 2],
  ["❤️", 2],
  ["🇩🇪", 2],
  ["\u200b", 0],
  ["", 0],
])("counts the cells of %j", (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

it("cuts at a grapheme and marks the cut", () => {
  expect(fitToWidth("备份数据库", 6)).toBe("备份…");
  expect(fitToWidth("short", 10)).toBe("short");
  expect(padToWidth("备", 4)).toBe("备  ");
  expect(padToWidth("7", 3, "right")).toBe("  7");
});

it("never exceeds the width", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), fc.integer({ min: 1, max: 30 }), (text, width) => {
      expect(displayWidth(fitToWidth(text, width))).toBeLessThanOrEqual(width);
    }),
  );
});

it("splits into pieces that fit and lose nothing", () => {
  expect(splitToWidth("", 5)).toEqual([""]);
  expect(splitToWidth("hello world", 5)).toEqual(["hello", " worl", "d"]);
  expect(splitToWidth("备份备", 3)).toEqual(["备", "份", "备"]);
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 2, max: 20 }), (text, width) => {
      const pieces = splitToWidth(text, width);
      expect(pieces.join("")).toBe(text);
      for (const piece of pieces) expect(displayWidth(piece)).toBeLessThanOrEqual(width);
    }),
  );
});
