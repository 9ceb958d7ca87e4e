// Long answers cut into messages.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { measure, splitText } from "./split-text.ts";

describe("splitText", () => {
  it("does not change short text, and numbers the parts of long text", () => {
    expect(splitText("hello", { max: 10, unit: "utf16" })).toEqual(["hello"]);
    const parts = splitText(`${"word ".repeat(60)}`, { max: 100, unit: "utf16" });
    expect(parts[0]).toMatch(/ \(1\/\d+\)$/);
    for (const part of parts) expect(part).not.toMatch(/wor $/);
  });

  it("closes a code block at the end of a part and opens it again with its language", () => {
    const parts = splitText(`before\n\`\`\`python\n${"x = 1\n".repeat(50)}\`\`\`\nafter`, { max: 120, unit: "utf16" });
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) expect((part.match(/```/g) ?? []).length % 2).toBe(0);
    // After the fence, the number would keep the block open.
    expect(parts[0]).toMatch(/\n```\n\(1\/\d+\)$/);
    expect(parts[1]).toMatch(/^```python\n/);
  });

  it("keeps every word in order and every part within the limit, for any text and unit", () => {
    const unit = fc.constantFrom("utf16" as const, "codepoints" as const, "bytes" as const);
    const words = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }), { maxLength: 80 });
    fc.assert(
      fc.property(words, unit, fc.integer({ min: 60, max: 300 }), (list, counted, max) => {
        const source = list.map((word) => word.replaceAll(/[`~\s]/g, "x")).join(" ");
        const parts = splitText(source, { max, unit: counted });
        for (const part of parts) expect(measure(part, counted)).toBeLessThanOrEqual(max);
        const joined = parts.map((part) => (parts.length > 1 ? part.replace(/ \(\d+\/\d+\)$/, "") : part)).join("");
        expect(joined.replaceAll(/\s/g, "")).toBe(source.replaceAll(/\s/g, ""));
      }),
    );
  });
});
