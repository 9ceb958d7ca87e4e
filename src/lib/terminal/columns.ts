// Tables that fit the terminal: flexible columns shrink, the others keep their width.
import { oneLine } from "../text/one-line.ts";
import { displayWidth, fitToWidth, padToWidth } from "../text/text-width.ts";

/** The part of a terminal that a table needs. */
interface TableTerminal {
  readonly columns: number;
  style(style: "dim", text: string): string;
}

export interface Column<Row> {
  readonly title: string;
  readonly align?: "left" | "right" | undefined;
  /** May shrink when the terminal is too narrow; the widest shrinks first. */
  readonly flexible?: boolean | undefined;
  readonly minWidth?: number | undefined;
  value(row: Row): string;
}

const GAP = "  ";

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);
}

/** No column becomes narrower than this. */
const SMALLEST = 6;

/** Shrinks the widest flexible column until the line fits; then, with `squeeze`, the widest of all. */
function shrink(widths: number[], columns: readonly Column<never>[], room: number, squeeze: boolean): void {
  const least = (index: number, all: boolean) => {
    if (all) return SMALLEST;
    const column = columns[index];
    return column?.flexible ? (column.minWidth ?? 8) : Number.POSITIVE_INFINITY;
  };
  for (const all of squeeze ? [false, true] : [false]) {
    for (let excess = totalWidth(widths) - room; excess > 0; excess--) {
      let widest = -1;
      for (const [index, width] of widths.entries())
        if (width > least(index, all) && width > (widths[widest] ?? 0)) widest = index;
      if (widest < 0) break;
      widths[widest] = (widths[widest] ?? 0) - 1;
    }
  }
}

/** A table with a dim header. Cells are single lines; in a pipe nothing is cut. */
export function renderTable<Row>(
  terminal: TableTerminal,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  /** False: columns that are not flexible keep their width, and the caller checks whether the table fits. */
  squeeze = true,
): string {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.value(row))));
  const widths = columns.map((column, index) =>
    Math.max(displayWidth(column.title), ...cells.map((line) => displayWidth(line[index] ?? ""))),
  );
  shrink(widths, columns, terminal.columns, squeeze);
  const line = (values: readonly string[]) =>
    columns
      .map((column, index) =>
        padToWidth(fitToWidth(values[index] ?? "", widths[index] ?? 0), widths[index] ?? 0, column.align),
      )
      .join(GAP)
      .trimEnd();
  const header = terminal.style("dim", line(columns.map((column) => column.title)));
  return `${[header, ...cells.map(line)].join("\n")}\n`;
}

/** `just now`, `5 min ago`, `3 h ago`, `4 d ago`, then the date; the date also for a time in the future. */
export function relativeTime(seconds: number, now: number = Date.now() / 1000): string {
  const age = now - seconds;
  // More than the difference of two clocks: the date shows that something is wrong.
  if (age < -120) return new Date(seconds * 1000).toISOString().slice(0, 10);
  if (age < 60) return "just now";
  if (age < 3600) return `${Math.floor(age / 60)} min ago`;
  if (age < 86_400) return `${Math.floor(age / 3600)} h ago`;
  if (age < 30 * 86_400) return `${Math.floor(age / 86_400)} d ago`;
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = "B";
  for (const next of units) {
    if (value < 1024) break;
    value /= 1024;
    unit = next;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
}
