// Splits streamed Markdown into units that can be drawn on their own: paragraphs, list items, tables, parts of code blocks.
// The split depends only on the text, not on how it arrived.

export type Unit =
  | { readonly kind: "markdown"; readonly source: string; readonly gap: boolean }
  | { readonly kind: "rule"; readonly gap: boolean }
  | CodeUnit
  | TableUnit;

/** A part of a fenced code block. */
export interface CodeUnit {
  readonly kind: "code";
  readonly language: string;
  readonly lines: readonly string[];
  /** Lines of the same block before this part: the highlighter needs them. */
  readonly before: readonly string[];
  readonly first: boolean;
  readonly last: boolean;
  readonly gap: boolean;
}

/** A table, or the later rows of a long one with the rows that fixed the widths of its columns. */
export interface TableUnit {
  readonly kind: "table";
  readonly source: string;
  readonly moreRows?: readonly string[] | undefined;
  /** More rows follow: the columns get spare room for them. */
  readonly long: boolean;
  readonly gap: boolean;
}

/** Lines of code that are drawn together: few enough to be highlighted between two frames. */
const CODE_PART = 30;
const CODE_CONTEXT = 30;
const TABLE_PART = 30;
/** Larger units are split wherever they are, so that drawing the open one stays quick. */
const MAX_LINES = 400;
const MAX_CHARS = 4_000;

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`\n]*)$/;
const INNER_FENCE = /^ *(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^( {0,3})([*+-]|\d{1,9}[.)])(?:[ \t]+|$)/;
/** A number that cannot start a list inside a paragraph. */
const LATER_NUMBER = /^(?!1\D)\d/;
const QUOTE = /^ {0,3}>/;
/** The beginning of a line that does not show yet what it will be. */
const ONLY_MARKS = /^(?:[`~]{1,3}|[#>*+_-]{1,6}|\d{1,9}[.)]?|\|)$/;
const DELIMITER_ROW = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

type Kind = "none" | "text" | "quote" | "item" | "table" | "code";

function isBlank(line: string): boolean {
  return line.trim() === "";
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function startsBlock(line: string): boolean {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || ITEM.test(line) || QUOTE.test(line);
}

export class UnitSplitter {
  #finished: Unit[] = [];
  #kind: Kind = "none";
  #lines: string[] = [];
  /** Characters of the open unit. */
  #chars = 0;
  /** A blank line stands before the open unit. */
  #gap = false;
  /** A blank line was seen inside the open list item. */
  #blank = false;
  #itemIndent = 2;
  /** The mark that closes the open fence, in a code block or in a list item. */
  #fence = "";
  #language = "";
  #codeBefore: string[] = [];
  #codeStarted = false;
  /** Header, delimiter and first rows of a table that was split. */
  #tableStart: string[] = [];

  /** Adds a complete line without its line break. */
  push(line: string): void {
    if (this.#kind === "code") this.#pushCode(line);
    else if (this.#kind === "item" && this.#fence !== "") this.#pushInnerFence(line);
    else if (isBlank(line)) this.#pushBlank();
    else if (this.#kind !== "item" || !this.#continueItem(line)) this.#pushLine(line);
    this.#chars += line.length + 1;
    if (this.#lines.length >= MAX_LINES || (this.#chars > MAX_CHARS && this.#kind !== "table")) this.#cut();
  }

  /** Ends the open unit. */
  finish(): void {
    this.#emit(true);
    this.#gap = false;
  }

  /** Ends the open unit in the middle of its text; it continues as another one. */
  #cut(): void {
    const kind = this.#kind;
    this.#emit(false);
    if (kind === "code") this.#kind = "code";
    this.#gap = false;
  }

  /** Units that will not change again; each is returned once. */
  take(): Unit[] {
    const finished = this.#finished;
    this.#finished = [];
    return finished;
  }

  /** The units that may still change, with the unfinished line `partial` at their end. */
  open(partial: string): Unit[] {
    const trial = this.#clone();
    const mark = partial.trim();
    const closing = this.#kind === "code" && mark !== "" && this.#fence.startsWith(mark);
    // An unfinished row would change the columns with every character.
    const row = this.#kind === "table";
    if (mark !== "" && !closing && !row && !ONLY_MARKS.test(mark)) trial.push(partial);
    const units = trial.take();
    if (trial.#kind === "code") units.push(trial.#codeUnit(trial.#lines, false));
    else if (trial.#lines.length > 0) units.push(trial.#unit(trial.#lines));
    return units;
  }

  #clone(): UnitSplitter {
    const copy = new UnitSplitter();
    copy.#kind = this.#kind;
    copy.#lines = [...this.#lines];
    copy.#chars = this.#chars;
    copy.#gap = this.#gap;
    copy.#blank = this.#blank;
    copy.#itemIndent = this.#itemIndent;
    copy.#fence = this.#fence;
    copy.#language = this.#language;
    copy.#codeBefore = this.#codeBefore;
    copy.#codeStarted = this.#codeStarted;
    copy.#tableStart = this.#tableStart;
    return copy;
  }

  #pushCode(line: string): void {
    const close = /^ {0,3}(`+|~+)[ \t]*$/.exec(line)?.[1];
    if (close?.startsWith(this.#fence)) {
      this.#emit(true);
      return;
    }
    this.#lines.push(line);
    if (this.#lines.length >= CODE_PART) {
      this.#emit(false);
      this.#kind = "code";
    }
  }

  #pushInnerFence(line: string): void {
    const close = INNER_FENCE.exec(line)?.[1];
    this.#lines.push(line);
    if (close?.startsWith(this.#fence) && line.trim() === close) this.#fence = "";
  }

  #pushBlank(): void {
    if (this.#kind === "item") {
      this.#blank = true;
      return;
    }
    this.#emit(true);
    this.#gap = true;
  }

  /** True when the line belongs to the open list item. */
  #continueItem(line: string): boolean {
    const item = ITEM.exec(line);
    const own = indentOf(line) >= this.#itemIndent || (indentOf(line) >= 2 && !item);
    if (!own && (this.#blank || startsBlock(line))) {
      const gap = this.#blank;
      this.#emit(true);
      this.#gap = gap;
      return false;
    }
    if (this.#blank) this.#lines.push("");
    this.#blank = false;
    this.#lines.push(line);
    this.#fence = INNER_FENCE.exec(line)?.[1] ?? "";
    return true;
  }

  #pushLine(line: string): void {
    const fence = FENCE.exec(line);
    const item = ITEM.exec(line);
    const startsTable = this.#kind === "text" && this.#isTableStart(line);
    if (fence) this.#startCode(fence);
    else if (HEADING.test(line)) this.#single({ kind: "markdown", source: line, gap: true });
    else if (RULE.test(line) && !startsTable) this.#single({ kind: "rule", gap: true });
    else if (item && !(this.#kind === "text" && LATER_NUMBER.test(item[2] ?? ""))) this.#startItem(line, item);
    else this.#pushText(line, startsTable);
  }

  #pushText(line: string, startsTable: boolean): void {
    if (startsTable) this.#startTable();
    else if (QUOTE.test(line) && this.#kind !== "quote") this.#start("quote");
    else if (this.#kind === "none") this.#start("text");
    this.#lines.push(line);
    if (this.#kind === "table" && this.#lines.length >= TABLE_PART) this.#splitTable();
  }

  #isTableStart(line: string): boolean {
    return DELIMITER_ROW.test(line) && (this.#lines.at(-1) ?? "").includes("|") && line.includes("-");
  }

  #start(kind: Kind): void {
    this.#emit(true);
    this.#kind = kind;
  }

  #startCode(fence: RegExpExecArray): void {
    this.#start("code");
    this.#fence = fence[1] ?? "```";
    this.#language = /^[\w+#.-]+/.exec((fence[2] ?? "").trim())?.[0]?.toLowerCase() ?? "";
    this.#codeBefore = [];
    this.#codeStarted = false;
  }

  #startItem(line: string, item: RegExpExecArray): void {
    this.#start("item");
    this.#itemIndent = Math.max(2, (item[1] ?? "").length + (item[2] ?? "").length + 1);
    this.#blank = false;
    this.#lines.push(line);
    // A code block may start on the line of its item.
    this.#fence = INNER_FENCE.exec(line.slice(item[0].length))?.[1] ?? "";
  }

  #startTable(): void {
    const header = this.#lines.pop() ?? "";
    this.#start("table");
    this.#lines = [header];
    this.#tableStart = [];
  }

  #splitTable(): void {
    const start = this.#tableStart.length === 0 ? this.#lines : this.#tableStart;
    this.#emit(false);
    this.#kind = "table";
    this.#tableStart = start;
  }

  #single(unit: Unit): void {
    this.#emit(true);
    this.#finished.push(unit);
    this.#gap = false;
  }

  #codeUnit(lines: readonly string[], last: boolean): CodeUnit {
    return {
      kind: "code",
      language: this.#language,
      lines: [...lines],
      before: this.#codeBefore,
      first: !this.#codeStarted,
      last,
      gap: !this.#codeStarted,
    };
  }

  #unit(lines: readonly string[]): Unit {
    if (this.#kind === "table") {
      const more = this.#tableStart.length > 0;
      return {
        kind: "table",
        source: (more ? this.#tableStart : lines).join("\n"),
        moreRows: more ? lines : undefined,
        long: more || lines.length >= TABLE_PART,
        gap: !more,
      };
    }
    return { kind: "markdown", source: lines.join("\n"), gap: this.#gap };
  }

  #emit(last: boolean): void {
    if (this.#kind === "code") {
      this.#finished.push(this.#codeUnit(this.#lines, last));
      this.#codeBefore = [...this.#codeBefore, ...this.#lines].slice(-CODE_CONTEXT);
      this.#codeStarted = true;
      this.#gap = true;
    } else if (this.#lines.length > 0) {
      this.#finished.push(this.#unit(this.#lines));
      this.#gap = this.#kind === "table";
    }
    this.#lines = [];
    this.#chars = 0;
    this.#kind = "none";
    if (last) this.#fence = "";
    this.#blank = false;
  }
}
