import { expect, test } from "vitest";
import { oneLine } from "./one-line.ts";

test("breaks, runs of space and control characters become one space", () => {
  expect(oneLine(" a\r\n\tb\u001b[31m  c ")).toBe("a b [31m c");
});

test("a limit shortens, also when most of the text was white space", () => {
  expect(oneLine("one two three", 8)).toBe("one two…");
  expect(oneLine(`one${" ".repeat(100)}two`, 8)).toBe("one…");
  expect(oneLine("one", 8)).toBe("one");
});
