// Splits a file into units: code with complete lines, and prose by sections and sentences.
import { foldLines } from "./fold.ts";
import { isMentioned, isWarned } from "./mention.ts";
import { isProgram } from "./structure.ts";
import { respelled, unmasked } from "./views.ts";

export interface CodeLine {
  readonly line: number;
  /** Folded, with continuation lines joined. */
  readonly text: string;
}

export interface Program {
  readonly file: string;
  readonly lines: readonly CodeLine[];
  /** The original text, to detect words that appear only after folding. */
  readonly raw: string;
  /** Commands in the text of a skill, not a separate file. */
  readonly inText: boolean;
}

export interface Sentence {
  readonly line: number;
  readonly text: string;
  /** In an HTML comment or the front matter, which the user does not see. */
  readonly hidden: boolean;
}

export interface Section {
  readonly file: string;
  readonly sentences: readonly Sentence[];
}

const CONTINUES = /(?:\\|\||&&)\s*$/;

/** Joins continuation lines and drops comment lines. */
function logical(lines: readonly CodeLine[]): CodeLine[] {
  const joined: { line: number; text: string }[] = [];
  let open = false;
  for (const { line, text } of lines) {
    const last = joined.at(-1);
    if (open && last) last.text = `${last.text.replace(/\\\s*$/, "")} ${text.trim()}`;
    else if (!/^\s*(?:#(?!!)|\/\/)/.test(text)) joined.push({ line, text });
    else continue;
    open = CONTINUES.test(text) && (joined.at(-1)?.text.length ?? 0) < 4_000;
  }
  return joined;
}

function buildProgram(file: string, lines: readonly CodeLine[], inText: boolean): Program {
  const whole = logical(lines);
  const folded = foldLines(whole.map((line) => line.text));
  return {
    file,
    inText,
    raw: lines.map((line) => line.text).join("\n"),
    lines: whole.map((line, index) => ({ line: line.line, text: folded[index] ?? line.text })),
  };
}

interface Reader {
  readonly lines: readonly string[];
  readonly code: CodeLine[];
  readonly sections: Sentence[][];
  paragraph: string[];
  start: number;
  hidden: boolean;
}

const INLINE = /`([^`\n]{4,})`/g;

function closeParagraph(reader: Reader): void {
  const text = respelled(unmasked(reader.paragraph.join(" "))).replaceAll(/\*\*|__(?=\w)|(?<=\w)__/g, "");
  if (text.trim() !== "") {
    const hidden = reader.hidden || text.includes("<!--");
    for (const sentence of text.split(/(?<=[.!?。！？])\s+(?=[\p{Lu}\p{Lo}"'`*([<0-9])|(?<=[。！？])/u))
      reader.sections.at(-1)?.push({ line: reader.start, text: sentence.slice(0, 2_000), hidden });
    for (const match of text.matchAll(INLINE))
      if (!isWarned(text, match.index) && !isMentioned(reader.lines, reader.start, match[0]))
        reader.code.push({ line: reader.start, text: match[1] ?? "" });
  }
  reader.paragraph = [];
}

function readProse(reader: Reader, line: string, number: number): void {
  if (/^#{1,6}\s/.test(line)) {
    closeParagraph(reader);
    reader.sections.push([]);
  }
  if (line.trim() === "" || /^\s*(?:[-*+]\s|\d+[.)]\s|\||>)/.test(line)) closeParagraph(reader);
  if (line.trim() === "") return;
  if (reader.paragraph.length === 0) reader.start = number;
  reader.paragraph.push(line.trim().replace(/^(?:[-*+]|\d+[.)]|#{1,6}|>)\s+/, ""));
}

/** Resolves `![x][q]` with the URL of `[q]: …`. */
function withAddresses(text: string): string {
  const places = new Map(
    [...text.matchAll(/^\s{0,3}\[([^\]\n]+)\]:\s*<?(\S+?)>?\s*$/gm)].map((match) => [match[1] ?? "", match[2] ?? ""]),
  );
  if (places.size === 0) return text;
  return text.replaceAll(/(!?\[[^\]\n]*\])\[([^\]\n]+)\]/g, (raw, label: string, name: string) => {
    const place = places.get(name);
    return place === undefined ? raw : `${label}(${place})`;
  });
}

/** Fenced and indented lines and commands in backticks are code; the rest is prose. */
function readText(file: string, text: string): { programs: Program[]; sections: Section[] } {
  const reader: Reader = {
    lines: withAddresses(text).split("\n"),
    code: [],
    sections: [[]],
    paragraph: [],
    start: 1,
    hidden: false,
  };
  const front = /^---\n[\s\S]*?\n---\s*(?:\n|$)/.exec(text)?.[0].split("\n").length ?? 0;
  let fence = false;
  let previous = "";
  reader.lines.forEach((line, index) => {
    reader.hidden = index < front - 1;
    if (index === front) closeParagraph(reader);
    const indented = /^(?: {4}|\t)\s*\S/.test(line) && !/^\s*(?:[-*+]\s|\d+[.)]\s)/.test(line);
    const wasCode = previous === "" || reader.code.at(-1)?.line === index;
    if (/^\s*(?:```|~~~)/.test(line)) {
      closeParagraph(reader);
      fence = !fence;
    } else if (fence || (indented && wasCode)) {
      closeParagraph(reader);
      reader.code.push({ line: index + 1, text: line.trim().replace(/^(?:\$|>|PS>)\s+/, "") });
    } else readProse(reader, line, index + 1);
    previous = line.trim();
  });
  closeParagraph(reader);
  const code = [...reader.code].sort((a, b) => a.line - b.line);
  return {
    programs: code.length > 0 ? [buildProgram(file, code, true)] : [],
    sections: reader.sections.filter((list) => list.length > 0).map((sentences) => ({ file, sentences })),
  };
}

export function splitUnits(file: string, text: string): { programs: Program[]; sections: Section[] } {
  if (!isProgram(file, text)) return readText(file, text);
  const lines = text.split("\n").map((line, index) => ({ line: index + 1, text: line }));
  return { programs: [buildProgram(file, lines, false)], sections: [] };
}
