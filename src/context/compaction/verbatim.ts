// What a compaction copies verbatim, independent of the summariser: request, constraints, open todos, memory notes.
import type { Message } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import { estimateTextTokens } from "../../core/model/tokens.ts";
import { truncate } from "../../lib/text/truncate.ts";
import { truncateLines } from "../truncate-lines.ts";
import { coveredRange, type Outline, type Turn } from "./outline.ts";
import type { Plan } from "./plan.ts";
import { isConstraint, sentences } from "./salience.ts";
import { type Section, sectionText, VERBATIM, writeSections } from "./sections.ts";
import { summaryText } from "./summary-message.ts";

interface Todo {
  readonly content: string;
  readonly status: string;
}

function todosIn(message: Message): readonly Todo[] | undefined {
  if (message.role !== "tool") return undefined;
  const text = contentText(message.content);
  if (!text.includes('"todos"')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const todos = typeof value === "object" && value !== null ? (value as { todos?: unknown }).todos : undefined;
    if (!Array.isArray(todos)) return undefined;
    return todos.filter((todo): todo is Todo => typeof todo?.content === "string" && typeof todo?.status === "string");
  } catch {
    return undefined;
  }
}

/** The newest todo list among the turns: pending and running items as lines; undefined when there is no list. */
function openTodos(turns: readonly Turn[]): string | undefined {
  for (const { message } of [...turns].reverse()) {
    const todos = todosIn(message);
    if (todos === undefined) continue;
    const open = todos.filter((todo) => todo.status === "pending" || todo.status === "in_progress");
    return open.map((todo) => `- [${todo.status}] ${todo.content}`).join("\n");
  }
  return undefined;
}

function constraintLines(turns: readonly Turn[]): string[] {
  const lines: string[] = [];
  for (const { message } of turns) {
    if (message.role !== "user") continue;
    for (const sentence of sentences(contentText(message.content)))
      if (isConstraint(sentence)) lines.push(`- "${sentence}"`);
  }
  return lines;
}

interface VerbatimInput {
  readonly middle: readonly Turn[];
  /** The body of the previous summary; its copied sections are kept. */
  readonly previous: string;
  readonly firstUser: Message | undefined;
  readonly carry: string;
  readonly tokens: number;
}

/** Newest first while they fit: later constraints of the user take precedence. */
function newestLines(lines: readonly string[], tokens: number): string {
  const kept: string[] = [];
  let used = 0;
  for (const line of [...new Set(lines)].reverse()) {
    const cost = estimateTextTokens(line) + 1;
    if (used + cost > tokens) break;
    kept.push(line);
    used += cost;
  }
  return kept.reverse().join("\n");
}

function verbatimSections(input: VerbatimInput): Section[] {
  const { previous, tokens } = input;
  const request =
    input.firstUser === undefined ? sectionText(previous, VERBATIM.request) : contentText(input.firstUser.content);
  const words = [...sectionText(previous, VERBATIM.words).split("\n"), ...constraintLines(input.middle)];
  const todos = openTodos(input.middle) ?? sectionText(previous, VERBATIM.todos);
  const memory = input.carry.trim() || sectionText(previous, VERBATIM.memory);
  return [
    { heading: VERBATIM.request, text: truncate(request, Math.max(400, tokens * 2)) },
    {
      heading: VERBATIM.words,
      text: newestLines(
        words.filter((line) => line !== ""),
        Math.floor(tokens * 0.5),
      ),
    },
    { heading: VERBATIM.todos, text: truncateLines(todos, Math.floor(tokens * 0.4)) },
    { heading: VERBATIM.memory, text: truncateLines(memory, Math.floor(tokens * 0.5)) },
  ];
}

/** The text of the summary message: `body`, the verbatim copies, and the pointer to the originals. */
export function completeSummary(
  body: string,
  plan: Plan,
  view: Outline,
  extras: { readonly carry: string; readonly tokens: number },
): string {
  const copied = verbatimSections({
    middle: plan.middle,
    previous: view.previous?.body ?? "",
    firstUser: plan.firstUser,
    ...extras,
  });
  const range = coveredRange(plan.middle, view.previous);
  const shared = plan.lastUser === undefined && plan.tail[0]?.role === "user";
  return summaryText(`${body}\n\n${writeSections(copied)}`, range, shared ? range.to + 1 : undefined);
}
