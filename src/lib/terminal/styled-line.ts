// One line for the terminal: only SGR styles pass, every other control sequence is shown as text.
import { showTerminalControls } from "../text/visible-text.ts";

// Built from strings because the linter refuses control characters in regular expressions.
const ESC = String.fromCharCode(27);
const STYLE = new RegExp(`${ESC}\\[[0-9;:]*m`, "g");
/** Control characters, and characters that reverse the direction of what follows them. */
const SUSPECT = /[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u;
const DIRECTION = /[\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/** Escapes what a terminal would interpret; tabs become spaces, direction overrides become visible. */
export function plainLineText(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return showTerminalControls(text)
    .replaceAll("\t", "    ")
    .replaceAll("\n", " ")
    .replace(DIRECTION, (mark) => `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);
}

/** The line with its SGR styles; everything else that a terminal would interpret is shown as text. */
export function styledLine(line: string): string {
  if (!SUSPECT.test(line)) return line;
  let result = "";
  let end = 0;
  for (const match of line.matchAll(STYLE)) {
    result += plainLineText(line.slice(end, match.index)) + match[0];
    end = match.index + match[0].length;
  }
  return result + plainLineText(line.slice(end));
}
