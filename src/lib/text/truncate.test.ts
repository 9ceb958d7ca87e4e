import { expect, test } from "vitest";
import { truncate, truncateMiddle } from "./truncate.ts";

test("a text that fits stays; a longer one ends with an ellipsis within the limit", () => {
  expect(truncate("four", 4)).toBe("four");
  expect(truncate("fives", 4)).toBe("fiv…");
});

test("a surrogate pair is not split", () => {
  expect(truncate("ab😀cd", 4)).toBe("ab…");
});

test("the middle of a long text is replaced by the marker", () => {
  expect(truncateMiddle("0123456789abcdefghij", 10, "[…]")).toBe("0123456\n[…]\nhij");
  expect(truncateMiddle("short", 10, "[…]")).toBe("short");
});
