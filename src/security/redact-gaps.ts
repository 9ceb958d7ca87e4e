// Finds known secret values that were spaced out, split over lines, reversed or written in another case.
import type { Span } from "./redact-values.ts";

/** Shorter values would be found by chance in ordinary text. */
const MIN_CHARS = 12;
/** Characters between two characters of the value: a space, a line end with indentation, quotes and commas of a list. */
const MAX_GAP = 16;
const HEAD = 6;

/** The letters and digits of a text in lower case, with their positions. */
interface Compact {
  readonly text: string;
  readonly positions: Int32Array;
}

/** Lower-case letters and digits by character code; 0 for every other character. */
const FOLD = new Uint8Array(128);
for (let code = 48; code <= 57; code++) FOLD[code] = code;
for (let code = 97; code <= 122; code++) FOLD[code] = code;
for (let code = 65; code <= 90; code++) FOLD[code] = code + 32;

function compact(text: string): Compact {
  const positions = new Int32Array(text.length);
  const bytes = Buffer.allocUnsafe(text.length);
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const folded = code < 128 ? FOLD[code] : 0;
    if (!folded) continue;
    positions[count] = at;
    bytes[count] = folded;
    count += 1;
  }
  return { text: bytes.toString("latin1", 0, count), positions };
}

/** True for a value with enough different characters to be recognised without its punctuation. */
function isDistinct(letters: string): boolean {
  return letters.length >= MIN_CHARS && new Set(letters).size >= 6 && !/^\d+$/.test(letters);
}

export class GapSet {
  readonly #byHead = new Map<string, string[]>();
  /** The first two characters of every form: most positions are rejected by them alone. */
  readonly #pairs = new Uint8Array(65_536);

  add(value: string): void {
    const letters = compact(value).text;
    if (!isDistinct(letters)) return;
    this.#addForm(letters);
    this.#addForm([...letters].reverse().join(""));
  }

  #addForm(form: string): void {
    const head = form.slice(0, HEAD);
    const bucket = this.#byHead.get(head) ?? [];
    if (!bucket.includes(form)) this.#byHead.set(head, [...bucket, form]);
    this.#pairs[(form.charCodeAt(0) << 8) | form.charCodeAt(1)] = 1;
  }

  find(text: string): Span[] {
    const spans: Span[] = [];
    if (this.#byHead.size === 0 || text.length < MIN_CHARS) return spans;
    const { text: letters, positions } = compact(text);
    for (let at = 0; at <= letters.length - MIN_CHARS; at++) {
      if (this.#pairs[(letters.charCodeAt(at) << 8) | letters.charCodeAt(at + 1)] === 0) continue;
      const forms = this.#byHead.get(letters.slice(at, at + HEAD));
      const form = forms?.find((candidate) => letters.startsWith(candidate, at));
      if (form === undefined || !isClose(positions, at, form.length)) continue;
      const start = positions[at] ?? 0;
      spans.push({ start, end: (positions[at + form.length - 1] ?? start) + 1, mask: "***" });
    }
    return spans;
  }
}

/** True when no gap between two characters is too large to belong to one value. */
function isClose(positions: Int32Array, from: number, length: number): boolean {
  for (let at = from + 1; at < from + length; at++)
    if ((positions[at] ?? 0) - (positions[at - 1] ?? 0) > MAX_GAP) return false;
  return true;
}
