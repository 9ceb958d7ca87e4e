// What reaches the terminal: styles only.
import fc from "fast-check";
import { expect, test } from "vitest";
import { styledLine } from "./styled-line.ts";

const ESC = "\u001b";

test("styles pass, everything else that a terminal interprets is shown", () => {
  expect(styledLine(`${ESC}[1;31mred${ESC}[0m`)).toBe(`${ESC}[1;31mred${ESC}[0m`);
  expect(styledLine(`${ESC}]0;title\u0007x`)).toBe("\\x1b]0;title\\x07x");
  expect(styledLine(`${ESC}[2Jx${ESC}[31m`)).toBe(`\\x1b[2Jx${ESC}[31m`);
  expect(styledLine("\u009b2J")).toBe("\\x9b2J");
  expect(styledLine("rm \u202egpj.exe")).toBe("rm \\u202egpj.exe");
  expect(styledLine("a\tb\rc\nd")).toBe("a    b\\rc d");
  expect(styledLine("日本語 👩‍👩‍👧 é")).toBe("日本語 👩‍👩‍👧 é");
});

test("no text leaves a control character besides styles", () => {
  const pieces = fc.constantFrom(
    ESC,
    "[",
    "]",
    "0",
    ";",
    "m",
    "J",
    "\u009b",
    "\u0090",
    "\u0007",
    "\r",
    "x",
    "\u202e",
    "P",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
      const left = styledLine(parts.join("")).replaceAll(new RegExp(`${ESC}\\[[0-9;:]*m`, "g"), "");
      expect(left).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    }),
  );
});
