// A message list as compaction sees it: numbered turns, and the summary of earlier turns taken out.
import type { Message } from "../../core/message.ts";
import { type FoundSummary, findSummary, isCarriedNote, type TurnRange } from "./summary-message.ts";

export interface Turn {
  readonly message: Message;
  /** Its number in the whole conversation, counted from 1; undefined for notes that the log never held. */
  readonly number: number | undefined;
}

export interface Outline {
  readonly turns: readonly Turn[];
  readonly previous: FoundSummary | undefined;
  /** Index of the first turn behind the previous summary; 0 when there is none. */
  readonly afterSummary: number;
}

/** Turn numbers continue after those of the previous summary: copies keep the numbers of their originals. */
export function outline(messages: readonly Message[]): Outline {
  const at = messages.findLastIndex((message) => findSummary(message) !== undefined);
  const bearer = messages[at];
  const previous = bearer === undefined ? undefined : findSummary(bearer);
  const turns: Turn[] = [];
  let next = 1;
  const push = (message: Message) => {
    const counted = message.role !== "system" && !isCarriedNote(message);
    turns.push({ message, number: counted ? next++ : undefined });
  };
  for (const message of messages.slice(0, Math.max(0, at))) push(message);
  if (previous === undefined) {
    for (const message of messages.slice(at + 1)) push(message);
    return { turns, previous, afterSummary: 0 };
  }
  if (previous.before !== "") push({ role: "user", content: previous.before });
  const afterSummary = turns.length;
  next = (previous.range?.to ?? next - 1) + 1;
  if (previous.after.length > 0) {
    const number = previous.afterNumber;
    turns.push({ message: { role: "user", content: previous.after }, number });
    if (number !== undefined) next = number + 1;
  }
  for (const message of messages.slice(at + 1)) push(message);
  return { turns, previous, afterSummary };
}

/** The turns that a new summary covers: those of the previous one and the numbered turns of `middle`. */
export function coveredRange(middle: readonly Turn[], previous: FoundSummary | undefined): TurnRange {
  const numbers = middle.map((turn) => turn.number).filter((number) => number !== undefined);
  const first = numbers[0] ?? previous?.range?.from ?? 1;
  const last = numbers.at(-1) ?? previous?.range?.to ?? first;
  return {
    from: Math.min(first, previous?.range?.from ?? first),
    to: Math.max(last, previous?.range?.to ?? last),
  };
}
