// Keeps large tool results out of the window: the text is written to a file; its start, its end and the path remain.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Content } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { errorMessage } from "../../lib/error-message.ts";

export const DEFAULT_RESULT_CHARS = 100_000;
export const TURN_RESULT_CHARS = 200_000;
const HEAD_CHARS = 1_500;
const TAIL_CHARS = 700;
const MAX_LINE_CHARS = 2_000;
/** Below this a spill would cost more than it saves. */
const SMALLEST_SPILL = 4_000;

export interface LimitedResult {
  readonly callId: string;
  readonly content: Content;
  readonly maxChars: number;
}

export interface SpillTarget {
  readonly dir: string;
  readonly conversationId: string;
}

/** Text that can be paged by line: JSON on one line is laid out, overlong lines are wrapped. */
export function pageable(text: string): string {
  if (!text.split("\n", 1)[0]?.startsWith("{") && !hasLongLine(text)) return text;
  let formatted = text;
  try {
    formatted = JSON.stringify(JSON.parse(text), null, 2).replaceAll("\\n", "\n").replaceAll('\\"', '"');
  } catch {
    formatted = text;
  }
  if (!hasLongLine(formatted)) return formatted;
  const wrap = new RegExp(`(.{${MAX_LINE_CHARS}})(?=.)`, "gu");
  return formatted.replace(wrap, "$1\n");
}

function hasLongLine(text: string): boolean {
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf("\n", start);
    if ((end === -1 ? text.length : end) - start > MAX_LINE_CHARS) return true;
    if (end === -1) return false;
    start = end + 1;
  }
  return false;
}

function head(text: string): string {
  const cut = text.slice(0, HEAD_CHARS);
  const line = cut.lastIndexOf("\n");
  return line > HEAD_CHARS / 2 ? cut.slice(0, line) : cut;
}

function tail(text: string): string {
  const cut = text.slice(-TAIL_CHARS);
  const line = cut.indexOf("\n");
  return line !== -1 && line < TAIL_CHARS / 2 ? cut.slice(line + 1) : cut;
}

/** The text that replaces a large result: its size, the file, how to page it, its start and end. */
function spillNotice(text: string, file: { path: string; chars: number; lines: number }): string {
  return [
    `[Large output: ${file.chars} characters in ${file.lines} lines, saved to ${file.path}. Read any part with read_file (path, offset = first line, limit = number of lines) or search it with search_files.]`,
    "--- beginning ---",
    head(text),
    "--- end ---",
    tail(text),
  ].join("\n");
}

async function spill(result: LimitedResult, target: SpillTarget): Promise<Content> {
  const text = contentText(result.content);
  const safe = (name: string) => name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 80);
  // Some servers number their calls again in every turn: the name must not be that of an older result.
  const unique = randomBytes(3).toString("hex");
  const path = join(target.dir, safe(target.conversationId), `${safe(result.callId)}-${unique}.txt`);
  const body = pageable(text);
  let notice: string;
  try {
    await atomicWrite(path, body);
    notice = spillNotice(body, { path, chars: text.length, lines: body.split("\n").length });
  } catch (error) {
    const why = errorMessage(error);
    notice = `${head(text)}\n[… ${text.length} characters in all; the rest could not be saved: ${why} …]\n${tail(text)}`;
  }
  if (result.content === null || typeof result.content === "string") return notice;
  return [{ type: "text", text: notice }, ...result.content.filter((part) => part.type !== "text")];
}

/**
 * Applies the limit of each result, then the allowance that the turn has left, largest first. Returns the contents
 * in order.
 */
export async function limitResults(
  results: readonly LimitedResult[],
  allowance: number,
  target: SpillTarget,
): Promise<Content[]> {
  const contents = results.map((result) => result.content);
  const sizes = results.map((result) => contentText(result.content).length);
  let total = sizes.reduce((sum, size) => sum + size, 0);
  const order = results.map((_, index) => index).sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0));
  for (const index of order) {
    const result = results[index];
    const size = sizes[index] ?? 0;
    if (result === undefined) continue;
    const exceedsLimit = size > result.maxChars;
    const exceedsAllowance = total > allowance && size > SMALLEST_SPILL && result.maxChars !== Number.POSITIVE_INFINITY;
    if (!exceedsLimit && !exceedsAllowance) continue;
    const content = await spill(result, target);
    contents[index] = content;
    total += contentText(content).length - size;
  }
  return contents;
}
