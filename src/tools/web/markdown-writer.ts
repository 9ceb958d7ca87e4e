// Collects Markdown line by line: running text, blocks between blank lines, prefixes of quotes and lists.

/** Deeper quotes and lists are written at this depth. */
const MAX_PREFIXES = 12;

interface Prefix {
  /** Before the first line of an item: its marker. Used once. */
  first: string | null;
  readonly rest: string;
  /** A line stands under it already. */
  used: boolean;
}

const HAN = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\u3000-\u303f\uff00-\uffef";
const CJK_BREAK = new RegExp(`(?<=[${HAN}])[ \\t\\r]*\\n\\s*(?=[${HAN}])`, "gu");
/** Marks that only serve to hide or reorder text: bidirectional overrides, zero-width spaces, tags, soft hyphens. */
const HIDDEN = /[\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/gu;

/** Running text of a page: white space as in a browser, without marks that hide something. */
export function runningText(text: string): string {
  return text
    .replace(HIDDEN, "")
    .replace(CJK_BREAK, "")
    .replace(/[ \t\r\n\f]+/g, " ");
}

/** Text at the start of a line that Markdown would take for structure. */
function guarded(line: string): string {
  if (/^(?:#{1,6}\s|>|[-+*]\s|```|~~~)/.test(line)) return `\\${line}`;
  return line.replace(/^(\d{1,9})([.)]\s)/, "$1\\$2");
}

export class MarkdownWriter {
  readonly #lines: string[] = [];
  readonly #prefixes: Prefix[] = [];
  /** Pieces of running text, joined once: one growing string would be copied with every addition. */
  readonly #inline: string[] = [];
  #inlineSize = 0;
  #blankBefore = false;
  /** A link around whole blocks: the first text inside it carries the address. */
  #blockLink: string | null = null;
  #size = 0;

  /** Characters written so far. */
  get size(): number {
    return this.#size + this.#inlineSize;
  }

  /** The place in the running text; `take` cuts back to it. */
  get mark(): number {
    return this.#inline.length;
  }

  #add(value: string): void {
    if (value === "") return;
    this.#inline.push(value);
    this.#inlineSize += value.length;
  }

  text(value: string): void {
    const running = runningText(value);
    const last = this.#inline.at(-1)?.at(-1);
    this.#add(last === undefined || last === " " || last === "\n" ? running.trimStart() : running);
  }

  /** Text that is Markdown already. */
  raw(value: string): void {
    this.#add(value);
  }

  /** What was written since the mark; it is no longer part of the running text. */
  take(mark: number): string {
    const taken = this.#inline.splice(mark).join("");
    this.#inlineSize -= taken.length;
    return taken;
  }

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

  /** A blank line belongs to the quotes and items that both its neighbours stand in. */
  #blankPrefix(): string {
    let prefix = "";
    for (const level of this.#prefixes) {
      if (!level.used) break;
      prefix += level.rest;
    }
    return prefix.trimEnd();
  }

  /** Ends the running text; `lead` goes before its first line, as the marks of a heading do. */
  flush(lead = ""): void {
    const text = this.take(0).trim();
    if (text === "") return;
    const lines = lead === "" ? text.split("\n") : [text.replace(/\s*\n\s*/g, " ")];
    for (const [index, line] of lines.entries()) {
      const body = lead === "" ? guarded(line.trim()) : line;
      const linked = index === 0 && this.#blockLink !== null && !body.includes("](");
      this.#emit(lead + (linked ? `[${body}](${this.#blockLink})` : body));
      if (linked) this.#blockLink = null;
    }
  }

  /** The end of a block: what follows stands apart by a blank line. */
  endBlock(lead = ""): void {
    this.flush(lead);
    const waitingItem = typeof this.#prefixes.at(-1)?.first === "string";
    if (this.#lines.length > 0 && !waitingItem) this.#blankBefore = true;
  }

  /** The end of a block that the next one follows directly, as list items do. */
  endTight(): void {
    this.flush();
    this.#blankBefore = false;
  }

  /** Lines as they are, each behind the prefixes. */
  verbatim(lines: readonly string[]): void {
    this.endBlock();
    for (const line of lines) this.#emit(line);
    this.endBlock();
  }

  within(prefix: { first?: string | undefined; rest: string }, write: () => void): void {
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
