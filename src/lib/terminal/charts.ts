// Plots as text: a bar, a sparkline and a bar chart. The results are plain text without styles.
import { oneLine } from "../text/one-line.ts";
import { displayWidth, fitToWidth, padToWidth } from "../text/text-width.ts";

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const HEIGHTS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const FULL = "█";
const EMPTY = "░";

function share(value: number): number {
  return Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : 0;
}

/** `part` (0 to 1) of `width` cells filled, the rest shaded. A part above zero fills at least one cell. */
export function bar(part: number, width: number): string {
  const cells = Math.max(0, Math.floor(width));
  const filled = share(part);
  const full = filled === 0 ? 0 : Math.min(cells, Math.max(1, Math.round(filled * cells)));
  return FULL.repeat(full) + EMPTY.repeat(cells - full);
}

/** A bar of at most `width` cells in steps of an eighth, without shading. A part above zero is always visible. */
function fineBar(part: number, width: number): string {
  const eighths = Math.round(share(part) * width * 8);
  if (eighths === 0) return part > 0 ? (EIGHTHS[1] ?? "") : "";
  return FULL.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
}

/** The largest of each group, so that a peak stays visible when there are more values than cells. */
function condense(values: readonly number[], cells: number): number[] {
  if (values.length <= cells) return [...values];
  return Array.from({ length: cells }, (_, index) => {
    const from = Math.floor((index * values.length) / cells);
    const to = Math.max(from + 1, Math.floor(((index + 1) * values.length) / cells));
    return Math.max(...values.slice(from, to));
  });
}

/** One cell per value, higher for larger values, scaled from zero to the largest. More values than `width` are condensed. */
export function sparkline(values: readonly number[], width: number = values.length): string {
  const shown = condense(
    values.map((value) => (Number.isFinite(value) ? Math.max(0, value) : 0)),
    Math.max(0, Math.floor(width)),
  );
  const top = Math.max(0, ...shown);
  if (top === 0) return "▁".repeat(shown.length);
  const cell = (value: number) => HEIGHTS[value === 0 ? 0 : Math.max(1, Math.round((value / top) * 7))] ?? FULL;
  return shown.map(cell).join("");
}

export interface ChartRow {
  readonly label: string;
  readonly value: number;
  /** Text after the bar; the number itself when left out. */
  readonly text?: string | undefined;
}

/** One line per row: label, bar, text. Lines are at most `width` cells; labels are shortened before bars vanish. */
export function barChart(rows: readonly ChartRow[], width: number): string[] {
  if (rows.length === 0) return [];
  const room = Number.isFinite(width) ? Math.max(1, Math.floor(width)) : 80;
  const texts = rows.map((row) => oneLine(row.text ?? String(row.value)));
  const labels = rows.map((row) => oneLine(row.label));
  const textWidth = Math.max(...texts.map((text) => displayWidth(text)));
  const widest = Math.max(...labels.map((label) => displayWidth(label)));
  const labelWidth = Math.max(1, Math.min(widest, Math.floor(room * 0.4), room - textWidth - 6));
  const barWidth = Math.max(0, room - labelWidth - textWidth - 4);
  const top = Math.max(0, ...rows.map((row) => row.value));
  return rows.map((row, index) => {
    const label = padToWidth(fitToWidth(labels[index] ?? "", labelWidth), labelWidth);
    const text = padToWidth(texts[index] ?? "", textWidth, "right");
    const drawn = barWidth > 0 ? `${padToWidth(fineBar(top === 0 ? 0 : row.value / top, barWidth), barWidth)}  ` : "";
    return fitToWidth(`${label}  ${drawn}${text}`, room);
  });
}
