// Tables that fit the terminal: fixed columns keep their width, one flexible column takes what is left.
import { oneLine } from "../lib/one-line.ts";
import { displayWidth, fitToWidth, padToWidth } from "../lib/text-width.ts";
import type { Terminal } from "./terminal.ts";

export interface Column<Row> {
  readonly title: string;
  readonly align?: "left" | "right";
  /** Shrinks and grows with the terminal; at most one column should say so. */
  readonly flexible?: boolean;
  readonly minWidth?: number;
  value(row: Row): string;
}

const GAP = "  ";

/** Lines of a table with a dim header. Cells are single lines; in a pipe nothing is cut. */
export function renderTable<Row>(terminal: Terminal, columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.value(row))));
  const widths = columns.map((column, index) =>
    Math.max(displayWidth(column.title), ...cells.map((line) => displayWidth(line[index] ?? ""))),
  );
  const total = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (columns.length - 1);
  const flexible = columns.findIndex((column) => column.flexible);
  if (flexible >= 0 && total > terminal.columns) {
    const minimum = columns[flexible]?.minWidth ?? 8;
    widths[flexible] = Math.max(minimum, (widths[flexible] ?? 0) - (total - terminal.columns));
  }
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

/** `just now`, `5 min ago`, `3 h ago`, `4 d ago`, then the date. */
export function relativeTime(seconds: number, now: number = Date.now() / 1000): string {
  const age = now - seconds;
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
