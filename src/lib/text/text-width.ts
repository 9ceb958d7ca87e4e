// Width of text in terminal cells: one per grapheme, two for East Asian wide characters and emoji.

let shared: Intl.Segmenter | undefined;

/** Created at the first use: loading its tables takes longer than the rest of a start. */
function segments(text: string): Intl.Segments {
  shared ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return shared.segment(text);
}

const ASCII = /^[\x20-\x7e]*$/;
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F/u;

/** Code points that terminals draw two cells wide. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x17000, 0x18aff],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
];

function isWide(code: number): boolean {
  return code >= 0x1100 && WIDE.some(([from, to]) => code >= from && code <= to);
}

/**
 * Cells of a grapheme that is no emoji. Terminals disagree about syllables of several spacing characters (Indic scripts);
 * two cells are the most that any of them takes.
 */
function clusterWidth(grapheme: string): number {
  let width = 0;
  for (const char of grapheme) {
    const code = char.codePointAt(0) ?? 0;
    // The vowels and final consonants of Hangul join the syllable before them.
    const joined = code >= 0x1160 && code <= 0x11ff && width > 0;
    if (!joined && !ZERO.test(char)) width += isWide(code) ? 2 : 1;
  }
  return Math.min(width, 2);
}

export function graphemeWidth(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0;
  if (code < 0x7f && code >= 0x20) return 1;
  if (EMOJI.test(grapheme)) return 2;
  if (grapheme.length > (code > 0xffff ? 2 : 1)) return clusterWidth(grapheme);
  if (ZERO.test(grapheme)) return 0;
  return isWide(code) ? 2 : 1;
}

/** The graphemes of a text: what a user sees as one character. */
export function graphemes(text: string): string[] {
  if (ASCII.test(text)) return text.split("");
  return Array.from(segments(text), ({ segment }) => segment);
}

/** Cells of one line without escape sequences. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segments(text)) width += graphemeWidth(segment);
  return width;
}

/** The longest prefix that fits, with `…` when something was cut. Does not split graphemes. */
export function fitToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width <= 1) return "…".slice(0, Math.max(0, width));
  let used = 0;
  let kept = "";
  for (const { segment } of segments(text)) {
    const next = graphemeWidth(segment);
    if (used + next > width - 1) break;
    used += next;
    kept += segment;
  }
  return `${kept}…`;
}

/** Pads with spaces to `width` cells. */
export function padToWidth(text: string, width: number, align: "left" | "right" = "left"): string {
  const gap = " ".repeat(Math.max(0, width - displayWidth(text)));
  return align === "left" ? text + gap : gap + text;
}

/** Splits the text into pieces of at most `width` cells, without splitting graphemes. An empty text is one empty piece. */
export function splitToWidth(text: string, width: number): string[] {
  if (displayWidth(text) <= width) return [text];
  const pieces: string[] = [];
  let piece = "";
  let used = 0;
  for (const { segment } of segments(text)) {
    const next = graphemeWidth(segment);
    if (used + next > width && piece !== "") {
      pieces.push(piece);
      piece = "";
      used = 0;
    }
    piece += segment;
    used += next;
  }
  return [...pieces, piece];
}
