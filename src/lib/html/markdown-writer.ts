// Builds Markdown line by line: inline text, blocks separated by blank lines, prefixes of quotes and lists.

/** Quotes and lists that are nested deeper get no further prefix. */
const MAX_PREFIXES = 12;

interface Prefix {
  /** The marker of a list item, for its first line only. */
  first: string | null;
  readonly rest: string;
  /** True once a line was written with it. */
  used: boolean;
}

const HAN = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\u3000-\u303f\uff00-\uffef";
const CJK_BREAK = new RegExp(`(?<=[${HAN}])[ \\t\\r]*\\n\\s*(?=[${HAN}])`, "gu");
/** Characters that can hide or reorder text: bidirectional overrides, zero-width spaces, tags, soft hyphens. */
const HIDDEN = /[\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/gu;

/** Inline text with white space collapsed as in a browser, without hidden characters. */
function inlineText(text: string): string {
  return text
    .replace(HIDDEN, "")
    .replace(CJK_BREAK, "")
    .replace(/[ \t\r\n\f]+/g, " ");
}

/** Escapes the start of a line that Markdown would read as structure. */
function escapeLineStart(line: string): string {
  if (/^(?:#{1,6}\s|>|[-+*]\s|```|~~~)/.test(line)) return `\\${line}`;
  return line.replace(/^(\d{1,9})([.)]\s)/, "$1\\$2");
}

export class MarkdownWriter {
  readonly #lines: string[] = [];
  readonly #prefixes: Prefix[] = [];
  /** Pieces of inline text; joined once, because a growing string would be copied with every addition. */
  readonly #inline: string[] = [];
  #inlineSize = 0;
  #blankBefore = false;
  /** The address of a link around blocks; the next line of text becomes the link. */
  #blockLink: string | null = null;
  #size = 0;

  /** Characters written so far. */
  get size(): number {
    return this.#size + this.#inlineSize;
  }

  /** The position in the inline text, for `take`. */
  get mark(): number {
    return this.#inline.length;
  }

  #add(value: string): void {
    if (value === "") return;
    this.#inline.push(value);
    this.#inlineSize += value.length;
  }

  text(value: string): void {
    const inline = inlineText(value);
    const last = this.#inline.at(-1)?.at(-1);
    this.#add(last === undefined || last === " " || last === "\n" ? inline.trimStart() : inline);
  }

  /** Adds text that is already Markdown. */
  raw(value: string): void {
    this.#add(value);
  }

  /** Removes and returns the inline text written since `mark`. */
  take(mark: number): string {
    const taken = this.#inline.splice(mark).join("");
    this.#inlineSize -= taken.length;
    return taken;
  }

  /** Makes the next line a link to `href` and returns the address that was set before. */
  linkNextBlock(href: string | null): string | null {
    const before = this.#blockLink;
    this.#blockLink = href;
    return before;
  }

  #emit(line: string): void {
    if (this.#blankBefore && this.#lines.length > 0) this.#lines.push(this.#blankPrefix());
    this.#blankBefore = false;
    let prefix = "";
    for (const level of this.#prefixes) {
      prefix += level.first ?? level.rest;
      level.first = null;
      level.used = true;
    }
    const full = line === "" ? prefix.trimEnd() : prefix + line;
    this.#lines.push(full);
    this.#size += full.length + 1;
  }

  /** The prefixes that the lines before and after a blank line share. */
  #blankPrefix(): string {
    let prefix = "";
    for (const level of this.#prefixes) {
      if (!level.used) break;
      prefix += level.rest;
    }
    return prefix.trimEnd();
  }

  /** Writes the inline text as lines; `lead` comes before the first one, for example the marks of a heading. */
  flush(lead = ""): void {
    const text = this.take(0).trim();
    if (text === "") return;
    const lines = lead === "" ? text.split("\n") : [text.replace(/\s*\n\s*/g, " ")];
    for (const [index, line] of lines.entries()) {
      const body = lead === "" ? escapeLineStart(line.trim()) : line;
      const linked = index === 0 && this.#blockLink !== null && !body.includes("](");
      this.#emit(lead + (linked ? `[${body}](${this.#blockLink})` : body));
      if (linked) this.#blockLink = null;
    }
  }

  /** Ends a block; a blank line separates it from the next one. */
  endBlock(lead = ""): void {
    this.flush(lead);
    const waitingItem = typeof this.#prefixes.at(-1)?.first === "string";
    if (this.#lines.length > 0 && !waitingItem) this.#blankBefore = true;
  }

  /** Ends a block without a blank line after it, as between list items. */
  endTight(): void {
    this.flush();
    this.#blankBefore = false;
  }

  /** Writes lines unchanged, each after the prefixes. */
  verbatim(lines: readonly string[]): void {
    this.endBlock();
    for (const line of lines) this.#emit(line);
    this.endBlock();
  }

  withPrefix(prefix: { first?: string | undefined; rest: string }, write: () => void): void {
    const added = this.#prefixes.length < MAX_PREFIXES;
    if (added) this.#prefixes.push({ first: prefix.first ?? null, rest: prefix.rest, used: false });
    write();
    this.flush();
    if (added) this.#prefixes.pop();
  }

  finish(): string {
    this.flush();
    return this.#lines
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim();
  }
}
