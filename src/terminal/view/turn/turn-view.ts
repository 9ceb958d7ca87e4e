// The view of a turn: events in, settled blocks and a live part out.
import type { AgentEvent } from "../../../core/event.ts";
import { contentText } from "../../../core/message.ts";
import type { Block, TurnView } from "../block.ts";
import type { MarkdownStyle } from "../markdown/render.ts";
import { cachedBlock, type MarkdownMode, MarkdownStream } from "../markdown/stream.ts";
import { formatElapsed } from "../text/amounts.ts";
import { fitLine, type Line, paint, span } from "../text/span.ts";
import type { Texts } from "../texts/texts.ts";
import type { Theme } from "../theme/theme.ts";
import { endNotices, eventNotice, noticeBlock } from "./notices.ts";
import { type BusySign, busySign, busyVerb, spinnerFrame } from "./spinner.ts";
import { Thinking, type ThinkingMode } from "./thinking.ts";
import { ToolCall, type ToolStyle } from "./tool-call.ts";

export type ToolProgress = "off" | "new" | "all" | "verbose";

export interface TurnStyle {
  readonly theme: Theme;
  readonly texts: Texts;
  readonly markdown: MarkdownStyle;
  readonly markdownMode: MarkdownMode;
  readonly thinking: ThinkingMode;
  readonly toolProgress: ToolProgress;
  readonly tools: ToolStyle;
  readonly busy: BusySign;
  /** Show notices that are not warnings. */
  readonly activity: boolean;
  /** No empty lines between the parts. */
  readonly compact: boolean;
  /** Milliseconds since the epoch. */
  now(): number;
}

type Part = "text" | "tool" | "thinking" | "notice";

type Of<T extends AgentEvent["type"]> = Extract<AgentEvent, { type: T }>;

const EMPTY_LINE: Block = { render: () => [""] };

class ScreenTurn implements TurnView {
  readonly #style: TurnStyle;
  readonly #startedAt: number;
  #settled: Block[] = [];
  #lastPart: Part | undefined;
  #stream: MarkdownStream;
  #streamed = "";
  #thinking: Thinking | undefined;
  readonly #calls = new Map<string, ToolCall>();
  #lastTool = "";
  #ended = false;

  constructor(style: TurnStyle) {
    this.#style = style;
    this.#startedAt = style.now();
    this.#stream = this.#newStream();
  }

