// Every form of terminal sequence is removed, and nothing else.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitOpenSequence, withoutTerminalSequences } from "./terminal-sequences.ts";

describe("terminal sequences", () => {
  it.each([
    ["colours", "\u001b[1;31mred\u001b[0m", "red"],
    ["24 bit colour with colons", "\u001b[38:2::255:0:0mred", "red"],
    ["tput sgr0", "a\u001b(B\u001b[mb", "ab"],
    ["the graphics character set", "\u001b)0x", "x"],
    ["save and restore", "\u001b7a\u001b8", "a"],
    ["keypad modes", "\u001b=a\u001b>", "a"],
    ["reset", "\u001bca", "a"],
    ["alignment test", "\u001b#8a", "a"],
    ["8-bit CSI", "\u009b31mred\u009b0m", "red"],
    ["a title", "\u001b]0;title\u0007a", "a"],
    ["a title that ends with ST", "\u001b]0;title\u001b\\a", "a"],
    ["a title that ends with 8-bit ST", "\u009d0;title\u009ca", "a"],
    ["a link", "\u001b]8;;http://x\u001b\\text\u001b]8;;\u001b\\", "text"],
    ["the clipboard", "\u001b]52;c;aGk=\u0007a", "a"],
    ["DCS", "\u001bPq#0;1;0\u001b\\a", "a"],
    ["8-bit DCS", "\u0090q\u009ca", "a"],
    ["APC, PM and SOS", "\u001b_x\u001b\\\u001b^y\u001b\\\u001bXz\u001b\\a", "a"],
    ["bracketed paste", "\u001b[200~a\u001b[201~", "a"],
    ["private modes", "\u001b[?25l\u001b[?1049ha", "a"],
    ["a cut-off sequence", "a\u001b[3", "a"],
    ["a cut-off title", "a\u001b]0;ti", "a"],
    ["a lone escape", "a\u001b", "a"],
    ["a title without an end does not hide a later colour", "\u001b]0;t\u001b[1mshown", "shown"],
    ["backspaces and bells", "a\u0008\u0007b", "ab"],
    ["tabs and line ends", "a\tb\r\nc\n", "a\tb\r\nc\n"],
    ["text with brackets", "x[0]m ]0; (B #8", "x[0]m ]0; (B #8"],
    ["other scripts", "żółć 日本 🙂", "żółć 日本 🙂"],
  ])("%s", (_name, text, expected) => expect(withoutTerminalSequences(text)).toBe(expected));

  it("removes a sequence that is cut at any place", () => {
    const text = "a\u001b[1;31mb\u001b]0;title\u001b\\c\u001b(Bd\u009b0me\u001bPq\u001b\\f";
    for (let cut = 0; cut <= text.length; cut++) {
      const first = splitOpenSequence(text.slice(0, cut));
      const second = splitOpenSequence(first.open + text.slice(cut));
      expect(withoutTerminalSequences(first.whole) + withoutTerminalSequences(second.whole)).toBe("abcdef");
    }
  });

  it("leaves no control character in any text, and is stable", () => {
    const unit = fc.constantFrom(
      "\u001b",
      "[",
      "]",
      "P",
      "\\",
      "\u009b",
      "\u009c",
      "\u0007",
      "0",
      ";",
      "m",
      "a",
      "(",
      "B",
    );
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        const plain = withoutTerminalSequences(text);
        expect(plain).not.toMatch(/[^\P{Cc}\t\n\r\u0085]/u);
        expect(withoutTerminalSequences(plain)).toBe(plain);
      }),
    );
  });
});
