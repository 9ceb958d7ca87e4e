// The action of an approval as rows: control characters as escapes, nothing left out, flagged parts marked.
import { splitToWidth } from "../../lib/text/text-width.ts";
import { showControlCharacters } from "../../lib/text/visible-text.ts";

interface Piece {
  readonly text: string;
  /** The gate stopped this part. */
  readonly flagged: boolean;
}

export interface ActionRow {
  readonly pieces: readonly Piece[];
  /** The row continues the line above it. */
  readonly wrapped: boolean;
}

type Range = readonly [from: number, to: number];

function visible(text: string): string {
  return showControlCharacters(text).replaceAll("\t", "\\t");
}

/** Where the flagged parts are in the visible text, in order and without overlaps. */
function flaggedRanges(action: string, parts: readonly string[]): Range[] {
  const ranges: Range[] = [];
  for (const part of parts.filter((text) => text !== "")) {
    for (let at = action.indexOf(part); at >= 0; at = action.indexOf(part, at + part.length)) {
      const from = visible(action.slice(0, at)).length;
      ranges.push([from, from + visible(part).length]);
    }
  }
  const merged: Range[] = [];
  for (const [from, to] of ranges.sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && from <= last[1]) merged[merged.length - 1] = [last[0], Math.max(last[1], to)];
    else merged.push([from, to]);
  }
  return merged;
}

/** The text that begins at `start`, cut where flagged parts begin and end. */
function cutPieces(text: string, start: number, ranges: readonly Range[]): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  const add = (to: number, flagged: boolean) => {
    if (to > at) pieces.push({ text: text.slice(at, to), flagged });
    at = Math.max(at, to);
  };
  for (const [from, to] of ranges) {
    if (to <= start || from >= start + text.length) continue;
    add(Math.max(0, from - start), false);
    add(Math.min(text.length, to - start), true);
  }
  add(text.length, false);
  return pieces;
}

export function actionRows(action: string, flagged: readonly string[], width: number): ActionRow[] {
  const ranges = flaggedRanges(action, flagged);
  const rows: ActionRow[] = [];
  let start = 0;
  for (const line of visible(action).split("\n")) {
    let at = start;
    for (const [index, piece] of splitToWidth(line, Math.max(1, width)).entries()) {
      rows.push({ pieces: cutPieces(piece, at, ranges), wrapped: index > 0 });
      at += piece.length;
    }
    start += line.length + 1;
  }
  return rows;
}
