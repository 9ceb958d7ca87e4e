// The task list and the tree of subagents, from the arguments and results of their tools.
import { isRecord } from "../../../lib/json/is-record.ts";
import { parseJson } from "../../../lib/json/parse-json.ts";
import { cleanLine, isolate } from "../text/clean.ts";
import { fitLine, type Line, paint, span } from "../text/span.ts";
import type { Texts } from "../texts/texts.ts";
import type { Role, Theme } from "../theme/theme.ts";
import { resultFields } from "./tool-result.ts";

export interface ListStyle {
  readonly theme: Theme;
  readonly texts: Texts;
}

export interface TodoItem {
  readonly content: string;
  readonly status: string;
}

const MAX_TODOS = 12;

const TODO_MARKS: { readonly [status: string]: { readonly mark: string; readonly role: Role } } = {
  completed: { mark: "☑", role: "ok" },
  in_progress: { mark: "▶", role: "accent" },
  cancelled: { mark: "☒", role: "dim" },
};

/** The task list in a result of the todo tool; undefined when the result is something else. */
export function readTodos(content: string): TodoItem[] | undefined {
  const todos = resultFields(content)?.todos;
  if (!Array.isArray(todos)) return undefined;
  return todos.flatMap((item) =>
    isRecord(item) && typeof item.content === "string"
      ? [{ content: item.content, status: typeof item.status === "string" ? item.status : "pending" }]
      : [],
  );
}

function todoLine(item: TodoItem, theme: Theme): Line {
  const { mark, role } = TODO_MARKS[item.status] ?? { mark: "☐", role: "dim" as const };
  const finished = item.status === "completed" || item.status === "cancelled";
  const style = item.status === "in_progress" ? theme.sgr("strong") : finished ? theme.sgr("dim") : "";
  return [span("  "), span(mark, theme.sgr(role)), span(" "), span(isolate(cleanLine(item.content)), style)];
}

/** Long lists keep the items around the first unfinished one. */
export function todoLines(todos: readonly TodoItem[], width: number, { theme, texts }: ListStyle): string[] {
  if (todos.length === 0) return [];
  const done = todos.filter((item) => item.status === "completed").length;
  const next = todos.findIndex((item) => item.status !== "completed" && item.status !== "cancelled");
  const from = Math.max(0, Math.min(Math.max(0, next) - 2, todos.length - MAX_TODOS));
  const shown = todos.slice(from, from + MAX_TODOS);
  const lines: Line[] = [
    [span(`  ${texts.text("todo.title", { done, total: todos.length })}`, theme.sgr("label"))],
    ...shown.map((item) => todoLine(item, theme)),
  ];
  const hidden = todos.length - shown.length;
  if (hidden > 0) lines.push([span(`  … ${texts.text("todo.more", { count: hidden })}`, theme.sgr("dim"))]);
  return lines.map((line) => paint(fitLine(line, width)));
}

export interface Subagent {
  readonly goal: string;
  /** `running`, or the status of the result. */
  readonly status: string;
  /** What it did last, or how it ended. */
  readonly note: string;
}

/** The goals in the arguments of a call that starts subagents. */
export function readGoals(args: string): string[] {
  const parsed = parseJson(args);
  if (!isRecord(parsed)) return [];
  const tasks = Array.isArray(parsed.tasks) ? parsed.tasks : [parsed];
  return tasks.flatMap((task) => (isRecord(task) && typeof task.goal === "string" ? [task.goal] : []));
}

const PROGRESS = /^subagent (\d+): (.*)$/su;

/** A progress line of a subagent: its number and what it says. */
export function readSubagentProgress(text: string): { readonly index: number; readonly note: string } | undefined {
  const found = PROGRESS.exec(text);
  return found ? { index: Number(found[1]) - 1, note: found[2] ?? "" } : undefined;
}

/** How each subagent ended. */
export function readSubagentResults(content: string): { readonly status: string; readonly note: string }[] {
  const results = resultFields(content)?.results;
  if (!Array.isArray(results)) return [];
  return results.map((result) => {
    const fields = isRecord(result) ? result : {};
    const status = typeof fields.status === "string" ? fields.status : "completed";
    const text = status === "completed" ? fields.summary : (fields.error ?? fields.summary);
    return { status, note: typeof text === "string" ? text : "" };
  });
}

function subagentMark(status: string, spinner: string, theme: Theme): Line {
  if (status === "running") return [span(spinner, theme.sgr("accent"))];
  return status === "completed" ? [span("✓", theme.sgr("ok"))] : [span("✗", theme.sgr("error"))];
}

/** One line per subagent, as the branches of the call above them. */
export function subagentLines(
  agents: readonly Subagent[],
  width: number,
  spinner: string,
  { theme }: ListStyle,
): string[] {
  return agents.map((agent, index) => {
    const branch = index === agents.length - 1 ? "└" : "├";
    const note = cleanLine(agent.note);
    const line: Line = [
      span(`  ${branch} `, theme.sgr("dim")),
      ...subagentMark(agent.status, spinner, theme),
      span(` ${isolate(cleanLine(agent.goal))}`),
      span(note === "" ? "" : `  ${isolate(note)}`, theme.sgr("dim")),
    ];
    return paint(fitLine(line, width));
  });
}
