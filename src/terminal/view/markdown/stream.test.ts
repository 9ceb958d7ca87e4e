import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { emulateLines } from "../../../../test/kit/emulated-lines.ts";
import { loadMarkdownLexer, type MarkdownLexer } from "../../../lib/markdown/lexer.ts";
import { displayWidth } from "../../../lib/text/text-width.ts";
import { DEFAULT_SKIN } from "../theme/builtin-skins.ts";
import type { ColorDepth } from "../theme/color.ts";
import { createTheme } from "../theme/theme.ts";
import { loadHighlighter } from "./highlight.ts";
import { type MarkdownMode, MarkdownStream } from "./stream.ts";

let lexer: MarkdownLexer;
beforeAll(async () => {
  lexer = await loadMarkdownLexer();
  await loadHighlighter();
});

const SGR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");
const bare = (line: string) => line.replaceAll(SGR, "");

function open(depth: ColorDepth = "none", mode: MarkdownMode = "render"): MarkdownStream {
  return new MarkdownStream({ lexer, theme: createTheme({ skin: DEFAULT_SKIN, depth, background: "dark" }) }, mode);
}

function drawn(stream: MarkdownStream, width: number): string[] {
  return stream.takeSettled().flatMap((block) => [...block.render(width)]);
}

function render(source: string, width = 40, depth: ColorDepth = "none", mode: MarkdownMode = "render"): string[] {
  const stream = open(depth, mode);
  stream.append(source);
  stream.finish();
  return drawn(stream, width);
}

const SAMPLE = `# Title

Some **bold** text with \`code\` and a [link](https://example.org).

- one
- two
  - inner 数据库

  more of two
1. first
10. tenth

> quoted text that is longer than the line
> - with a list

| a | b |
|---|--:|
| 数据 | 1 |
| x | 22 |

\`\`\`ts
const a = 1;

// comment
\`\`\`
The end, at last.
***
- [x] done
- [ ] open
`;

describe("Markdown", () => {
  it("draws headings, emphasis, lists, tasks and rules without their marks", () => {
    expect(render("## Plan\nDo **this** *now*\n- a\n- b\n  1. c\n\n---\n- [x] yes\n- [ ] no")).toEqual([
      "Plan",
      "Do this now",
      "• a",
      "• b",
      "  1. c",
      "",
      "─".repeat(40),
      "☑ yes",
      "☐ no",
    ]);
  });

  it("repeats the bar of a quote on each wrapped line", () => {
    expect(render("> one two three four five six seven", 16)).toEqual([
      "▌ one two three",
      "▌ four five six",
      "▌ seven",
    ]);
  });

  it("indents the wrapped lines of a list item below its text", () => {
    expect(render("10. one two three four", 14)).toEqual(["10. one two", "    three four"]);
  });

  it("shows a link with its target, and makes hyperlinks only of safe ones where the terminal has them", () => {
    expect(render("[docs](https://a.b/c)")).toEqual(["docs (https://a.b/c)"]);
    expect(render("https://a.b/c")).toEqual(["https://a.b/c"]);
    const theme = createTheme({ skin: DEFAULT_SKIN, depth: "16", background: "dark", hyperlinks: true });
    const stream = new MarkdownStream({ lexer, theme });
    stream.append("[a](https://a.b) [b](file:///etc/passwd) [c](javascript:x)");
    stream.finish();
    const [line] = drawn(stream, 200);
    expect(line?.match(/\]8;;[\w:/.]+/g)).toEqual(["]8;;https://a.b"]);
  });

  it("aligns tables by cells, as an emulator sees them", async () => {
    const lines = render("| Name | N |\n|---|--:|\n| 数据库 | 1 |\n| 👩‍👩‍👧‍👦 | 22 |\n| abc | 333 |", 40);
    const seen = await emulateLines(lines, 41);
    expect(new Set(seen.map((line) => line.cells))).toEqual(new Set([12]));
    expect(lines[0]).toBe("Name   │   N");
  });

  it("wraps the cells of a wide table, and lists its cells when the columns do not fit", () => {
    const table = "| Key | Meaning |\n|---|---|\n| alpha | one two three four five |";
    expect(render(table, 24)).toEqual([
      "Key   │ Meaning",
      "──────┼─────────────────",
      "alpha │ one two three",
      "      │ four five",
    ]);
    expect(render("|a|b|c|d|\n|-|-|-|-|\n|one|two|three|four|", 12)).toEqual([
      "a: one",
      "b: two",
      "c: three",
      "d: four",
    ]);
  });

  it("keeps the widths of the columns in the later rows of a long table", () => {
    const rows = Array.from({ length: 150 }, (_, index) => `| row ${index} | value |`).join("\n");
    const lines = render(`| a | b |\n|---|---|\n${rows}`);
    expect(lines).toHaveLength(152);
    expect(new Set(lines.map((line) => line.indexOf("│")).filter((at) => at > 0))).toEqual(new Set([10]));
  });

  it("highlights code, keeps its indentation and has no margin", async () => {
    const lines = render("```ts\nif (x) {\n\treturn 1;\n}\n```", 40, "256");
    expect(lines.map(bare).slice(1, 4)).toEqual(["if (x) {", "    return 1;", "}"]);
    const [first] = await emulateLines([lines[1] ?? ""], 40);
    expect(first?.style(0).color).not.toBe(first?.style(4).color);
  });

  it("highlights a part of a long code block as the block would be", () => {
    const body = Array.from({ length: 40 }, (_, index) => ` * line ${index}`).join("\n");
    const lines = render(`\`\`\`ts\n/*\n${body}\n */\nconst a = 1;\n\`\`\``, 60, "256");
    const comment = lines[2]?.match(/\d+m/)?.[0];
    expect(lines[38]).toContain(comment);
    expect(lines).toHaveLength(45);
  });

  it("shows the marks in raw mode, and no styles in strip mode", () => {
    expect(render("**a** `b`\n# c", 40, "256", "raw")).toEqual(["**a** `b`", "# c"]);
    expect(render("a\r\nb")).toEqual(["a", "b"]);
  });

  it("makes terminal controls visible", () => {
    expect(render("a\u001b[2Jb\u009bc\u202ed\u0007").join("")).toBe("a\\x1b[2Jb\\x9bc\\u202ed\\x07");
  });
});