  #newStream(): MarkdownStream {
    const { markdown, markdownMode } = this.#style;
    return new MarkdownStream(markdown, markdownMode);
  }

  accept(event: AgentEvent): void {
    switch (event.type) {
      case "delta":
        this.#delta(event);
        return;
      case "message":
        this.#message(event);
        return;
      case "tool_started":
        this.#toolStarted(event);
        return;
      case "tool_progress":
        this.#calls.get(event.callId)?.progress(event.text);
        return;
      case "approval_needed":
        this.#calls.get(event.callId)?.waitForApproval();
        return;
      case "tool_ended":
        this.#calls.get(event.callId)?.end(event);
        return;
      case "ended":
        this.#end(event);
        return;
      default:
        this.#notice(event);
    }
  }

  /** Adds blocks that will not change. Parts of different kinds are separated by an empty line. */
  #settle(part: Part, blocks: readonly Block[]): void {
    if (blocks.length === 0) return;
    if (this.#lastPart !== undefined && this.#lastPart !== part && !this.#style.compact) this.#settled.push(EMPTY_LINE);
    this.#lastPart = part;
    this.#settled.push(...blocks);
  }

  #delta({ kind, text }: Of<"delta">): void {
    if (kind === "reasoning") {
      const { theme, texts, thinking: mode } = this.#style;
      this.#thinking ??= new Thinking({ theme, texts, mode }, this.#style.now());
      this.#thinking.append(text);
      this.#settle("thinking", this.#thinking.takeSettled());
      return;
    }
    this.#closeThinking();
    this.#settleCalls(true);
    this.#streamed += text;
    this.#stream.append(text);
    this.#settle("text", this.#stream.takeSettled());
  }

  #closeThinking(): void {
    const blocks = this.#thinking?.finish(this.#style.now()) ?? [];
    this.#thinking = undefined;
    this.#settle("thinking", blocks);
  }

  #closeText(): void {
    this.#stream.finish();
    this.#settle("text", this.#stream.takeSettled());
    this.#stream = this.#newStream();
  }

  #message({ message }: Of<"message">): void {
    if (message.role === "tool") {
      this.#calls.get(message.tool_call_id)?.result(contentText(message.content));
      this.#settleCalls(false);
      return;
    }
    if (message.role !== "assistant") return;
    this.#closeThinking();
    const text = contentText(message.content);
    // A provider that does not stream sends the whole text here.
    if (this.#streamed.trim() === "" && text.trim() !== "") {
      this.#streamed = text;
      this.#stream.append(text);
    }
    this.#closeText();
    if ((message.tool_calls ?? []).length > 0) this.#streamed = "";
  }

  #toolStarted(event: Of<"tool_started">): void {
    this.#closeThinking();
    this.#calls.set(event.callId, new ToolCall(event, this.#style.tools, this.#style.now()));
  }

  /** Settles calls that have ended, in the order in which they started. `all` includes those without a stored result. */
  #settleCalls(all: boolean): void {
    for (const [id, call] of this.#calls) {
      if (!call.ended) {
        if (!all) return;
        continue;
      }
      if (!all && !call.hasResult) return;
      this.#calls.delete(id);
      this.#settleCall(call);
    }
  }

  #settleCall(call: ToolCall): void {
    const { toolProgress } = this.#style;
    const { name } = call.start;
    const repeated = toolProgress === "new" && this.#lastTool === name && !call.failed;
    this.#lastTool = name;
    if (toolProgress !== "off" && !repeated) this.#settle("tool", [call.settled()]);
  }

  #notice(event: AgentEvent): void {
    const notice = eventNotice(event, this.#style.texts);
    if (event.type === "restarted") {
      // What was settled stays on the screen; the notice says that it does not count.
      this.#stream = this.#newStream();
      this.#thinking = undefined;
      this.#streamed = "";
    }
    if (notice && (notice.level !== "info" || this.#style.activity))
      this.#settle("notice", [noticeBlock(notice, this.#style.theme)]);
  }

  #end(event: Of<"ended">): void {
    this.#ended = true;
    this.#closeThinking();
    for (const call of this.#calls.values()) this.#settleCall(call);
    this.#calls.clear();
    const shown = this.#streamed.trim();
    this.#closeText();
    // Streamed text is settled already; only what was added afterwards (a footer) is shown.
    const rest = shown !== "" && event.text.startsWith(shown) ? event.text.slice(shown.length) : event.text;
    if (rest.trim() !== "") {
      const gap = rest.startsWith("\n\n") && shown !== "" ? [EMPTY_LINE] : [];
      this.#stream.append(rest.trim());
      this.#stream.finish();
      this.#settle("text", [...gap, ...this.#stream.takeSettled()]);
    }
    const { theme, texts } = this.#style;
    this.#settle(
      "notice",
      endNotices(event, texts).map((notice) => noticeBlock(notice, theme)),
    );
  }

  takeSettled(): readonly Block[] {
    const settled = this.#settled;
    this.#settled = [];
    return settled;
  }

  live(now: number): readonly Block[] {
    if (this.#ended) return [];
    const { theme, busy, toolProgress } = this.#style;
    const parts: { part: Part; blocks: readonly Block[] }[] = [];
    const sign = busySign(busy, theme.skin, true, now);
    if (this.#thinking) parts.push({ part: "thinking", blocks: this.#thinking.live(sign, now) });
    const text = this.#stream.live();
    if (text.length > 0) parts.push({ part: "text", blocks: text });
    const spinner = spinnerFrame(busy.indicator, now);
    if (this.#calls.size > 0 && toolProgress !== "off") {
      const lines = (width: number) => [...this.#calls.values()].flatMap((call) => call.live(width, spinner, now));
      parts.push({ part: "tool", blocks: [{ render: lines }] });
    }
    if (!parts.some(({ part, blocks }) => part !== "text" && blocks.length > 0))
      parts.push({ part: "notice", blocks: [this.#workingLine(now)] });
    let last = this.#lastPart;
    return parts.flatMap(({ part, blocks }) => {
      const gap = last !== undefined && last !== part && blocks.length > 0 && !this.#style.compact;
      last = part;
      return gap ? [EMPTY_LINE, ...blocks] : blocks;
    });
  }

  /** The sign of life while the model is asked or writes. */
  #workingLine(now: number): Block {
    const { theme, texts, busy } = this.#style;
    const verb = busyVerb(theme.skin, texts.text("working"), texts.language === "en", now);
    const line: Line = [
      span(busySign(busy, theme.skin, false, now), theme.sgr("accent")),
      span(` ${verb} ${formatElapsed(now - this.#startedAt)}`, theme.sgr("dim")),
    ];
    return cachedBlock((width) => [paint(fitLine(line, width))]);
  }
}

export function createTurnView(style: TurnStyle): TurnView {
  return new ScreenTurn(style);
}
