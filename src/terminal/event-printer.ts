// Prints the events of a turn line by line: the answer on standard output, tools and notices on the error stream.

import type { AgentEvent } from "../core/event.ts";
import { contentText } from "../core/message.ts";
import type { Style, Terminal } from "../lib/terminal/terminal.ts";
import { fitToWidth } from "../lib/text/text-width.ts";
import type { MarkdownStream } from "./view/markdown/stream.ts";
import { type PlainView, RAW_VIEW } from "./view/plain-view.ts";
import { formatDuration } from "./view/text/amounts.ts";
import { cleanShort } from "./view/text/clean.ts";
import { endNotices, eventNotice, type Notice } from "./view/turn/notices.ts";
import { describeResult } from "./view/turn/tool-result.ts";

export interface PrintOptions {
  /** Only the final text, on standard output. */
  readonly quiet: boolean;
  /** Text as it arrives. */
  readonly stream: boolean;
  readonly reasoning: boolean;
  /** `off`, `new` (no repeats), `all`, `verbose`. */
  readonly toolProgress: string;
  /** Words instead of signs, and lines that say where an answer begins and ends: for screen readers. */
  readonly labels?: boolean | undefined;
  /** Texts and Markdown; English and text as written when left out. */
  readonly view?: PlainView | undefined;
}

type Of<T extends AgentEvent["type"]> = Extract<AgentEvent, { type: T }>;

interface Call {
  readonly name: string;
  readonly preview: string;
  end?: Of<"tool_ended"> | undefined;
}

const PREVIEW_CHARS = 200;
const MAX_WIDTH = 100;
const LEVEL_STYLES: { readonly [level in Notice["level"]]: Style } = { info: "dim", warning: "yellow", error: "red" };

export class EventPrinter {
  readonly #terminal: Terminal;
  readonly #options: PrintOptions;
  readonly #view: PlainView;
  #streamed = "";
  #held = "";
  #lineOpen = false;
  #lastTool = "";
  #thinking = false;
  #answering = false;
  #words = 0;
  #markdown: MarkdownStream | undefined;
  /** Lines of the open block that are printed already. */
  #printedLines = 0;
  readonly #calls = new Map<string, Call>();

  constructor(terminal: Terminal, options: PrintOptions) {
    this.#terminal = terminal;
    this.#options = options;
    this.#view = options.view ?? RAW_VIEW;
  }

  /** Prints to the error stream, not into the answer. With `quiet`, only when `always` is set (warnings). */
  note(text: string, always = false): void {
    if (this.#options.quiet && !always) return;
    this.#closeLine();
    this.#terminal.err(text);
  }

  #closeLine(): void {
    const held = this.#held;
    this.#held = "";
    this.#write(this.#terminal.forOut(held));
    if (this.#lineOpen) this.#terminal.raw("\n");
    this.#lineOpen = false;
  }

  #write(text: string): void {
    if (text === "") return;
    this.#terminal.raw(text);
    this.#lineOpen = !text.endsWith("\n");
  }

  #delta(kind: "text" | "reasoning", text: string): void {
    if (this.#options.quiet || !this.#options.stream) return;
    if (kind === "reasoning") {
      if (this.#options.reasoning) this.#thought(text);
      return;
    }
    this.#endThought();
    this.#beginAnswer();
    this.#streamed += text;
    this.#text(text);
  }

  #thought(text: string): void {
    if (!this.#thinking) {
      this.#closeLine();
      this.#terminal.out(this.#terminal.style("dim", this.#view.texts.text("plain.thinking")));
    }
    this.#thinking = true;
    this.#write(this.#terminal.style("dim", this.#terminal.forOut(text)));
  }

  /** Thinking and answer are separated by an empty line. */
  #endThought(): void {
    if (!this.#thinking) return;
    this.#thinking = false;
    this.#closeLine();
    this.#terminal.out("");
  }

  #beginAnswer(): void {
    if (this.#answering) return;
    this.#answering = true;
    this.#markdown = this.#view.markdown();
    if (!this.#options.labels) return;
    this.#closeLine();
    this.#terminal.out(this.#view.texts.text("plain.answer"));
  }

  #text(text: string): void {
    this.#words += text.match(/\S+/g)?.length ?? 0;
    if (this.#markdown) {
      this.#markdown.append(text);
      this.#printBlocks(this.#markdown);
      return;
    }
    // CR LF may be split across two chunks.
    const whole = this.#held + text;
    this.#held = whole.endsWith("\r") ? "\r" : "";
    this.#write(this.#terminal.forOut(whole.slice(0, whole.length - this.#held.length)));
  }

