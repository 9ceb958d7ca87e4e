// Long lines break at spaces and nowhere else.
import fc from "fast-check";
import { expect, it } from "vitest";
import { displayWidth } from "./text-width.ts";
import { wrapWords } from "./wrap-words.ts";

it("breaks at spaces, keeps short lines and the indent of long ones", () => {
  expect(wrapWords("one two three\n  four five six seven", 12)).toBe("one two\nthree\n  four five\n  six seven");
  expect(wrapWords("one two three", Number.POSITIVE_INFINITY)).toBe("one two three");
});

it("does not break a word that is longer than a line, and does not count colour codes", () => {
  expect(wrapWords("see /a/very/long/path now", 8)).toBe("see\n/a/very/long/path\nnow");
  expect(wrapWords("\u001b[31merror:\u001b[39m no job", 13)).toBe("\u001b[31merror:\u001b[39m no job");
});

it("begins continued lines with the given text", () => {
  expect(wrapWords("  --name  a short name", 16, " ".repeat(10))).toBe("  --name  a\n          short\n          name");
});

it("loses no word and makes no line longer than its longest word", () => {
  const words = fc.array(fc.stringMatching(/^[a-z\u4e00-\u4e10]{1,12}$/), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(words, fc.integer({ min: 4, max: 60 }), (list, width) => {
      const wrapped = wrapWords(list.join(" "), width);
      expect(wrapped.split(/[ \n]/)).toEqual(list);
      for (const line of wrapped.split("\n")) expect(displayWidth(line) <= width || !line.includes(" ")).toBe(true);
    }),
  );
});
