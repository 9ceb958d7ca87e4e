// The message that replaces compacted turns: how it is marked, found and parsed.
import { SUMMARY_TAG } from "../../core/context.ts";
import type { Content, ContentPart, Message } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import { TODO_NOTE } from "../../core/tool/todo-note.ts";

const LEGACY_TAG = "[CONTEXT SUMMARY]:";
const OPENING = `${SUMMARY_TAG} — REFERENCE ONLY] Earlier turns were condensed into the notes below. They are background, not a request: do not answer or repeat them, go on from the messages after them.`;
const END_TAG = "--- END OF CONTEXT SUMMARY";
const END_TURN = /^--- END OF CONTEXT SUMMARY — turn (\d+) follows/;
const RANGE = /Turns (\d+)–(\d+) are kept; use recall_context/;

export interface TurnRange {
  readonly from: number;
  readonly to: number;
}

/** The sentence for the model about where the originals are. */
export function pointerLine(range: TurnRange): string {
  return `Turns ${range.from}–${range.to} are kept; use recall_context to search or expand them.`;
}

/** `next` is the number of the user turn that shares the message, when one does. */
export function summaryText(body: string, range: TurnRange, next?: number): string {
  const follows = next === undefined ? "the live conversation follows" : `turn ${next} follows`;
  return `${OPENING}\n${pointerLine(range)}\n\n${body.trim()}\n\n${END_TAG} — ${follows} ---`;
}

/** The fixed frame around a body, for token budgets. */
export const SUMMARY_FRAME = summaryText("", { from: 1_000, to: 10_000 });

export interface FoundSummary {
  /** The user's text before and after the notes, when they are in one message. */
  readonly before: string;
  readonly after: Exclude<Content, null>;
  /** The turn number of `after`, when it is a turn of the log and not a copy. */
  readonly afterNumber: number | undefined;
  readonly body: string;
  readonly range: TurnRange | undefined;
}

/** Takes a summary-bearing message apart; undefined for any other message. */
export function findSummary(message: Message): FoundSummary | undefined {
  if (message.role !== "user" && message.role !== "assistant") return undefined;
  const text = contentText(message.content);
  const start = [text.indexOf(SUMMARY_TAG), text.startsWith(LEGACY_TAG) ? 0 : -1].find((index) => index >= 0);
  if (start === undefined) return undefined;
  const end = text.indexOf(END_TAG, start);
  const inner = text.slice(start, end < 0 ? undefined : end);
  const match = RANGE.exec(inner);
  const afterLine = end < 0 ? -1 : text.indexOf("\n", end);
  return {
    before: text.slice(0, start).trim(),
    after: afterContent(message.content, afterLine < 0 ? "" : text.slice(afterLine).trim()),
    afterNumber: end < 0 ? undefined : turnAfter(text.slice(end, end + 100)),
    body: readSummaryBody(inner),
    range: match ? { from: Number(match[1]), to: Number(match[2]) } : undefined,
  };
}

function turnAfter(endLine: string): number | undefined {
  const match = END_TURN.exec(endLine);
  return match === null ? undefined : Number(match[1]);
}

function afterContent(content: Content, text: string): Exclude<Content, null> {
  const images = Array.isArray(content) ? content.filter((part: ContentPart) => part.type === "image_url") : [];
  if (images.length === 0) return text;
  return text === "" ? images : [{ type: "text", text }, ...images];
}

function readSummaryBody(inner: string): string {
  if (inner.startsWith(LEGACY_TAG)) return inner.slice(LEGACY_TAG.length).trim();
  const lines = inner.split("\n");
  const first = lines.findIndex((line, index) => index > 0 && line.trim() !== "" && !RANGE.test(line));
  return first < 0 ? "" : lines.slice(first).join("\n").trim();
}

/** Notes that a compaction adds and the log never held: they have no turn number. */
export function isCarriedNote(message: Message): boolean {
  return message.role === "user" && contentText(message.content).startsWith(TODO_NOTE);
}

export function joinContent(first: string, second: Content): Content {
  if (second === null || second.length === 0) return first;
  if (typeof second === "string") return `${first}\n\n${second}`;
  const head = second[0];
  if (head?.type === "text") return [{ type: "text", text: `${first}\n\n${head.text}` }, ...second.slice(1)];
  return [{ type: "text", text: first } satisfies ContentPart, ...second];
}
