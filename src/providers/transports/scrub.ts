// Removes reasoning tags and machine markup from visible text while it streams, however the text is cut into pieces.

const THINK = ["think", "thinking", "reasoning", "thought", "reasoning_scratchpad"];
const MACHINE = ["tool_call", "tool_calls", "tool_result", "function_call", "function_calls"];
const MEMORY = "memory-context";
const NAMES = [...THINK, ...MACHINE, MEMORY, "function"];
const TAG = /^<(\/?)([a-z_-]+)((?:\s[^<>]*)?)>/i;
const LONGEST_TAG = 160;

export interface Scrubbed {
  readonly text: string;
  readonly reasoning: string;
}

interface Span {
  readonly name: string;
  readonly close: RegExp;
  /** Reasoning at the start of a line is streamed as reasoning; everything else is held until its end. */
  readonly live: boolean;
  readonly held: string;
}

/** Where the scrubber is in the text; immutable. */
export interface ScrubState {
  /** Input that cannot be decided yet: it may become a tag. */
  readonly pending: string;
  readonly span: Span | null;
  /** The current line of visible text, and its last character. */
  readonly line: string;
  readonly last: string;
  readonly fenced: boolean;
  readonly started: boolean;
}

export const SCRUB_START: ScrubState = {
  pending: "",
  span: null,
  line: "",
  last: "",
  fenced: false,
  started: false,
};

/** True when `rest` (which starts with `<`) may still become a known tag. */
function mayBecomeTag(rest: string): boolean {
  if (rest.length > LONGEST_TAG || rest.includes(">")) return false;
  const name = /^<\/?([a-z_-]*)/i.exec(rest)?.[1]?.toLowerCase() ?? "";
  const whole = rest.length === name.length + (rest.startsWith("</") ? 2 : 1);
  if (whole) return NAMES.some((known) => known.startsWith(name));
  return NAMES.includes(name) && /^<\/?[a-z_-]+\s[^<>]*$/i.test(rest);
}

/** The work on one piece: a mutable copy of the state, and the output so far. */
class Pass {
  #pending: string;
  #span: Span | null;
  #line: string;
  #last: string;
  #fenced: boolean;
  #started: boolean;
  #text = "";
  #reasoning = "";

  constructor(state: ScrubState, piece: string) {
    this.#pending = state.pending + piece;
    this.#span = state.span;
    this.#line = state.line;
    this.#last = state.last;
    this.#fenced = state.fenced;
    this.#started = state.started;
  }

  get state(): ScrubState {
    return {
      pending: this.#pending,
      span: this.#span,
      line: this.#line,
      last: this.#last,
      fenced: this.#fenced,
      started: this.#started,
    };
  }

  get output(): Scrubbed {
    return { text: this.#text, reasoning: this.#reasoning };
  }

  drain(final: boolean): void {
    while (this.#pending !== "") {
      const moved = this.#span ? this.#inside(this.#span, final) : this.#outside(final);
      if (!moved) return;
    }
  }

  finish(): void {
    this.drain(true);
    const span = this.#span;
    if (!span) return;
    this.#span = null;
    if (span.live) this.#reasoning += this.#pending;
    else if (span.name !== MEMORY) this.#show(span.held + this.#pending);
    this.#pending = "";
  }

  /** Moves text out of `pending`; false when more input is needed to decide. */
  #outside(final: boolean): boolean {
    const at = this.#pending.indexOf("<");
    if (at !== 0) {
      this.#show(at < 0 ? this.#pending : this.#pending.slice(0, at));
      this.#pending = at < 0 ? "" : this.#pending.slice(at);
      return at >= 0;
    }
    const tag = TAG.exec(this.#pending);
    if (!tag) {
      if (!final && mayBecomeTag(this.#pending)) return false;
      this.#show("<");
      this.#pending = this.#pending.slice(1);
      return true;
    }
    const [raw, slash, name = ""] = tag;
    this.#pending = this.#pending.slice(raw.length);
    if (!this.#matters(name.toLowerCase(), tag[3] ?? "", slash === "/")) this.#show(raw);
    else if (slash !== "/") this.#open(name.toLowerCase(), raw);
    return true;
  }

  #matters(name: string, attributes: string, closing: boolean): boolean {
    if (this.#fenced || this.#last === "`") return false;
    if (name === "function") return !closing && this.#atLineStart() && /^\s+name=/i.test(attributes);
    return NAMES.includes(name) && attributes.trim() === "";
  }

  #atLineStart(): boolean {
    return this.#line.trim() === "";
  }

  #open(name: string, raw: string): void {
    const live = THINK.includes(name) && this.#atLineStart();
    this.#span = { name, close: new RegExp(`</${name}\\s*>`, "i"), live, held: raw };
  }

  #inside(span: Span, final: boolean): boolean {
    const close = span.close.exec(this.#pending);
    if (close) {
      const body = this.#pending.slice(0, close.index);
      this.#pending = this.#pending.slice(close.index + close[0].length);
      if (span.live) this.#reasoning += body;
      else if (THINK.includes(span.name)) this.#reasoning += span.held.slice(span.held.indexOf(">") + 1) + body;
      this.#span = null;
      return true;
    }
    if (final) return false;
    // Keep what may be the beginning of the closing tag.
    const tail = this.#pending.lastIndexOf("<");
    const keepFrom = tail >= 0 && mayBecomeTag(this.#pending.slice(tail)) ? tail : this.#pending.length;
    const body = this.#pending.slice(0, keepFrom);
    if (span.live) this.#reasoning += body;
    else this.#span = { ...span, held: span.held + body };
    this.#pending = this.#pending.slice(keepFrom);
    return false;
  }

  /** Adds visible text; blank space before the first visible character is dropped. */
  #show(text: string): void {
    const visible = this.#started ? text : text.trimStart();
    if (visible === "") return;
    this.#started = true;
    this.#text += visible;
    this.#last = visible.slice(-1);
    for (const [index, line] of visible.split("\n").entries()) {
      if (index > 0) this.#endLine();
      this.#line += line;
    }
  }

  #endLine(): void {
    if (/^\s*(```|~~~)/.test(this.#line)) this.#fenced = !this.#fenced;
    this.#line = "";
  }
}

/** The next piece of the text. Inside code fences and right after a backtick, tags are ordinary text. */
export function scrub(state: ScrubState, piece: string): readonly [ScrubState, Scrubbed] {
  const pass = new Pass(state, piece);
  pass.drain(false);
  return [pass.state, pass.output];
}

/**
 * The text has ended: what was held is decided. A reasoning span that never closes is reasoning; other markup that
 * never closes is text, so that an answer which only mentions a tag is not lost.
 */
export function endScrub(state: ScrubState): readonly [ScrubState, Scrubbed] {
  const pass = new Pass(state, "");
  pass.finish();
  return [pass.state, pass.output];
}
