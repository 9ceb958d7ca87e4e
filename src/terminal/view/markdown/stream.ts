// Markdown while it streams: finished blocks are drawn once and never parsed again, the open one is drawn per frame.
import type { Block } from "../block.ts";
import { cleanText, expandTabs } from "../text/clean.ts";
import { span } from "../text/span.ts";
import { wrap } from "../text/wrap.ts";
import { OpenCode } from "./code.ts";
import { type MarkdownStyle, renderUnit } from "./render.ts";
import { type Unit, UnitSplitter } from "./units.ts";

/** What happens to Markdown: drawn with styles, drawn without, or shown as it was written. */
export type MarkdownMode = "render" | "strip" | "raw";

/** A longer line is cut at a space, so that drawing the open line stays quick. */
const MAX_LINE = 2_000;

/** A block that keeps its lines for the width it was drawn at last. */
export function cachedBlock(render: (width: number) => readonly string[]): Block {
  let drawn: { readonly width: number; readonly lines: readonly string[] } | undefined;
  return {
    render: (width) => {
      if (drawn?.width !== width) drawn = { width, lines: render(width) };
      return drawn.lines;
    },
  };
}

/** Closes emphasis and code that are still open at the end, so that their marks do not flash while text arrives. */
function closeMarks(source: string): string {
  const line = source.slice(source.lastIndexOf("\n\n") + 1).replaceAll(/\\./g, "");
  const ticks = line.match(/`/g)?.length ?? 0;
  if (ticks % 2 === 1) return line.endsWith("`") ? source.slice(0, -1) : `${source}\``;
  const stars = line.replaceAll(/`[^`]*`/g, "").match(/\*\*/g)?.length ?? 0;
  if (stars % 2 === 0) return source.replace(/(?<=\s)[*_]{1,2}$/, "");
  if (source.endsWith("**")) return source.slice(0, -2);
  return /\*\*\S/.test(line) ? `${source.trimEnd().replace(/\*$/, "")}**` : source;
}

export class MarkdownStream {
  readonly #style: MarkdownStyle;
  readonly #mode: MarkdownMode;
  readonly #splitter = new UnitSplitter();
  readonly #openCode = new OpenCode();
  /** Open blocks by their content: those that did not change are not drawn again. */
  #open = new Map<string, Block>();
  #partial = "";
  #settled: Block[] = [];
  #first = true;
  #live: { readonly key: string; readonly blocks: readonly Block[] } | undefined;
  #revision = 0;

  constructor(style: MarkdownStyle, mode: MarkdownMode = "render") {
    this.#style = style;
    this.#mode = mode;
  }

  /** True while nothing was added that can be seen. */
  get empty(): boolean {
    return this.#first && this.#partial.trim() === "" && this.#splitter.open("").length === 0;
  }

  append(text: string): void {
    if (text === "") return;
    this.#partial += text;
    this.#revision++;
    // A line break may arrive in two pieces.
    const held = this.#partial.endsWith("\r") ? "\r" : "";
    const lines = (held === "" ? this.#partial : this.#partial.slice(0, -1)).split(/\r\n|[\n\u2028\u2029]/);
    this.#partial = (lines.pop() ?? "") + held;
    for (const line of lines) this.#line(line);
    while (this.#partial.length > MAX_LINE) {
      const space = this.#partial.lastIndexOf(" ", MAX_LINE);
      const end = space > MAX_LINE / 2 ? space : MAX_LINE;
      this.#line(this.#partial.slice(0, end));
      this.#partial = this.#partial.slice(end).replace(/^ /, "");
    }
    this.#collect();
  }

  /** No more text: what is open becomes final. */
  finish(): void {
    if (this.#partial !== "") this.#line(this.#partial);
    this.#partial = "";
    this.#revision++;
    this.#splitter.finish();
    this.#collect();
  }

  takeSettled(): readonly Block[] {
    const settled = this.#settled;
    this.#settled = [];
    return settled;
  }

  /** The open part, as it looks now. */
  live(): readonly Block[] {
    const key = String(this.#revision);
    if (this.#live?.key !== key) this.#live = { key, blocks: this.#drawOpen() };
    return this.#live.blocks;
  }

  /** Lines of the open block that will not change in shape: for output that cannot be redrawn. None of a table. */
  stableLines(width: number): readonly string[] {
    const [unit] = this.#splitter.open(this.#partial);
    if (!unit || unit.kind === "table" || (unit.kind === "markdown" && unit.source.includes("|"))) return [];
    return this.live()[0]?.render(width).slice(0, -1) ?? [];
  }

  #line(line: string): void {
    if (this.#mode === "raw") {
      const clean = cleanText(expandTabs(line));
      this.#settled.push(cachedBlock((width) => wrap([span(clean)], width)));
      this.#first = false;
      return;
    }
    for (const part of cleanText(expandTabs(line)).split("\n")) this.#splitter.push(part);
  }

  #collect(): void {
    for (const unit of this.#splitter.take()) {
      this.#settled.push(this.#block(unit));
      this.#openCode.clear();
    }
  }

  #block(unit: Unit, open = false): Block {
    const gap = unit.gap && !this.#first;
    this.#first = false;
    return cachedBlock((width) => {
      const lines =
        open && unit.kind === "code"
          ? this.#openCode.render(unit, width, this.#style.theme)
          : renderUnit(unit, width, this.#style);
      return gap ? ["", ...lines] : lines;
    });
  }

  #drawOpen(): Block[] {
    const partial = cleanText(expandTabs(this.#partial.replace(/\r$/, "")));
    if (this.#mode === "raw") return partial === "" ? [] : [cachedBlock((width) => wrap([span(partial)], width))];
    const before = this.#first;
    const drawn = new Map<string, Block>();
    const blocks = this.#splitter.open(partial).map((unit) => {
      const shown = unit.kind === "markdown" ? { ...unit, source: closeMarks(unit.source) } : unit;
      const key = `${this.#first} ${JSON.stringify(shown)}`;
      const block = this.#open.get(key) ?? this.#block(shown, true);
      this.#first = false;
      drawn.set(key, block);
      return block;
    });
    this.#open = drawn;
    this.#first = before;
    return blocks;
  }
}
