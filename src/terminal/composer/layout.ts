// Breaks the composer's text into rows of the screen and finds the cursor among them.
import { displayWidth } from "../../lib/text/text-width.ts";
import { lineUnits, type Unit } from "./units.ts";

export interface Row {
  readonly text: string;
  /** Position of the first character in the text. */
  readonly from: number;
  /** Position after the last character. */
  readonly to: number;
}

export interface Layout {
  readonly rows: readonly Row[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

interface Measured extends Unit {
  readonly width: number;
}

/** Number of units that fit the width; breaks after a blank where there is one. */
function fitting(units: readonly Measured[], from: number, width: number): number {
  let used = 0;
  let index = from;
  let blank = -1;
  for (; index < units.length; index++) {
    const unit = units[index] as Measured;
    if (used + unit.width > width) break;
    used += unit.width;
    if (unit.text === " ") blank = index;
  }
  if (index === units.length) return index;
  if (blank > from) return blank + 1;
  return Math.max(index, from + 1);
}

function wrapLine(line: string, start: number, width: number, isLabel: (label: string) => boolean): Row[] {
  if (line.length < width && /^[\x20-\x7e]*$/.test(line)) return [{ text: line, from: start, to: start + line.length }];
  const units = lineUnits(line, isLabel).map((unit) => ({ ...unit, width: displayWidth(unit.text) }));
  const rows: Row[] = [];
  let at = 0;
  do {
    const end = fitting(units, at, width);
    const from = units[at]?.at ?? line.length;
    const to = units[end]?.at ?? line.length;
    rows.push({ text: line.slice(from, to), from: start + from, to: start + to });
    at = end;
  } while (at < units.length);
  // The cursor needs a cell after a last row that is full.
  const last = rows.at(-1);
  if (last && displayWidth(last.text) >= width) rows.push({ text: "", from: last.to, to: last.to });
  return rows;
}

export function layoutText(
  text: string,
  cursor: number,
  options: { readonly width: number; isLabel(label: string): boolean },
): Layout {
  const rows: Row[] = [];
  let start = 0;
  for (const line of text.split("\n")) {
    rows.push(...wrapLine(line, start, Math.max(1, options.width), options.isLabel));
    start += line.length + 1;
  }
  let cursorRow = rows.findLastIndex((row) => row.from <= cursor);
  if (cursorRow < 0) cursorRow = 0;
  const row = rows[cursorRow] as Row;
  return { rows, cursorRow, cursorColumn: displayWidth(text.slice(row.from, cursor)) };
}

/** The position in the text at this column of a row. */
export function positionAt(row: Row, column: number, isLabel: (label: string) => boolean): number {
  let used = 0;
  for (const unit of lineUnits(row.text, isLabel)) {
    const width = displayWidth(unit.text);
    if (used + width > column) return row.from + unit.at;
    used += width;
  }
  return row.to;
}
