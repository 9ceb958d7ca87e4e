// How an approval question shows the action: nothing in it can move the cursor, and a long one hides nothing.
import type { ApprovalRequest } from "../core/human.ts";
import { splitToWidth } from "../lib/text/text-width.ts";
import { showControlCharacters } from "../lib/text/visible-text.ts";

/** Begins each line of the action. */
const LINE = "  │ ";
/** Begins the rest of a line that is wider than the screen. */
const REST = "  ┆ ";
/** Rows for the reason, the choices and what is typed. */
const RESERVED_ROWS = 8;
const HEAD_CHARS = 160;
const HEAD_LINES = 2;
const AROUND_CHARS = 60;
const FLAGGED_CHARS = 600;

export interface ActionText {
  /** All rows of the action. */
  readonly rows: readonly string[];
  /** For an action above one screen: the rows in portions that fit. One portion when it fits. */
  readonly pages: readonly (readonly string[])[];
  /** For an action above one screen whose stopped parts are known: its beginning, these parts, its end. */
  readonly excerpt?: readonly string[] | undefined;
}

interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** The text as rows with a mark before each; control characters as escapes. */
function markedRows(text: string, columns: number): string[] {
  const width = Math.max(10, columns - LINE.length - 1);
  return showControlCharacters(text)
    .replaceAll("\t", "\\t")
    .split("\n")
    .flatMap((line) => splitToWidth(line, width).map((piece, at) => (at === 0 ? LINE : REST) + piece));
}

/** How much of the text's beginning is shown: at most so many characters and lines. */
function headLength(text: string, chars: number, lines: number): number {
  return text.slice(0, chars).split("\n").slice(0, lines).join("\n").length;
}

/** The same for its end. */
function tailLength(text: string, chars: number, lines: number): number {
  return text.slice(-chars).split("\n").slice(-lines).join("\n").length;
}

type Range = readonly [from: number, to: number];

/** Where the parts are in the text, with some text around; parts that are not found as they stand come apart. */
function rangesOf(action: string, parts: readonly string[]): { found: Range[]; missing: string[] } {
  const found: Range[] = [
    [0, headLength(action, HEAD_CHARS, HEAD_LINES)],
    [action.length - tailLength(action, HEAD_CHARS, HEAD_LINES), action.length],
  ];
  const missing: string[] = [];
  for (const part of parts) {
    const at = action.indexOf(part);
    if (at < 0) {
      missing.push(part);
      continue;
    }
    const end = at + part.length;
    const before = tailLength(action.slice(Math.max(0, at - AROUND_CHARS), at), AROUND_CHARS, 1);
    found.push([at - before, end + headLength(action.slice(end, end + AROUND_CHARS), AROUND_CHARS, 1)]);
  }
  return { found, missing };
}

function joined(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last && from <= last[1]) result[result.length - 1] = [last[0], Math.max(last[1], to)];
    else result.push([from, to]);
  }
  return result;
}

function excerptOf(action: string, parts: readonly string[], columns: number): string[] {
  const { found, missing } = rangesOf(action, parts);
  const rows: string[] = [];
  let end = 0;
  for (const [from, to] of joined(found)) {
    if (from > end) rows.push(`  … ${from - end} characters, shown above …`);
    rows.push(...markedRows(action.slice(from, to), columns));
    end = to;
  }
  for (const part of missing) rows.push("  … in it:", ...markedRows(part, columns));
  return rows;
}

function portions(rows: readonly string[], size: number): string[][] {
  const pages: string[][] = [];
  for (let at = 0; at < rows.length; at += size) pages.push(rows.slice(at, at + size));
  return pages;
}

/** The action of a request as rows for a screen; an endless screen for a file or a pipe. */
export function actionText(request: ApprovalRequest, screen: ScreenSize): ActionText {
  const rows = markedRows(request.action, screen.columns);
  const room = Math.max(4, screen.rows - RESERVED_ROWS);
  if (rows.length <= room) return { rows, pages: [rows] };
  const pages = portions(rows, room);
  const parts = request.flagged ?? [];
  if (parts.length === 0 || parts.some((part) => part.length > FLAGGED_CHARS)) return { rows, pages };
  const excerpt = excerptOf(request.action, parts, screen.columns);
  return excerpt.length <= room ? { rows, pages, excerpt } : { rows, pages };
}
