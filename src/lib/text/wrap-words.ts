// Breaks long lines at spaces, so that a terminal does not break them inside words.
import { displayWidth } from "./text-width.ts";

// Built from a string because the linter refuses control characters in regular expressions.
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

/** Cells of a line that may contain colour codes. */
export function paintedWidth(line: string): number {
  return displayWidth(line.replaceAll(COLOURS, ""));
}

function wrapLine(line: string, width: number, hang: string): string {
  if (paintedWidth(line) <= width) return line;
  const lines: string[] = [];
  let current = /^ */.exec(line)?.[0] ?? "";
  let empty = true;
  for (const word of line.trimStart().split(" ")) {
    const longer = empty ? current + word : `${current} ${word}`;
    if (empty || paintedWidth(longer) <= width) current = longer;
    else if (word !== "") {
      lines.push(current.trimEnd());
      current = hang + word;
    }
    empty = false;
  }
  return [...lines, current].join("\n");
}

/**
 * Breaks lines longer than `width` cells at spaces. Continued lines begin with `hang`, or with the indentation of their
 * line. A word that is longer than a line is not broken.
 */
export function wrapWords(text: string, width: number, hang?: string): string {
  if (!Number.isFinite(width)) return text;
  return text
    .split("\n")
    .map((line) => wrapLine(line, width, hang ?? /^ */.exec(line)?.[0] ?? ""))
    .join("\n");
}
