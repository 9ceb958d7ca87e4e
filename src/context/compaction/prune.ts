// The first step of compaction, without a model: shortens old outputs to one line, removes repeats and pictures.
import type { Message, ToolCall, ToolMessage } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import { describeCall } from "./describe-call.ts";
import type { Turn } from "./outline.ts";

const OLD_OUTPUT_CHARS = 200;
const LONG_ARGUMENTS = 500;
const LONG_STRING = 200;
const IMAGE_GONE = "[screenshot removed to save context]";

function callsById(turns: readonly Turn[]): Map<string, ToolCall> {
  const calls = new Map<string, ToolCall>();
  for (const { message } of turns) {
    if (message.role !== "assistant") continue;
    for (const call of message.tool_calls ?? []) calls.set(call.id, call);
  }
  return calls;
}

function where(number: number | undefined): string {
  return number === undefined ? "" : `; recall_context from ${number} shows it`;
}

function withoutImages(message: Message): Message {
  if (!Array.isArray(message.content) || message.role === "assistant") return message;
  if (!message.content.some((part) => part.type === "image_url")) return message;
  const content = message.content.map((part) =>
    part.type === "image_url" ? ({ type: "text", text: IMAGE_GONE } as const) : part,
  );
  return { ...message, content } as Message;
}

function shortenStrings(value: unknown): unknown {
  if (typeof value === "string")
    return value.length > LONG_STRING ? `${value.slice(0, LONG_STRING)}...[truncated]` : value;
  if (Array.isArray(value)) return value.map(shortenStrings);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortenStrings(item)]));
}

/** Long strings inside the arguments are cut; the text stays valid JSON. */
function shortenArguments(call: ToolCall): ToolCall {
  if (call.function.arguments.length <= LONG_ARGUMENTS) return call;
  try {
    const short = JSON.stringify(shortenStrings(JSON.parse(call.function.arguments)));
    return { ...call, function: { ...call.function, arguments: short } };
  } catch {
    // Not JSON: the projection replaces it when a request is made.
    return call;
  }
}

/** The text that v0.14 puts in place of old tool output. */
const CLEARED = "[Old tool output cleared to save context space]";

function pruneOld(turn: Turn, calls: ReadonlyMap<string, ToolCall>): Turn {
  const { message, number } = turn;
  if (message.role === "tool") {
    const text = contentText(message.content);
    const call = calls.get(message.tool_call_id);
    const images = Array.isArray(message.content) && message.content.some((part) => part.type === "image_url");
    if (text.length <= OLD_OUTPUT_CHARS && !images) return turn;
    const line = call === undefined ? `${message.tool_name} → ${text.length} chars` : describeCall(call, text);
    return { number, message: { ...message, content: `${CLEARED} [${line}${where(number)}]` } };
  }
  if (message.role === "assistant" && message.tool_calls !== undefined) {
    const shortened = message.tool_calls.map(shortenArguments);
    if (shortened.every((call, index) => call === message.tool_calls?.[index])) return turn;
    return { number, message: { ...message, tool_calls: shortened } };
  }
  const plain = withoutImages(message);
  return plain === message ? turn : { number, message: plain };
}

/** Of equal outputs only the newest is kept; those outside of the range stay in any case. */
function dropRepeats(turns: readonly Turn[], range: PruneRange): Turn[] {
  const newest = new Map<string, number>();
  for (const [index, { message }] of turns.entries()) {
    if (message.role === "tool" && contentText(message.content).length >= OLD_OUTPUT_CHARS) {
      newest.set(contentText(message.content), index);
    }
  }
  return turns.map((turn, index) => {
    if (turn.message.role !== "tool" || index < range.from || index >= range.to) return turn;
    const last = newest.get(contentText(turn.message.content));
    if (last === undefined || last === index) return turn;
    const message: ToolMessage = {
      ...turn.message,
      content: "[Duplicate tool output: the same text comes again below]",
    };
    return { number: turn.number, message };
  });
}

/** The turns that may be pruned; those before and behind are protected. */
export interface PruneRange {
  readonly from: number;
  readonly to: number;
}

/** Shortens outputs of the range to one line, and repeats. Unchanged turns stay the same objects. */
export function pruneTurns(turns: readonly Turn[], range: PruneRange): Turn[] {
  const calls = callsById(turns);
  return dropRepeats(turns, range).map((turn, index) =>
    index >= range.from && index < range.to ? pruneOld(turn, calls) : turn,
  );
}
