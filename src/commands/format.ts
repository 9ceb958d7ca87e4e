// Formats of command answers: aligned rows, numbers, ages and prices.
import { displayWidth, fitToWidth, padToWidth } from "../lib/text/text-width.ts";
import { wrapWords } from "../lib/text/wrap-words.ts";

const WIDEST_LABEL = 34;

/** `12,345`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** `200k`, `1M`, for windows. */
export function shortCount(value: number): string {
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toFixed(1))}M`;
  return value >= 1_000 ? `${Math.round(value / 1_000)}k` : String(value);
}

/** `5 min`, `3 h`, `12 d`. */
export function age(seconds: number): string {
  if (seconds < 60) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}

export function plural(amount: number, word: string): string {
  return `${count(amount)} ${word}${amount === 1 ? "" : "s"}`;
}

export type Row = readonly [label: string, text: string];

/**
 * Two columns. With a width, labels of one row keep to their column and texts wrap below themselves; without one (chats)
 * two spaces separate the columns, which the chat replaces.
 */
export function rows(list: readonly Row[], width?: number): string {
  const widest = Math.max(0, ...list.map(([label]) => displayWidth(label)));
  const labelWidth = Math.min(widest, WIDEST_LABEL, Math.max(8, Math.floor((width ?? 80) * 0.45)));
  return list.flatMap(([label, text]) => row(label, text, { labelWidth, width })).join("\n");
}

function row(label: string, text: string, { labelWidth, width }: { labelWidth: number; width: number | undefined }) {
  if (width === undefined) return [`${label}  ${text}`];
  const indent = " ".repeat(labelWidth + 2);
  const room = Math.max(10, width - indent.length);
  const lines = wrapWords(text, room).split("\n");
  if (displayWidth(label) > labelWidth) return [fitToWidth(label, width), ...lines.map((line) => indent + line)];
  const [first = "", ...rest] = lines;
  return [`${padToWidth(label, labelWidth)}  ${first}`.trimEnd(), ...rest.map((line) => indent + line)];
}
