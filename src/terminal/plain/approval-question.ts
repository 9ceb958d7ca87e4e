// Formats the action of an approval question: control characters are escaped, and long actions are shown completely.
import type { ApprovalRequest } from "../../core/human.ts";
import { splitToWidth } from "../../lib/text/text-width.ts";
import { showControlCharacters } from "../../lib/text/visible-text.ts";

/** Prefix of each line of the action. */
const LINE = "  │ ";
/** Prefix of the continuation of a line that is wider than the screen. */
const WRAPPED = "  ┆ ";
/** Rows for the reason, the choices and what is typed. */
const RESERVED_ROWS = 8;
const HEAD_CHARS = 160;
const HEAD_LINES = 2;
const AROUND_CHARS = 60;
const FLAGGED_CHARS = 600;

export interface ActionText {
  /** All rows of the action. */
  readonly rows: readonly string[];
  /** The rows in pages that fit the screen; one page when the action fits. */
  readonly pages: readonly (readonly string[])[];
  /** For an action longer than the screen whose flagged parts are known: its beginning, these parts, its end. */
  readonly excerpt?: readonly string[] | undefined;
}

interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** The text as rows with a prefix; control characters as escapes. */
function markedRows(text: string, columns: number): string[] {
  const width = Math.max(10, columns - LINE.length - 1);
  return showControlCharacters(text)
    .replaceAll("\t", "\\t")
    .split("\n")
    .flatMap((line) => splitToWidth(line, width).map((piece, at) => (at === 0 ? LINE : WRAPPED) + piece));
}

/** Length of the beginning of the text within these limits. */
function headLength(text: string, chars: number, lines: number): number {
  return text.slice(0, chars).split("\n").slice(0, lines).join("\n").length;
}

/** Length of the end of the text within these limits. */
function tailLength(text: string, chars: number, lines: number): number {
  return text.slice(-chars).split("\n").slice(-lines).join("\n").length;
}

type Range = readonly [from: number, to: number];

/** Positions of the parts in the text, with some context; parts that do not occur literally are returned as missing. */
function findRanges(action: string, parts: readonly string[]): { found: Range[]; missing: string[] } {
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

function mergeRanges(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last && from <= last[1]) result[result.length - 1] = [last[0], Math.max(last[1], to)];
    else result.push([from, to]);
  }
  return result;
}

function buildExcerpt(action: string, parts: readonly string[], columns: number): string[] {
  const { found, missing } = findRanges(action, parts);
  const rows: string[] = [];
  let end = 0;
  for (const [from, to] of mergeRanges(found)) {
    if (from > end) rows.push(`  … ${from - end} characters, shown above …`);
    rows.push(...markedRows(action.slice(from, to), columns));
    end = to;
  }
  for (const part of missing) rows.push("  … in it:", ...markedRows(part, columns));
  return rows;
}

function splitPages(rows: readonly string[], size: number): string[][] {
  const pages: string[][] = [];
  for (let at = 0; at < rows.length; at += size) pages.push(rows.slice(at, at + size));
  return pages;
}

/** Formats the action of a request for a screen; a file or a pipe has infinite size. */
export function actionText(request: ApprovalRequest, screen: ScreenSize): ActionText {
  const rows = markedRows(request.action, screen.columns);
  const room = Math.max(4, screen.rows - RESERVED_ROWS);
  if (rows.length <= room) return { rows, pages: [rows] };
  const pages = splitPages(rows, room);
  const parts = request.flagged ?? [];
  if (parts.length === 0 || parts.some((part) => part.length > FLAGGED_CHARS)) return { rows, pages };
  const excerpt = buildExcerpt(request.action, parts, screen.columns);
  return excerpt.length <= room ? { rows, pages, excerpt } : { rows, pages };
}
