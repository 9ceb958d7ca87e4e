// The units that the cursor moves over: graphemes, and labels of pasted blocks as a whole.
import { LABEL } from "./typed-line.ts";

let shared: { grapheme: Intl.Segmenter; word: Intl.Segmenter } | undefined;

function segmenters(): { grapheme: Intl.Segmenter; word: Intl.Segmenter } {
  shared ??= {
    grapheme: new Intl.Segmenter(undefined, { granularity: "grapheme" }),
    word: new Intl.Segmenter(undefined, { granularity: "word" }),
  };
  return shared;
}

export interface Unit {
  readonly text: string;
  /** Position in the text. */
  readonly at: number;
}

/** The units of a line without line feeds. `isLabel` says whether a label belongs to a pasted block. */
export function lineUnits(line: string, isLabel: (label: string) => boolean): Unit[] {
  const units: Unit[] = [];
  const plain = (from: number, to: number) => {
    const text = line.slice(from, to);
    if (/^[\x20-\x7e]*$/.test(text)) {
      for (let index = 0; index < text.length; index++) units.push({ text: text[index] ?? "", at: from + index });
      return;
    }
    for (const { segment, index } of segmenters().grapheme.segment(text))
      units.push({ text: segment, at: from + index });
  };
  let end = 0;
  for (const match of line.matchAll(LABEL)) {
    if (!isLabel(match[0])) continue;
    plain(end, match.index);
    units.push({ text: match[0], at: match.index });
    end = match.index + match[0].length;
  }
  plain(end, line.length);
  return units;
}

/** Where the word before `at` begins. */
export function wordStart(text: string, at: number): number {
  let found = 0;
  for (const { index, isWordLike } of segmenters().word.segment(text.slice(0, at))) if (isWordLike) found = index;
  return found;
}

/** Where the word after `at` ends. */
export function wordEnd(text: string, at: number): number {
  for (const { index, segment, isWordLike } of segmenters().word.segment(text.slice(at)))
    if (isWordLike) return at + index + segment.length;
  return text.length;
}
