import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { showControlCharacters, showTerminalControls } from "./visible-text.ts";

const CASES: readonly (readonly [name: string, text: string, shown: string])[] = [
  ["clear screen and home", "rm -rf data # \u001b[2J\u001b[Hls", "rm -rf data # \\x1b[2J\\x1b[Hls"],
  ["carriage return", "rm -rf data #\rls -la", "rm -rf data #\\rls -la"],
  ["carriage return before a line feed", "a\r\nb", "a\\r\nb"],
  ["OSC 52 with BEL", "\u001b]52;c;YQ==\u0007", "\\x1b]52;c;YQ==\\x07"],
  ["the one-byte CSI and OSC", "\u009b2J\u009d0;title\u009c", "\\x9b2J\\x9d0;title\\x9c"],
  ["backspace, delete, NUL", "a\b\u007f\u0000", "a\\x08\\x7f\\x00"],
  ["vertical tab, form feed, next line", "\u000b\u000c\u0085", "\\x0b\\x0c\\x85"],
  ["right-to-left override and isolates", "\u202e\u2066x\u2069", "\\u202e\\u2066x\\u2069"],
  ["zero width characters", "r\u200bm\u200d\u2060\ufeff", "r\\u200bm\\u200d\\u2060\\ufeff"],
  ["line and paragraph separators", "a\u2028b\u2029", "a\\u2028b\\u2029"],
  ["tag characters", "a\u{e0001}\u{e0072}", "a\\u{e0001}\\u{e0072}"],
  ["soft hyphen, fillers, variation selectors", "\u00ad\u3164\u115f\ufe0f", "\\xad\\u3164\\u115f\\ufe0f"],
  ["half of a surrogate pair", "a\ud83d", "a\\ud83d"],
];

describe("showControlCharacters", () => {
  it.each(CASES)("%s", (_name, text, shown) => {
    expect(showControlCharacters(text)).toBe(shown);
  });

  it.each(["git commit -m 'äöü 備份 😀'", "a\n\tb\n", "printf '\\x1b[2J'", "שלום عربي", ""])("leaves %j", (text) => {
    expect(showControlCharacters(text)).toBe(text);
  });

  const hostile = fc.array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("\u001b[2J", "\r", "\u202e", "\u200b", "\u009b", "\ud800", "\u{e0041}", "\n", "\t", "rm -rf x"),
    ),
    { maxLength: 20 },
  );

  it("escapes every control and invisible character, keeps the lines, and is idempotent", () => {
    fc.assert(
      fc.property(hostile, (parts) => {
        const text = parts.join("");
        const shown = showControlCharacters(text);
        expect(shown).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
        expect(showControlCharacters(shown)).toBe(shown);
        expect(shown.split("\n")).toHaveLength(text.split("\n").length);
      }),
    );
  });

  it("keeps plain text exactly", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii" }), (text) => {
        expect(showControlCharacters(text)).toBe(text);
      }),
    );
  });
});

describe("showTerminalControls", () => {
  it("escapes terminal controls and keeps joiners, direction marks and line ends", () => {
    expect(showTerminalControls("\u001b]0;t\u0007a\u009b2J\rb\r\nc")).toBe("\\x1b]0;t\\x07a\\x9b2J\\rb\nc");
    expect(showTerminalControls("👨\u200d👩\u200d👧 ❤\ufe0f می\u200cخواهم \u200fא")).toBe(
      "👨\u200d👩\u200d👧 ❤\ufe0f می\u200cخواهم \u200fא",
    );
  });

  it("leaves no control character but line feed and tab", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(showTerminalControls(text)).not.toMatch(/(?![\n\t])\p{Cc}/u);
      }),
    );
  });
});