  #printBlocks(markdown: MarkdownStream): void {
    const width = Number.isFinite(this.#terminal.columns) ? this.#terminal.columns : 80;
    for (const block of markdown.takeSettled()) {
      for (const line of block.render(width).slice(this.#printedLines)) this.#terminal.out(line);
      this.#printedLines = 0;
    }
    const open = markdown.stableLines(width).slice(this.#printedLines);
    for (const line of open) this.#terminal.out(line);
    this.#printedLines += open.length;
  }

  #endAnswer(): void {
    if (this.#markdown) {
      this.#markdown.finish();
      this.#printBlocks(this.#markdown);
    }
    this.#markdown = undefined;
    this.#printedLines = 0;
    this.#answering = false;
    this.#closeLine();
  }

  #toolStarted({ callId, name, preview }: Of<"tool_started">): void {
    this.#calls.set(callId, { name, preview });
    const { labels, toolProgress } = this.#options;
    if (!labels || toolProgress === "off") return;
    const what = this.#terminal.forErr(cleanShort(preview, PREVIEW_CHARS));
    this.note(`${this.#view.texts.text("plain.tool")} ${this.#terminal.forErr(name)} ${what}`.trimEnd());
  }

  /** Prints a finished call. Its whole result is known when its message is stored, a moment after its end. */
  #toolDone(call: Call, result: string | undefined): void {
    const { end } = call;
    if (!end) return;
    const mode = this.#options.toolProgress;
    if (mode === "off" || (mode === "new" && this.#lastTool === call.name && !end.failed)) return;
    this.#lastTool = call.name;
    const outcome = { name: call.name, failed: end.failed, content: result ?? end.preview };
    const words = describeResult(outcome, this.#view.texts);
    this.note(this.#options.labels ? this.#labelledTool(call, end, words) : this.#toolLine(call, end, words));
  }

  #labelledTool(call: Call, end: Of<"tool_ended">, words: string): string {
    const { texts } = this.#view;
    const state = texts.text(end.failed ? "tool.failed" : "plain.tool_done");
    const parts = [state, words === state ? "" : words, formatDuration(end.durationMs)].filter((part) => part !== "");
    return `${texts.text("plain.tool")} ${this.#terminal.forErr(call.name)} ${parts.join(", ")}`;
  }

  #toolLine(call: Call, end: Of<"tool_ended">, words: string): string {
    const terminal = this.#terminal;
    const mark = end.failed ? terminal.style("red", "✗") : terminal.style("green", "✓");
    const name = terminal.forErr(call.name);
    const time = ` (${formatDuration(end.durationMs)})`;
    const room = Math.max(10, Math.min(terminal.columns, MAX_WIDTH) - name.length - time.length - 5);
    const what = cleanShort(call.preview, PREVIEW_CHARS);
    if (end.failed) {
      const reason = terminal.forErr(words);
      return `  ${mark} ${name} ${terminal.style("dim", fitToWidth(what, room) + time)}\n    ${reason}`;
    }
    const text = words === "" ? what : `${fitToWidth(what, Math.max(10, room - words.length - 3))} · ${words}`;
    return `  ${mark} ${name} ${terminal.style("dim", fitToWidth(text, room) + time)}`;
  }

  #message({ message }: Of<"message">): void {
    if (message.role === "tool") {
      const call = this.#calls.get(message.tool_call_id);
      this.#calls.delete(message.tool_call_id);
      if (call) this.#toolDone(call, contentText(message.content));
      return;
    }
    if (message.role !== "assistant") return;
    this.#endThought();
    this.#endAnswer();
    if ((message.tool_calls ?? []).length > 0) this.#streamed = "";
  }

  show(event: AgentEvent): void {
    if (event.type === "delta") this.#delta(event.kind, event.text);
    else if (event.type === "tool_started") this.#toolStarted(event);
    else if (event.type === "tool_ended") {
      const call = this.#calls.get(event.callId);
      if (call) call.end = event;
    } else if (event.type === "ended") this.#ended(event);
    else if (event.type === "message") this.#message(event);
    else if (event.type === "tool_progress") {
      if (this.#options.toolProgress === "verbose") this.note(`    ${this.#terminal.forErr(event.text)}`);
    } else {
      const notice = eventNotice(event, this.#view.texts);
      if (event.type === "restarted") {
        this.#endAnswer();
        this.#streamed = "";
      }
      if (notice) this.#notice(notice, event.type === "notice" && event.level === "warning");
    }
  }

  #notice({ level, text }: Notice, always = false): void {
    const { texts } = this.#view;
    const shown = this.#terminal.forErr(text);
    const label = texts.text(level === "error" ? "error" : level === "warning" ? "warning" : "plain.notice");
    const line = this.#options.labels ? `${label.replace(/:$/, "")}: ${shown}` : `  ${shown}`;
    this.note(this.#terminal.style(LEVEL_STYLES[level], line), always);
  }

  #ended(event: Of<"ended">): void {
    this.#endThought();
    this.#endAnswer();
    for (const call of this.#calls.values()) this.#toolDone(call, undefined);
    this.#calls.clear();
    const shown = this.#streamed.trim();
    this.#streamed = "";
    // Streamed text is already on the screen; only what was added afterwards (a footer) is printed.
    const rest = shown !== "" && event.text.startsWith(shown) ? event.text.slice(shown.length).trim() : event.text;
    if (rest !== "") this.#printRest(rest);
    const { texts } = this.#view;
    if (this.#options.labels && event.text.trim() !== "" && !this.#options.quiet)
      this.#terminal.out(texts.text("plain.answer_end", { count: this.#words }));
    this.#words = 0;
    for (const notice of endNotices(event, texts)) {
      if (notice.level !== "error") this.#notice(notice);
      else this.#terminal.err(`${this.#terminal.style("red", "error:")} ${this.#terminal.forErr(notice.text)}`);
    }
  }

  #printRest(rest: string): void {
    if (this.#options.quiet) {
      this.#terminal.out(this.#terminal.forOut(rest));
      return;
    }
    this.#beginAnswer();
    this.#text(rest);
    this.#endAnswer();
  }
}
