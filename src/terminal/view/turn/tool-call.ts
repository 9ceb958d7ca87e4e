// One tool call: a live line while it runs, a result line when it has ended.
import { displayWidth } from "../../../lib/text/text-width.ts";
import type { Block } from "../block.ts";
import { cachedBlock } from "../markdown/stream.ts";
import { formatDuration, formatElapsed } from "../text/amounts.ts";
import { cleanLine, cleanText, expandTabs, isolate } from "../text/clean.ts";
import { fitLine, type Line, lineWidth, paint, span } from "../text/span.ts";
import { withPrefix, wrap } from "../text/wrap.ts";
import type { Texts } from "../texts/texts.ts";
import type { Theme } from "../theme/theme.ts";
import { diffBlock } from "./diff.ts";
import {
  readGoals,
  readSubagentProgress,
  readSubagentResults,
  readTodos,
  type Subagent,
  subagentLines,
  todoLines,
} from "./lists.ts";
import { describeResult, resultOutput } from "./tool-result.ts";

export interface ToolStyle {
  readonly theme: Theme;
  readonly texts: Texts;
  /** Characters of a preview; 0 for no limit but the width. */
  readonly previewLength: number;
  readonly inlineDiffs: boolean;
  readonly maxDiffLines: number;
  /** Show the output below the result line. */
  readonly expanded: boolean;
  /** Show a line for each subagent. */
  readonly subagentTree: boolean;
}

export interface ToolStart {
  readonly callId: string;
  readonly name: string;
  readonly preview: string;
  readonly args: string;
}

interface ToolEnd {
  readonly failed: boolean;
  readonly durationMs: number;
  readonly preview: string;
  readonly diff?: string | undefined;
}

const EXPANDED_LINES = 20;
const OUTPUT_CHARS = 2_000;
/** Shorter calls are instant for a reader. */
const SHOWN_MS = 100;
const DELEGATE = "delegate_task";

export class ToolCall {
  readonly start: ToolStart;
  readonly #style: ToolStyle;
  readonly #startedAt: number;
  readonly #agents: Subagent[];
  #lastOutput = "";
  #waiting = false;
  #end: ToolEnd | undefined;
  #result: string | undefined;

  constructor(start: ToolStart, style: ToolStyle, now: number) {
    this.start = start;
    this.#style = style;
    this.#startedAt = now;
    const goals = start.name === DELEGATE && style.subagentTree ? readGoals(start.args) : [];
    this.#agents = goals.map((goal) => ({ goal, status: "running", note: "" }));
  }

  get ended(): boolean {
    return this.#end !== undefined;
  }

  get hasResult(): boolean {
    return this.#result !== undefined;
  }

  get failed(): boolean {
    return this.#end?.failed ?? false;
  }

  /** The newest output. */
  progress(text: string): void {
    this.#waiting = false;
    const child = readSubagentProgress(text);
    const agent = child && this.#agents[child.index];
    if (child && agent) this.#agents[child.index] = { ...agent, note: child.note };
    else if (text.trim() !== "") this.#lastOutput = text.slice(-OUTPUT_CHARS);
  }

  /** The user is asked whether the call may happen. */
  waitForApproval(): void {
    this.#waiting = true;
  }

  end(end: ToolEnd): void {
    this.#end = end;
    this.#waiting = false;
  }

  /** The whole result, which is known a moment after the end. */
  result(content: string): void {
    this.#result = content;
  }

