// The bytes that turn the lines on the terminal into the wanted lines: pure functions.
import { paintedWidth } from "../../lib/text/wrap-words.ts";

export interface CursorPlace {
  readonly row: number;
  readonly column: number;
}

/** Lines below the settled output, and where the terminal's cursor is among them; null hides the cursor. */
export interface Frame {
  readonly lines: readonly string[];
  readonly cursor: CursorPlace | null;
  /** Width of the terminal when the frame was drawn. */
  readonly columns: number;
}

const ESC = "\u001b[";
const ERASE_LINE = `${ESC}K`;
const ERASE_BELOW = `${ESC}J`;
const HIDE = `${ESC}?25l`;
const SHOW = `${ESC}?25h`;
const RESET = `${ESC}0m`;

/** The row that the cursor is on: hidden cursors rest on the last line. */
export function restingRow(frame: Frame): number {
  return frame.cursor?.row ?? Math.max(0, frame.lines.length - 1);
}

function moveRows(by: number): string {
  if (by === 0) return "";
  return by < 0 ? `${ESC}${-by}A` : `${ESC}${by}B`;
}

/** The line without what was there before. After a line of full width the cursor rests on its last character. */
function drawn(line: string, columns: number): string {
  // A style that a line leaves open must not colour the rest of the screen.
  const text = line.includes("\u001b") ? `${line}${RESET}` : line;
  const isFull = line.length >= columns && paintedWidth(line) >= columns;
  return isFull ? `${ERASE_LINE}${text}` : `${text}${ERASE_LINE}`;
}

function placeCursor(from: number, { lines, cursor }: Frame): string {
  const row = cursor?.row ?? Math.max(0, lines.length - 1);
  const column = cursor?.column ?? 0;
  return `${moveRows(row - from)}\r${column > 0 ? `${ESC}${column}C` : ""}`;
}

function cursorVisibility(before: Frame, after: Frame): string {
  if (before.cursor && !after.cursor) return HIDE;
  return !before.cursor && after.cursor ? SHOW : "";
}

/** Redraws the lines that differ. The result is empty when nothing differs. */
export function diffFrames(before: Frame, after: Frame): string {
  let row = restingRow(before);
  let out = "";
  for (const [index, line] of after.lines.entries()) {
    if (index < before.lines.length) {
      if (before.lines[index] === line) continue;
      out += `${moveRows(index - row)}\r${drawn(line, after.columns)}`;
    } else {
      // Below the old frame there are no rows yet: a line feed creates them, also at the bottom of the window.
      const last = Math.max(0, Math.min(index, before.lines.length) - 1);
      const feed = index === 0 ? "\r" : `${index > before.lines.length ? "" : moveRows(last - row)}\r\n`;
      out += `${feed}${drawn(line, after.columns)}`;
    }
    row = index;
  }
  if (after.lines.length < before.lines.length) {
    if (after.lines.length === 0) {
      out += `${moveRows(-row)}\r${ERASE_BELOW}`;
      row = 0;
    } else {
      // Erasing from the end of the last line keeps that line.
      const last = after.lines.length - 1;
      out += `${moveRows(last + 1 - row)}\r${ERASE_BELOW}${moveRows(-1)}`;
      row = last;
    }
  }
  const moved = before.cursor?.row !== after.cursor?.row || before.cursor?.column !== after.cursor?.column;
  if (out === "" && !moved) return "";
  return `${out}${placeCursor(row, after)}${cursorVisibility(before, after)}`;
}

/** Writes settled lines where the old frame begins, and the new frame below them. */
export function settleLines(before: Frame, settled: readonly string[], after: Frame): string {
  let out = `${moveRows(-restingRow(before))}\r`;
  for (const line of settled) out += `${drawn(line, after.columns)}\r\n`;
  for (const [index, line] of after.lines.entries()) out += `${index > 0 ? "\r\n" : ""}${drawn(line, after.columns)}`;
  out += ERASE_BELOW;
  const row = Math.max(0, after.lines.length - 1);
  return `${out}${placeCursor(row, after)}${cursorVisibility(before, after)}`;
}

/**
 * Rows between the first row of the frame and the cursor after the terminal's width changed. Terminals that reflow break
 * each line that became too long; the line with the cursor is counted once, because some do not touch it.
 */
export function rowsAboveCursor(frame: Frame, columns: number): number {
  let rows = 0;
  for (const line of frame.lines.slice(0, restingRow(frame)))
    rows += Math.max(1, Math.ceil(Math.min(paintedWidth(line), frame.columns) / columns));
  return rows;
}

/** Like `settleLines` after a resize: the old frame begins `above` rows higher and is drawn again completely. */
export function redrawAfterResize(above: number, before: Frame, after: Frame): string {
  let out = `${moveRows(-above)}\r`;
  for (const [index, line] of after.lines.entries()) out += `${index > 0 ? "\r\n" : ""}${drawn(line, after.columns)}`;
  out += ERASE_BELOW;
  return `${out}${placeCursor(Math.max(0, after.lines.length - 1), after)}${cursorVisibility(before, after)}`;
}