describe("streaming", () => {
  const chunkings = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 40 });

  function pieces(text: string, sizes: readonly number[]): string[] {
    const cut: string[] = [];
    for (let at = 0, index = 0; at < text.length; index++) {
      const size = sizes[index % sizes.length] ?? 1;
      cut.push(text.slice(at, at + size));
      at += size;
    }
    return cut;
  }

  it("gives the same lines for every way in which the text arrives", () => {
    const whole = render(SAMPLE, 30, "256");
    fc.assert(
      fc.property(chunkings, (sizes) => {
        const stream = open("256");
        const lines: string[] = [];
        for (const piece of pieces(SAMPLE, sizes)) {
          stream.append(piece);
          lines.push(...drawn(stream, 30));
          for (const block of stream.live()) block.render(30);
        }
        stream.finish();
        expect([...lines, ...drawn(stream, 30)]).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });

  it("shows what is open, without the marks that are not closed yet", () => {
    const stream = open();
    const live = () => stream.live().flatMap((block) => [...block.render(40)]);
    stream.append("Some **bo");
    expect(live()).toEqual(["Some bo"]);
    stream.append("ld** and `co");
    expect(live()).toEqual(["Some bold and `co`"]);
    stream.append("de`\n\n| a | b |\n|---|---|\n| 1");
    expect(live()).toEqual(["", "a │ b", "──┼──"]);
    stream.append(" | 2 |\n\n``");
    expect(live()).toEqual([]);
    stream.append("`sh\necho");
    expect(live().slice(0, 3)).toEqual(["", `── sh ${"─".repeat(34)}`, "echo"]);
  });

  const markdownish = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          "# ",
          "- ",
          "1. ",
          "> ",
          "```",
          "```js\n",
          "|",
          "|---|---|\n",
          "\n",
          "\n\n",
          "**",
          "`",
          "[x](",
          ")",
          "  ",
          "\t",
          "~~~\n",
          "***\n",
          "\r",
          "\r\n",
        ),
        fc.constantFrom("\u001b[31m", "\u001b]0;x\u0007", "\u009b2J", "\u202e", "\u001bP", "\u2028", "\ud800"),
        fc.string({ unit: "grapheme", maxLength: 12 }),
        fc.string({ maxLength: 30 }),
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join(""));

  it("draws only SGR and fits the width, for any text", () => {
    fc.assert(
      fc.property(markdownish, fc.integer({ min: 2, max: 60 }), chunkings, (source, width, sizes) => {
        const stream = open("256");
        const lines: string[] = [];
        for (const piece of pieces(source, sizes)) {
          stream.append(piece);
          lines.push(...drawn(stream, width), ...stream.live().flatMap((block) => [...block.render(width)]));
        }
        stream.finish();
        lines.push(...drawn(stream, width));
        for (const line of lines) {
          // biome-ignore lint/suspicious/noControlCharactersInRegex: no control character may be left
          expect(bare(line)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
          expect(displayWidth(bare(line))).toBeLessThanOrEqual(width);
        }
      }),
      { numRuns: 80 },
    );
  });

  it("keeps the words of any text", () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    const line = fc.tuple(
      fc.constantFrom("", "- ", "> ", "## ", "1. ", "  - ", "| "),
      fc.array(word, { minLength: 1, maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), fc.integer({ min: 18, max: 60 }), (parts, width) => {
        const source = parts.map(([mark, words]) => mark + words.join(" ")).join("\n");
        const words = parts.flatMap(([, list]) => list);
        const shown =
          render(source, width)
            .join(" ")
            .match(/[a-z]+/g) ?? [];
        expect(shown).toEqual(words);
      }),
      { numRuns: 100 },
    );
  });
});
