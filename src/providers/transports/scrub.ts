// Takes reasoning tags and machine markup out of visible text while it streams, however the text is cut into pieces.

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
  /** Reasoning at the start of a line streams on as reasoning; anything else waits for its end. */
  readonly live: boolean;
  held: string;
}

/** True when `rest` (which starts with `<`) may still become a tag that matters. */
function mayBecomeTag(rest: string): boolean {
  if (rest.length > LONGEST_TAG || rest.includes(">")) return false;
  const name = /^<\/?([a-z_-]*)/i.exec(rest)?.[1]?.toLowerCase() ?? "";
  const whole = rest.length === name.length + (rest.startsWith("</") ? 2 : 1);
  if (whole) return NAMES.some((known) => known.startsWith(name));
  return NAMES.includes(name) && /^<\/?[a-z_-]+\s[^<>]*$/i.test(rest);
}

/**
 * Feed pieces in order, then call `end`. Inside code fences and right after a backtick, tags are ordinary text.
 * A reasoning span that never closes stays reasoning; markup that never closes is given back as text, so that an
 * answer that only mentions a tag is not lost.
 */
export class Scrubber {
  #pending = "";
  #span: Span | null = null;
  #line = "";
  #last = "";
  #fenced = false;
  #started = false;
  #text = "";
  #reasoning = "";

  push(piece: string): Scrubbed {
    this.#pending += piece;
    this.#drain(false);
    return this.#take();
  }

  end(): Scrubbed {
    this.#drain(true);
    const span = this.#span;
    if (span) {
      this.#span = null;
      if (span.live) this.#reasoning += this.#pending;
      else if (span.name !== MEMORY) this.#show(span.held + this.#pending);
      this.#pending = "";
    }
    return this.#take();
  }

  #take(): Scrubbed {
    const result = { text: this.#text, reasoning: this.#reasoning };
    this.#text = "";
    this.#reasoning = "";
    return result;
  }

  #drain(final: boolean): void {
    while (this.#pending !== "") {
      const moved = this.#span ? this.#inside(this.#span, final) : this.#outside(final);
      if (!moved) return;
    }
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
    if (name === "function") return !closing && this.#atBoundary() && /^\s+name=/i.test(attributes);
    return NAMES.includes(name) && attributes.trim() === "";
  }

  #atBoundary(): boolean {
    return this.#line.trim() === "";
  }

  #open(name: string, raw: string): void {
    const live = THINK.includes(name) && this.#atBoundary();
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
    else span.held += body;
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

/** The visible text of a whole answer, and the reasoning that was inside it. */
export function scrubText(text: string): Scrubbed {
  const scrubber = new Scrubber();
  const first = scrubber.push(text);
  const rest = scrubber.end();
  return { text: first.text + rest.text, reasoning: first.reasoning + rest.reasoning };
}
