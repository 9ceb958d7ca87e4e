import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emulateLines } from "../../../../test/kit/emulated-lines.ts";
import { displayWidth } from "../../../lib/text/text-width.ts";
import { cleanText } from "./clean.ts";
import { span } from "./span.ts";
import { wrap } from "./wrap.ts";

const plain = (text: string, width: number) => wrap([span(text)], width);

describe("word wrap", () => {
  it("breaks at spaces, drops them there, and keeps indentation and inner spaces", () => {
    expect(plain("the quick brown fox", 10)).toEqual(["the quick", "brown fox"]);
    expect(plain("  indented  twice", 40)).toEqual(["  indented  twice"]);
    expect(plain("a\n\nb", 10)).toEqual(["a", "", "b"]);
  });

  it("breaks inside a word only when it is longer than a line", () => {
    expect(plain("see https://example.org/a/long/path now", 12)).toEqual([
      "see",
      "https://exam",
      "ple.org/a/lo",
      "ng/path now",
    ]);
  });

  it("keeps a word together that has several styles", () => {
    const lines = wrap([span("one "), span("bo", "1"), span("ld")], 6);
    expect(lines).toEqual(["one", "\u001b[1mbo\u001b[0mld"]);
  });

  it("breaks between East Asian characters, not before closing punctuation or after opening brackets", () => {
    expect(plain("数据库正常。好", 6)).toEqual(["数据库", "正常。", "好"]);
    expect(plain("数据库。", 6)).toEqual(["数据", "库。"]);
    expect(plain("数据（库）", 6)).toEqual(["数据", "（库）"]);
    expect(plain("ok数据", 4)).toEqual(["ok数", "据"]);
  });

  it.each([
    "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦",
    "e\u0301e\u0301e\u0301e\u0301e\u0301",
    "🇩🇪🇫🇷🇯🇵",
    "नमस्ते दुनिया",
    "مرحبا بالعالم",
    "한국어 문장입니다",
  ])("fits %s by the judgement of a terminal emulator", async (text) => {
    const lines = plain(text, 5);
    for (const [index, seen] of (await emulateLines(lines, 6)).entries()) {
      expect(seen.wrapped).toBe(false);
      expect(seen.cells).toBeLessThanOrEqual(5);
      if (!/\p{Script=Devanagari}/u.test(text)) expect(seen.cells).toBe(displayWidth(lines[index] ?? ""));
    }
    expect(lines.join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
  });

  it("never exceeds the width and loses nothing but spaces, for any text", () => {
    const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary" }), fc.string());
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), fc.integer({ min: 2, max: 40 }), (parts, width) => {
        const spans = parts.map((part) => span(cleanText(part).replaceAll("\t", " ")));
        const lines = wrap(spans, width);
        for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
        const bare = (value: string) => value.replaceAll(/[ \n]/g, "");
        expect(bare(lines.join(""))).toBe(bare(spans.map((part) => part.text).join("")));
      }),
      { numRuns: 60 },
    );
  });
});
