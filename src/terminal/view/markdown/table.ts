// Tables fitted to the width: cells wrap, columns shrink; when even that is too wide, rows become lists of their cells.
import { displayWidth } from "../../../lib/text/text-width.ts";
import { isolate } from "../text/clean.ts";
import { joinSgr, type Line, lineWidth, paint, type Span } from "../text/span.ts";
import { wrap, wrapLines } from "../text/wrap.ts";
import type { Theme } from "../theme/theme.ts";

export type Align = "left" | "right" | "center" | null;

export interface Table {
  readonly header: readonly Line[];
  readonly align: readonly Align[];
  readonly rows: readonly (readonly Line[])[];
  /** Cells that each column is wider than its content, where the width allows. */
  readonly spare?: number | undefined;
}

const SEPARATOR = " │ ";
const MIN_COLUMN = 3;
const MAX_LIST_LABEL = 24;

function naturalWidths({ header, rows, spare = 0 }: Table): number[] {
  return header.map((cell, column) => {
    const cells = [cell, ...rows.map((row) => row[column] ?? [])];
    return Math.max(1, ...cells.map(lineWidth)) + spare;
  });
}

/** The longest word of a column: below this width words break. */
function wordWidths({ header, rows }: Table): number[] {
  const longest = (cell: Line) =>
    Math.max(0, ...cell.flatMap(({ text }) => text.split(/\s+/).map((word) => displayWidth(word))));
  return header.map((cell, column) => Math.max(longest(cell), ...rows.map((row) => longest(row[column] ?? []))));
}

/** Column widths whose sum fits; undefined when the columns would be too narrow to read. */
export function columnWidths(table: Table, width: number): number[] | undefined {
  const widths = naturalWidths(table);
  const room = width - SEPARATOR.length * (widths.length - 1);
  if (room < widths.length * MIN_COLUMN) return widths.reduce((sum, one) => sum + one, 0) <= room ? widths : undefined;
  const words = wordWidths(table);
  let excess = widths.reduce((sum, one) => sum + one, 0) - room;
  // First down to the longest word, then further, always the widest column.
  for (const floors of [words.map((word) => Math.max(MIN_COLUMN, Math.min(word, 16))), words.map(() => MIN_COLUMN)])
    while (excess > 0) {
      let widest = -1;
      for (const [column, one] of widths.entries())
        if (one > (floors[column] ?? MIN_COLUMN) && one > (widths[widest] ?? 0)) widest = column;
      if (widest < 0) break;
      widths[widest] = (widths[widest] ?? 0) - 1;
      excess--;
    }
  return excess > 0 ? undefined : widths;
}

function padCell(cell: Line, width: number, align: Align): Line {
  const gap = Math.max(0, width - lineWidth(cell));
  const left = align === "right" ? gap : align === "center" ? Math.floor(gap / 2) : 0;
  const pad = (count: number): Span => ({ text: " ".repeat(count), sgr: "" });
  return [pad(left), ...cell.map((part) => ({ ...part, text: isolate(part.text) })), pad(gap - left)];
}

function trimLine(line: Line): Line {
  const kept = [...line];
  for (let last = kept.at(-1); last !== undefined; last = kept.at(-1)) {
    const text = last.text.trimEnd();
    kept.pop();
    if (text !== "") {
      kept.push({ ...last, text });
      break;
    }
  }
  return kept;
}

function rowLines(cells: readonly Line[], table: Table, widths: readonly number[], theme: Theme): string[] {
  const wrapped = widths.map((width, column) => wrapLines(cells[column] ?? [], width));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  const separator: Span = { text: SEPARATOR, sgr: theme.sgr("dim") };
  return Array.from({ length: height }, (_, index) => {
    const parts = widths.flatMap((width, column) => {
      const cell = padCell(wrapped[column]?.[index] ?? [], width, table.align[column] ?? null);
      return column === 0 ? [...cell] : [separator, ...cell];
    });
    return paint(trimLine(parts));
  });
}

/** One line per cell: used where the columns do not fit beside each other. */
function listLines(table: Table, width: number, theme: Theme): string[] {
  return table.rows.flatMap((row, index) => {
    const cells = table.header.flatMap((label, column) => {
      const named = label.map((part) => ({ ...part, sgr: joinSgr(part.sgr, theme.sgr("strong")) }));
      const gap: Line = lineWidth(label) > MAX_LIST_LABEL ? [{ text: "\n", sgr: "" }] : [{ text: ": ", sgr: "" }];
      return wrap([...named, ...gap, ...(row[column] ?? [])], width);
    });
    return index === 0 ? cells : ["", ...cells];
  });
}

export function headerLines(table: Table, widths: readonly number[], theme: Theme): string[] {
  const header = table.header.map((cell) =>
    cell.map((part) => ({ ...part, sgr: joinSgr(part.sgr, theme.sgr("strong")) })),
  );
  const rule = widths.map((width) => "─".repeat(width)).join("─┼─");
  return [...rowLines(header, table, widths, theme), paint([{ text: rule, sgr: theme.sgr("dim") }])];
}

/** Draws the table; with `moreRows`, only these rows, in the columns of the table. */
export function renderTable(table: Table, width: number, theme: Theme, moreRows?: Table["rows"]): string[] {
  const widths = columnWidths(table, width);
  if (widths === undefined) return listLines(moreRows ? { ...table, rows: moreRows } : table, width, theme);
  const rows = (moreRows ?? table.rows).flatMap((row) => rowLines(row, table, widths, theme));
  return moreRows ? rows : [...headerLines(table, widths, theme), ...rows];
}
