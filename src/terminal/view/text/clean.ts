// Text from outside (models, tools, files) before it is drawn: whatever a terminal would interpret becomes visible.
import { showControlCharacters, showTerminalControls } from "../../../lib/text/visible-text.ts";

/** Characters that change the direction of the text around them. */
const DIRECTION_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;
const LINE_SEPARATORS = /[\u2028\u2029]/g;
const LONE_SURROGATES = /\p{Cs}/gu;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const LEFT_TO_RIGHT_MARK = "\u200e";
const TAB = 4;

/**
 * For prose and code: control characters and direction overrides become visible escapes, line breaks become LF. Joiners,
 * combining marks and direction marks stay: they belong to the text.
 */
export function cleanText(text: string): string {
  return showTerminalControls(text.replace(LINE_SEPARATORS, "\n").replace(LONE_SURROGATES, "\ufffd")).replace(
    DIRECTION_CONTROLS,
    (char) => `\\u${char.charCodeAt(0).toString(16)}`,
  );
}

/** For names, paths and commands in a line: every invisible character becomes visible, white space becomes one space. */
export function cleanLine(text: string): string {
  return showControlCharacters(text.replace(/[\s\u0085]+/gu, " ").trim());
}

/** Like `cleanLine` for long texts: at most `chars` characters. */
export function cleanShort(text: string, chars: number): string {
  const line = cleanLine(text.slice(0, chars * 2));
  return line.length > chars || text.length > chars * 2 ? `${line.slice(0, chars)}…` : line;
}

/** Replaces tabs by spaces up to the next stop. */
export function expandTabs(line: string): string {
  if (!line.includes("\t")) return line;
  let expanded = "";
  for (const char of line) expanded += char === "\t" ? " ".repeat(TAB - (expanded.length % TAB)) : char;
  return expanded;
}

/** Keeps the direction of right-to-left text from changing the order of what stands beside it in a composed line. */
export function isolate(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? `${LEFT_TO_RIGHT_MARK}${text}${LEFT_TO_RIGHT_MARK}` : text;
}