  #head(mark: Line, tail: Line, width: number): Line {
    const { theme, previewLength } = this.#style;
    const emoji = theme.skin.tool_emojis[this.start.name];
    const start: Line = [
      span(" "),
      ...mark,
      span(" "),
      ...(emoji === undefined ? [] : [span(`${emoji} `)]),
      span(cleanLine(this.start.name), theme.sgr("label")),
    ];
    const whole = cleanLine(this.start.preview);
    const preview = previewLength > 0 && whole.length > previewLength ? `${whole.slice(0, previewLength)}…` : whole;
    const room = width - lineWidth(start) - lineWidth(tail) - 1;
    const what = preview === "" || room < 4 ? [] : fitLine([span(` ${isolate(preview)}`)], room + 1);
    return fitLine([...start, ...what, ...tail], width);
  }

  /** The line while the call runs, with its last output below it. */
  live(width: number, spinner: string, now: number): string[] {
    const { theme, texts } = this.#style;
    if (this.#end) return this.#resultLines(width, spinner);
    const state = this.#waiting ? ` · ${texts.text("tool.waits")}` : "";
    const tail = [span(` ${formatElapsed(now - this.#startedAt)}`, theme.sgr("dim")), span(state, theme.sgr("warn"))];
    const lines = [paint(this.#head([span(spinner, theme.sgr("accent"))], tail, width))];
    const output = cleanLine(this.#lastOutput.trimEnd().split("\n").at(-1) ?? "");
    if (output !== "") lines.push(this.#below(output, width));
    return [...lines, ...subagentLines(this.#agents, width, spinner, this.#style)];
  }

  #below(text: string, width: number): string {
    const { theme } = this.#style;
    return paint(
      fitLine([span(`   ${theme.skin.tool_prefix} `, theme.sgr("dim")), span(isolate(text), theme.sgr("dim"))], width),
    );
  }

  /** The lines that stay. */
  settled(): Block {
    return cachedBlock((width) => this.#resultLines(width, ""));
  }

  #resultLines(width: number, spinner: string): string[] {
    const { theme, texts } = this.#style;
    const end = this.#end ?? { failed: true, durationMs: 0, preview: texts.text("tool.interrupted") };
    const content = this.#result ?? end.preview;
    const mark = end.failed ? span("✗", theme.sgr("error")) : span("✓", theme.sgr("ok"));
    const todos = end.failed ? undefined : readTodos(content);
    const agents = this.#finishedAgents(content);
    const words =
      todos || agents.length > 0 ? "" : describeResult({ name: this.start.name, failed: end.failed, content }, texts);
    const time = span(end.durationMs < SHOWN_MS ? "" : ` ${formatDuration(end.durationMs)}`, theme.sgr("dim"));
    const whole =
      displayWidth(this.start.name) + displayWidth(cleanLine(this.start.preview)) + displayWidth(words) + 14;
    const short = whole <= width || displayWidth(words) <= Math.max(16, width / 3);
    const tail =
      words !== "" && short ? [span(` · ${isolate(words)}`, theme.sgr(end.failed ? "error" : "dim")), time] : [time];
    const lines = [paint(this.#head([mark], tail, width))];
    if (words !== "" && !short) lines.push(...(end.failed ? this.#reason(words, width) : [this.#below(words, width)]));
    lines.push(...(todos ? todoLines(todos, width, this.#style) : []));
    lines.push(...subagentLines(agents, width, spinner, this.#style));
    return [...lines, ...this.#details(content, end, width)];
  }

  /** A reason is wrapped, not cut: it is what the user needs to act. */
  #reason(words: string, width: number): string[] {
    const prefix = { first: [span("   ")], rest: [span("   ")], width: 3 };
    return withPrefix(prefix, width, (room) => wrap([span(isolate(words), this.#style.theme.sgr("error"))], room));
  }

  #finishedAgents(content: string): Subagent[] {
    if (this.#agents.length === 0) return [];
    const results = readSubagentResults(content);
    return this.#agents.map((agent, index) => ({ ...agent, ...(results[index] ?? {}) }));
  }

  /** Diff and output below the result. */
  #details(content: string, end: ToolEnd, width: number): string[] {
    const { theme, texts, inlineDiffs, maxDiffLines, expanded } = this.#style;
    const lines: string[] = [];
    if (inlineDiffs && end.diff !== undefined && !end.failed)
      lines.push(...(diffBlock(end.diff, { theme, texts, maxLines: maxDiffLines })?.render(width) ?? []));
    const output = expanded ? resultOutput(content) : undefined;
    if (output === undefined) return lines;
    const all = cleanText(output).trimEnd().split("\n");
    const shown = all.slice(-EXPANDED_LINES);
    if (shown.length < all.length)
      lines.push(this.#below(`… ${texts.text("tool.more_lines", { count: all.length - shown.length })}`, width));
    lines.push(...shown.map((line) => this.#below(expandTabs(line), width)));
    return lines;
  }
}
