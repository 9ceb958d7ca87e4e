// A unified diff as coloured lines with line numbers, limited in length.
import type { Block } from "../block.ts";
import { highlightLines } from "../markdown/highlight.ts";
import { cachedBlock } from "../markdown/stream.ts";
import { cleanLine, cleanText, expandTabs, isolate } from "../text/clean.ts";
import { fitLine, type Line, paint, type Span, span } from "../text/span.ts";
import type { Texts } from "../texts/texts.ts";
import type { Theme } from "../theme/theme.ts";

export interface DiffStyle {
  readonly theme: Theme;
  readonly texts: Texts;
  /** Changed and context lines shown per call. */
  readonly maxLines: number;
}

interface DiffRow {
  readonly mark: "+" | "-" | " " | "…";
  readonly number: number;
  readonly text: string;
}

interface DiffFile {
  readonly path: string;
  readonly change: "changed" | "created" | "deleted";
  readonly rows: DiffRow[];
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const NO_FILE = "/dev/null";

const LANGUAGE_OF: { readonly [extension: string]: string } = {
  ts: "typescript",
  tsx: "typescript",
  mts: "typescript",
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  py: "python",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  yml: "yaml",
  md: "markdown",
  html: "xml",
  h: "c",
  hpp: "cpp",
  cc: "cpp",
  cs: "csharp",
  kt: "kotlin",
  toml: "ini",
};

function languageOf(path: string): string {
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return LANGUAGE_OF[extension] ?? extension;
}

class DiffParser {
  readonly files: DiffFile[] = [];
  #from = "";
  #oldLine = 0;
  #newLine = 0;
  /** Lines of the open hunk that are still to come: they may look like headers. */
  #oldLeft = 0;
  #newLeft = 0;

  line(line: string): void {
    const rows = this.files.at(-1)?.rows;
    const mark = line.charAt(0);
    if (rows && (this.#oldLeft > 0 || this.#newLeft > 0) && (mark === "+" || mark === "-" || mark === " "))
      this.#row(rows, mark, line.slice(1));
    else if (line.startsWith("--- ")) this.#from = line.slice(4).split("\t", 1)[0] ?? "";
    else if (line.startsWith("+++ ") && this.#from !== "") this.#file(line.slice(4).split("\t", 1)[0] ?? "");
    else if (rows) this.#hunk(rows, HUNK.exec(line));
  }

  #file(to: string): void {
    const from = this.#from;
    const change = from === NO_FILE ? "created" : to === NO_FILE ? "deleted" : "changed";
    this.files.push({ path: change === "deleted" ? from : to, change, rows: [] });
    this.#from = "";
  }

  #hunk(rows: DiffRow[], hunk: RegExpExecArray | null): void {
    if (!hunk) return;
    if (rows.length > 0) rows.push({ mark: "…", number: 0, text: "" });
    this.#oldLine = Number(hunk[1]);
    this.#oldLeft = Number(hunk[2] ?? 1);
    this.#newLine = Number(hunk[3]);
    this.#newLeft = Number(hunk[4] ?? 1);
  }

  #row(rows: DiffRow[], mark: "+" | "-" | " ", text: string): void {
    rows.push({ mark, number: mark === "-" ? this.#oldLine : this.#newLine, text: expandTabs(text) });
    if (mark !== "+") {
      this.#oldLine++;
      this.#oldLeft--;
    }
    if (mark !== "-") {
      this.#newLine++;
      this.#newLeft--;
    }
  }
}

/** Parses unified diffs of one or several files. */
export function parseDiff(diff: string): DiffFile[] {
  const parser = new DiffParser();
  for (const line of cleanText(diff).split("\n")) parser.line(line);
  return parser.files;
}

function counts({ rows }: DiffFile): { added: number; removed: number } {
  const count = (mark: string) => rows.filter((row) => row.mark === mark).length;
  return { added: count("+"), removed: count("-") };
}

function fileHeader(file: DiffFile, { theme, texts }: DiffStyle): Line {
  const { added, removed } = counts(file);
  const change = file.change === "changed" ? "" : ` ${texts.text(`diff.${file.change}`)}`;
  return [
    span("  "),
    span(isolate(cleanLine(file.path)), theme.sgr("strong")),
    span(change, theme.sgr("dim")),
    span(added > 0 ? ` +${added}` : "", theme.sgr("added")),
    span(removed > 0 ? ` −${removed}` : "", theme.sgr("removed")),
  ];
}

function rowSpans(row: DiffRow, code: Line, digits: number, theme: Theme): Span[] {
  if (row.mark === "…") return [span(`  ${" ".repeat(digits)} ⋮`, theme.sgr("dim"))];
  const number = span(`  ${String(row.number).padStart(digits)} `, theme.sgr("dim"));
  if (row.mark === " ") return [number, span(`  ${row.text}`, theme.sgr("dim"))];
  const role = row.mark === "+" ? "added" : "removed";
  // The removed text keeps one colour: two sets of syntax colours side by side are hard to tell apart.
  const body = row.mark === "-" ? [span(row.text, theme.sgr(role))] : code;
  return [number, span(`${row.mark} `, theme.sgr(role)), ...body];
}

/** Rows of a file with context far from changes left out; at most `room`. */
function renderFile(file: DiffFile, room: number, width: number, style: DiffStyle): string[] {
  const { theme } = style;
  const rows = file.rows.slice(0, room);
  const digits = Math.max(2, String(Math.max(0, ...rows.map((row) => row.number))).length);
  // Added and kept lines are the new text: highlighted together, so that strings over several lines are recognised.
  const kept = rows.filter((row) => row.mark !== "-");
  const highlighted = highlightLines(
    kept.map((row) => row.text),
    languageOf(file.path),
    theme,
  );
  const codeOf = new Map(kept.map((row, index) => [row, highlighted[index] ?? []]));
  const lines = rows.map((row) => paint(fitLine(rowSpans(row, codeOf.get(row) ?? [], digits, theme), width)).trimEnd());
  return [paint(fitLine(fileHeader(file, style), width)), ...lines];
}

/** The diff of a write as a block; undefined when there is nothing to show. */
export function diffBlock(diff: string, style: DiffStyle): Block | undefined {
  const files = parseDiff(diff).filter((file) => file.rows.length > 0);
  if (files.length === 0) return undefined;
  return cachedBlock((width) => {
    const lines: string[] = [];
    let room = style.maxLines;
    let hidden = 0;
    for (const file of files) {
      lines.push(...renderFile(file, Math.max(0, room), width, style));
      hidden += file.rows.slice(Math.max(0, room)).filter((row) => row.mark === "+" || row.mark === "-").length;
      room -= file.rows.length;
    }
    if (hidden > 0)
      lines.push(
        paint(
          fitLine([span(`     ${style.texts.text("diff.more", { count: hidden })}`, style.theme.sgr("dim"))], width),
        ),
      );
    return lines;
  });
}
