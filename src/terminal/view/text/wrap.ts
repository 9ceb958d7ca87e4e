// Word wrap by the width of graphemes: lines break at spaces and between East Asian characters, inside a word only when it
// is longer than a line.
import { displayWidth, graphemes, graphemeWidth } from "../../../lib/text/text-width.ts";
import { type Line, paint, type Span } from "./span.ts";

/** East Asian punctuation that must not begin a line. */
const NO_LINE_START = /^[、。，．：；！？）」』】〕〉》ー々…‥・]/;
/** East Asian brackets that must not end a line. */
const NO_LINE_END = /[（「『【〔〈《]$/;
const ASCII_OR_LATIN = /^[\x20-\x7e\u00a0-\u024f\u2010-\u2027]*$/;

/** Printable ASCII that neither breaks nor ends in a space. */
const FITS_SIMPLY = /^[\x20-\x7e]*[\x21-\x7e]$/;

function simpleLength(spans: Line): number {
  return spans.reduce((sum, { text }) => sum + text.length, 0);
}

interface Piece {
  readonly spans: Span[];
  width: number;
}

interface Words {
  /** Words in order; null is a forced line break, a number that many spaces. */
  readonly items: (Piece | number | null)[];
}

/** Adds text without spaces to the open word, or as words of their own where a line may break between characters. */
function addWord(words: Words, text: string, source: Span, joins: boolean): void {
  const push = (part: string, width: number, join: boolean) => {
    const last = words.items.at(-1);
    if (join && last !== null && typeof last === "object") {
      last.spans.push({ ...source, text: part });
      last.width += width;
    } else words.items.push({ spans: [{ ...source, text: part }], width });
  };
  if (ASCII_OR_LATIN.test(text)) {
    push(text, displayWidth(text), joins);
    return;
  }
  let join = joins;
  let open = "";
  let openWidth = 0;
  const flush = () => {
    if (open !== "") push(open, openWidth, join);
    open = "";
    openWidth = 0;
  };
  for (const grapheme of graphemes(text)) {
    const width = graphemeWidth(grapheme);
    const breaksBefore = width === 2 && !NO_LINE_START.test(grapheme);
    if (breaksBefore && !NO_LINE_END.test(open) && open !== "") {
      flush();
      join = false;
    } else if (breaksBefore && open === "" && join && !endsWithBracket(words)) join = false;
    open += grapheme;
    openWidth += width;
    if (width !== 2 || NO_LINE_END.test(grapheme)) continue;
    flush();
    // Closing punctuation stays with the character before it.
    join = true;
  }
  flush();
}

function endsWithBracket(words: Words): boolean {
  const last = words.items.at(-1);
  return last !== null && typeof last === "object" && NO_LINE_END.test(last.spans.at(-1)?.text ?? "");
}

/** True when a word that follows directly must stay on the line of the one before it. */
function sticks(words: Words, text: string): boolean {
  const last = words.items.at(-1);
  if (last === undefined || last === null || typeof last === "number") return false;
  const before = graphemes((last.spans.at(-1)?.text ?? "").slice(-16)).at(-1) ?? "";
  const after = graphemes(text.slice(0, 16))[0] ?? "";
  if (NO_LINE_START.test(after) || NO_LINE_END.test(before)) return true;
  return graphemeWidth(before) !== 2 && graphemeWidth(after) !== 2;
}

function splitWords(spans: Line): Words {
  const words: Words = { items: [] };
  for (const source of spans)
    for (const part of source.text.split(/(\n| +)/)) {
      if (part === "") continue;
      if (part === "\n") words.items.push(null);
      else if (part.startsWith(" ")) {
        const last = words.items.at(-1);
        if (typeof last === "number") words.items[words.items.length - 1] = last + part.length;
        else words.items.push(part.length);
      } else addWord(words, part, source, sticks(words, part));
    }
  return words;
}

/** Pieces of a word that is wider than a line. */
function splitLong(word: Piece, width: number): Piece[] {
  const pieces: Piece[] = [];
  let open: Piece = { spans: [], width: 0 };
  for (const source of word.spans)
    for (const grapheme of graphemes(source.text)) {
      const next = graphemeWidth(grapheme);
      if (open.width + next > width && open.width > 0) {
        pieces.push(open);
        open = { spans: [], width: 0 };
      }
      open.spans.push({ ...source, text: grapheme });
      open.width += next;
    }
  return [...pieces, open];
}

class LineFiller {
  readonly lines: Line[] = [];
  readonly #width: number;
  #line: Span[] = [];
  #used = 0;
  #spaces = 0;
  /** True at the start of a paragraph, where spaces are indentation, not a gap between words. */
  #fresh = true;

  constructor(width: number) {
    this.#width = Math.max(1, width);
  }

  space(count: number): void {
    this.#spaces += count;
  }

  word(word: Piece): void {
    const gap = this.#used > 0 || this.#fresh ? this.#spaces : 0;
    if (this.#used + gap + word.width <= this.#width) {
      this.#put(word, gap);
      return;
    }
    if (this.#used > 0) this.breakLine(false);
    for (const piece of word.width <= this.#width ? [word] : splitLong(word, this.#width)) {
      if (this.#used > 0) this.breakLine(false);
      this.#put(piece, 0);
    }
  }

  #put(word: Piece, gap: number): void {
    const first = word.spans[0];
    // A gap inside a styled or linked phrase has the style of the phrase.
    const before = this.#line.at(-1);
    const same = before && first && before.sgr === first.sgr && before.link === first.link;
    if (gap > 0) this.#line.push(same ? { ...first, text: " ".repeat(gap) } : { text: " ".repeat(gap), sgr: "" });
    this.#line.push(...word.spans);
    this.#used += gap + word.width;
    this.#spaces = 0;
    this.#fresh = false;
  }

  breakLine(fresh: boolean): void {
    this.lines.push(this.#line);
    this.#line = [];
    this.#used = 0;
    this.#spaces = 0;
    this.#fresh = fresh;
  }
}

/** Wraps styled text; a line feed in it starts a new line. An empty text is one empty line. */
export function wrapLines(spans: Line, width: number): Line[] {
  if (spans.every(({ text }) => FITS_SIMPLY.test(text)) && simpleLength(spans) <= width) return [spans];
  const filler = new LineFiller(width);
  for (const item of splitWords(spans).items) {
    if (item === null) filler.breakLine(true);
    else if (typeof item === "number") filler.space(item);
    else filler.word(item);
  }
  filler.breakLine(true);
  return filler.lines;
}

/** Like `wrapLines`, painted. */
export function wrap(spans: Line, width: number): string[] {
  return wrapLines(spans, width).map(paint);
}

/** Breaks text at the width without regard to words: for code, where spaces count. */
export function splitAtWidth(line: Line, width: number): Line[] {
  const total = line.reduce((sum, { text }) => sum + displayWidth(text), 0);
  if (total <= width) return [line];
  return splitLong({ spans: [...line], width: total }, Math.max(1, width)).map((piece) => piece.spans);
}

/** Lines with a prefix: `first` before the first, `rest` before the others. Left out when no room would remain. */
export function withPrefix(
  prefix: { readonly first: Line; readonly rest: Line; readonly width: number },
  width: number,
  render: (room: number) => readonly string[],
): string[] {
  const room = width - prefix.width;
  if (room < 4) return [...render(width)];
  const first = paint(prefix.first);
  const rest = paint(prefix.rest);
  return render(room).map((line, index) => {
    const start = index === 0 ? first : rest;
    // No trailing spaces on empty lines.
    return line === "" ? start.trimEnd() : start + line;
  });
}
