// Prints the events of a turn: text as it streams, one line per tool, notices on the error stream.

import type { AgentEvent } from "../core/event.ts";
import type { Style, Terminal } from "../lib/terminal/terminal.ts";
import { fitToWidth } from "../lib/text/text-width.ts";

export interface PrintOptions {
  /** Only the final text, on standard output. */
  readonly quiet: boolean;
  /** Text as it arrives. */
  readonly stream: boolean;
  readonly reasoning: boolean;
  /** `off`, `new` (no repeats), `all`, `verbose`. */
  readonly toolProgress: string;
  /** Lines that say where an answer begins and ends, for screen readers. */
  readonly labels?: boolean | undefined;
}

function seconds(ms: number): string {
  return ms < 950 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** A line about an event that is not part of the answer. */
function noteText(event: AgentEvent): { style: Style; text: string } | undefined {
  switch (event.type) {
    case "restarted":
      return { style: "dim", text: "the answer starts over" };
    case "retrying":
      return { style: "yellow", text: `${event.failure.message}; trying again in ${seconds(event.inMs)}` };
    case "fallback":
      return {
        style: "yellow",
        text: `${event.from.model} failed (${event.failure.message}); continuing with ${event.to.model}`,
      };
    case "compressed":
      return {
        style: "dim",
        text: `compacted ${event.beforeTokens} → ${event.afterTokens} tokens; the originals stay searchable`,
      };
    case "notice":
      return { style: event.level === "warning" ? "yellow" : "dim", text: event.text };
    default:
      return undefined;
  }
}

export class EventPrinter {
  readonly #terminal: Terminal;
  readonly #options: PrintOptions;
  #streamed = "";
  #held = "";
  #lineOpen = false;
  #lastTool = "";
  readonly #calls = new Map<string, string>();

  constructor(terminal: Terminal, options: PrintOptions) {
    this.#terminal = terminal;
    this.#options = options;
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

  #delta(kind: "text" | "reasoning", text: string): void {
    if (this.#options.quiet || !this.#options.stream) return;
    if (kind === "reasoning") {
      if (this.#options.reasoning) this.#write(this.#terminal.style("dim", this.#terminal.forOut(text)));
      return;
    }
    if (this.#options.labels && this.#streamed === "") this.#terminal.out("Hermes answers:");
    this.#streamed += text;
    // CR LF may be split across two chunks.
    const whole = this.#held + text;
    this.#held = whole.endsWith("\r") ? "\r" : "";
    this.#write(this.#terminal.forOut(whole.slice(0, whole.length - this.#held.length)));
  }

  #write(text: string): void {
    if (text === "") return;
    this.#terminal.raw(text);
    this.#lineOpen = !text.endsWith("\n");
  }

  #toolEnded(event: Extract<AgentEvent, { type: "tool_ended" }>): void {
    const mode = this.#options.toolProgress;
    if (mode === "off" || (mode === "new" && this.#lastTool === event.name && !event.failed)) return;
    this.#lastTool = event.name;
    const mark = event.failed ? this.#terminal.style("red", "✗") : this.#terminal.style("green", "✓");
    const name = this.#terminal.forErr(event.name);
    const width = Math.min(this.#terminal.columns, 100) - name.length - 16;
    const what = this.#calls.get(event.callId) ?? "";
    const text = this.#terminal.forErr((event.failed ? event.preview : what).replaceAll(/\s+/gu, " "));
    const preview = fitToWidth(text, Math.max(10, width));
    this.note(`  ${mark} ${name} ${this.#terminal.style("dim", `${preview} (${seconds(event.durationMs)})`)}`);
  }

  show(event: AgentEvent): void {
    if (event.type === "delta") this.#delta(event.kind, event.text);
    else if (event.type === "tool_started") this.#calls.set(event.callId, event.preview);
    else if (event.type === "tool_ended") this.#toolEnded(event);
    else if (event.type === "ended") this.#ended(event);
    else if (event.type === "message") {
      if (event.message.role !== "assistant") return;
      this.#closeLine();
      if ((event.message.tool_calls ?? []).length > 0) this.#streamed = "";
    } else if (event.type === "tool_progress") {
      if (this.#options.toolProgress === "verbose") this.note(`    ${this.#terminal.forErr(event.text)}`);
    } else {
      if (event.type === "restarted") this.#streamed = "";
      const note = noteText(event);
      const warns = event.type === "notice" && event.level === "warning";
      if (note) this.note(this.#terminal.style(note.style, `  ${this.#terminal.forErr(note.text)}`), warns);
    }
  }

  #ended(event: Extract<AgentEvent, { type: "ended" }>): void {
    this.#closeLine();
    const shown = this.#streamed.trim();
    this.#streamed = "";
    // Streamed text is already on the screen; only what was added afterwards (a footer) is printed.
    const rest = shown !== "" && event.text.startsWith(shown) ? event.text.slice(shown.length).trim() : event.text;
    if (rest !== "") this.#terminal.out(this.#terminal.forOut(rest));
    if (this.#options.labels && event.text.trim() !== "") {
      const words = event.text.trim().split(/\s+/u).length;
      this.#terminal.out(`End of the answer, ${words} ${words === 1 ? "word" : "words"}.`);
    }
    if (event.end === "interrupted") this.note(this.#terminal.style("yellow", "  interrupted"));
    if (event.end === "budget")
      this.note(
        this.#terminal.style(
          "yellow",
          `  stopped at the limit of agent.max_turns; one more model call was used for this summary`,
        ),
      );
    if (event.failure && event.end === "failed") {
      const { message, hint } = event.failure;
      this.#terminal.err(
        `${this.#terminal.style("red", "error:")} ${this.#terminal.forErr(`${message}${hint ? `\n${hint}` : ""}`)}`,
      );
    }
  }
}
