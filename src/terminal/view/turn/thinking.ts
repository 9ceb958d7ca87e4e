// The model's thinking: one line with its time and size, or the whole text.
import type { Block } from "../block.ts";
import { cachedBlock } from "../markdown/stream.ts";
import { formatDuration, formatElapsed, formatTokens } from "../text/amounts.ts";
import { cleanLine, cleanText, expandTabs } from "../text/clean.ts";
import { fitLine, type Line, paint, span } from "../text/span.ts";
import { withPrefix, wrap } from "../text/wrap.ts";
import type { Texts } from "../texts/texts.ts";
import type { Theme } from "../theme/theme.ts";

/** `hidden` shows nothing, `collapsed` one line, `truncated` also its last words while it runs, `full` the whole text. */
export type ThinkingMode = "hidden" | "collapsed" | "truncated" | "full";

export interface ThinkingStyle {
  readonly theme: Theme;
  readonly texts: Texts;
  readonly mode: ThinkingMode;
}

/** Tokens are not counted while the text streams; four characters are about one. */
const CHARS_PER_TOKEN = 4;

export class Thinking {
  readonly #style: ThinkingStyle;
  readonly #startedAt: number;
  #chars = 0;
  #partial = "";
  #lines: string[] = [];
  #lastLine = "";

  constructor(style: ThinkingStyle, now: number) {
    this.#style = style;
    this.#startedAt = now;
  }

  append(text: string): void {
    this.#chars += text.length;
    const parts = (this.#partial + text).split("\n");
    this.#partial = (parts.pop() ?? "").slice(-8_000);
    if (this.#style.mode === "full") this.#lines.push(...parts);
    const last = [...parts, this.#partial].reverse().find((line) => line.trim() !== "");
    if (last !== undefined) this.#lastLine = last;
  }

  /** Lines that are complete, in the full mode. */
  takeSettled(): Block[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines.map((line) => this.#textBlock(line));
  }

  #textBlock(line: string): Block {
    const { theme } = this.#style;
    const bar: Line = [span("┆", theme.sgr("dim")), span(" ")];
    const clean = expandTabs(cleanText(line));
    return cachedBlock((width) =>
      withPrefix({ first: bar, rest: bar, width: 2 }, width, (room) => wrap([span(clean, theme.sgr("dim"))], room)),
    );
  }

  #size(): string {
    const tokens = formatTokens(Math.max(1, this.#chars / CHARS_PER_TOKEN));
    return this.#style.texts.text("thinking.tokens", { tokens });
  }

  live(sign: string, now: number): Block[] {
    const { theme, texts, mode } = this.#style;
    if (mode === "hidden") return [];
    const elapsed = formatElapsed(now - this.#startedAt);
    const head = `${texts.text("thinking.live")} ${elapsed} · ${this.#size()}`;
    const thought = mode === "truncated" ? ` · ${cleanLine(this.#lastLine)}` : "";
    const line: Line = [span(sign, theme.sgr("accent")), span(` ${head}${thought}`, theme.sgr("dim"))];
    const blocks: Block[] = [cachedBlock((width) => [paint(fitLine(line, width))])];
    return mode === "full" && this.#partial !== "" ? [this.#textBlock(this.#partial), ...blocks] : blocks;
  }

  /** The line that stays. */
  finish(now: number): Block[] {
    const { theme, texts, mode } = this.#style;
    if (mode === "hidden") return [];
    if (mode === "full" && this.#partial.trim() !== "") this.#lines.push(this.#partial);
    const rest = this.takeSettled();
    const time = formatDuration(now - this.#startedAt);
    const text = `${texts.text("thinking.done", { time })} · ${this.#size()}`;
    return [...rest, cachedBlock((width) => [paint(fitLine([span(`✻ ${text}`, theme.sgr("dim"))], width))])];
  }
}
