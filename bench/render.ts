// Bench: CPU of drawing streamed answers, against one parse of the whole text. Doubling the text must double the work.
import { loadMarkdownLexer } from "../src/lib/markdown/lexer.ts";
import { loadHighlighter } from "../src/terminal/view/markdown/highlight.ts";
import { MarkdownStream } from "../src/terminal/view/markdown/stream.ts";
import { DEFAULT_SKIN } from "../src/terminal/view/theme/builtin-skins.ts";
import { createTheme } from "../src/terminal/view/theme/theme.ts";
import { type Line, printTable } from "./table.ts";

const TOKEN = 4;
const WIDTH = 100;
/** Tokens that arrive between two frames at 200 tokens and 30 frames a second. */
const FRAME = 7;

const PROSE = `## Section

The **gateway** reads a message, asks the \`model\` and sends the answer to the [platform](https://example.org/docs). A
paragraph of ordinary length follows, with some 数据库 in it, and an emoji ✅ or two.

- first point with *emphasis*
- second point that is long enough to wrap at the width of an ordinary terminal window of a hundred columns
  1. nested

| Service | Port | Status |
|---|---:|:---:|
| gateway | 8642 | ok |
| database | 5432 | slow |

> A quote of one line.

\`\`\`ts
export async function greet(name: string): Promise<string> {
  const text = \`Hello, \${name}\`;
  return text.length > 10 ? text : "hi"; // done
}
\`\`\`

`;

const shapes: { readonly [name: string]: (size: number) => string } = {
  "prose, lists, tables, code": (size) => PROSE.repeat(Math.ceil(size / PROSE.length)).slice(0, size),
  "one code block": (size) => `\`\`\`ts\n${"const value = compute(1, 'two'); // a line\n".repeat(size / 43)}\`\`\`\n`,
  "one table": (size) => `| a | b | c |\n|---|---|---|\n${"| row | value | 数据 |\n".repeat(size / 22)}`,
  "one list": (size) => "- an item of the list with some words\n".repeat(size / 38),
  "one line": (size) => "words without any line break ".repeat(size / 29),
};

const lexer = await loadMarkdownLexer();
await loadHighlighter();
const theme = createTheme({ skin: DEFAULT_SKIN, depth: "truecolor", background: "dark" });

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const best = (times: number, work: () => number) => Math.min(...Array.from({ length: times }, work));

function streamed(text: string): number {
  return cpuMs(() => {
    const stream = new MarkdownStream({ lexer, theme });
    for (let at = 0, token = 0; at < text.length; at += TOKEN, token++) {
      stream.append(text.slice(at, at + TOKEN));
      for (const block of stream.takeSettled()) block.render(WIDTH);
      if (token % FRAME === 0) for (const block of stream.live()) block.render(WIDTH);
    }
    stream.finish();
    for (const block of stream.takeSettled()) block.render(WIDTH);
  });
}

streamed(PROSE.repeat(20));
const lines: Line[] = [];
for (const [name, make] of Object.entries(shapes)) {
  const text = make(100_000);
  const half = make(50_000);
  // The smaller one first: it also warms up the code.
  const ofHalf = best(2, () => streamed(half));
  const ours = best(2, () => streamed(text));
  const floor = best(2, () => cpuMs(() => void lexer(text)));
  const perToken = (ours * 1000) / (text.length / TOKEN);
  lines.push(
    {
      what: `100 KB streamed: ${name}`,
      ours: `${ours.toFixed(0)} ms`,
      raw: `${floor.toFixed(0)} ms`,
      ratio: undefined,
    },
    {
      what: "  per token",
      ours: `${perToken.toFixed(0)} µs`,
      raw: "",
      ratio: undefined,
      absolute: { text: "≤ 500 µs", met: perToken <= 500 },
    },
    {
      what: "  100 KB to 50 KB",
      ours: `${ours.toFixed(0)} ms`,
      raw: `${ofHalf.toFixed(0)} ms`,
      ratio: ours / ofHalf,
      budget: { kind: "max", ratio: 2.8 },
    },
  );
}
process.exitCode =
  printTable("Drawing answers while they stream (CPU; raw: one parse of the whole text)", lines) > 0 ? 1 : 0;
