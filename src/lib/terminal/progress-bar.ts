// The text of a progress bar: share, amount, rate and time left, fitted to the width of the terminal.

import { fitToWidth } from "../text/text-width.ts";
import { formatBytes } from "./columns.ts";

const CELLS = 24;
/** A rate from less time than this is not shown: it would jump. */
const STEADY_MS = 1_000;

export interface ProgressState {
  readonly label: string;
  readonly done: number;
  readonly total: number;
  readonly elapsedMs: number;
  readonly unit: "count" | "bytes";
  readonly columns: number;
}

function amount(value: number, unit: ProgressState["unit"]): string {
  return unit === "bytes" ? formatBytes(value) : Math.round(value).toLocaleString("en-US");
}

/** `4 s`, `3 min 5 s`, `2 h 10 min`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

function speed({ done, total, elapsedMs, unit }: ProgressState): string {
  if (elapsedMs < STEADY_MS || done === 0) return "";
  const rate = done / (elapsedMs / 1000);
  const left = done < total ? `, ${duration((total - done) / rate)} left` : `, ${duration(elapsedMs / 1000)}`;
  return `  ${amount(rate, unit)}/s${left}`;
}

export function progressText(state: ProgressState): string {
  const { label, done, total, unit } = state;
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const cells = Math.round(share * CELLS);
  const bar = `${"█".repeat(cells)}${"░".repeat(CELLS - cells)}`;
  const text = `${label} ${bar} ${Math.round(share * 100)}% (${amount(done, unit)}/${amount(total, unit)})${speed(state)}`;
  return fitToWidth(text, state.columns - 1);
}
