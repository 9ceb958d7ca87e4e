// A code block: rules with its language above and below, highlighted lines without a margin, so that copying gives the code.
import { type Line, paint } from "../text/span.ts";
import { splitAtWidth } from "../text/wrap.ts";
import type { Theme } from "../theme/theme.ts";
import { highlightLines } from "./highlight.ts";
import type { CodeUnit } from "./units.ts";

const RULE_WIDTH = 60;

function rule(label: string, width: number, theme: Theme): string {
  const start = label === "" ? "" : `── ${label} `;
  const room = Math.max(0, Math.min(width, RULE_WIDTH));
  return paint([{ text: start.slice(0, room).padEnd(room, "─"), sgr: theme.sgr("dim") }]);
}

/** Code lines cut to the width; trailing spaces are left out. */
export function codeLines(lines: readonly Line[], width: number): string[] {
  return lines.flatMap((line) => splitAtWidth(line, width).map((part) => paint(part).trimEnd()));
}

export interface CodePart extends Omit<CodeUnit, "kind" | "gap"> {}

function frame(part: CodePart, body: readonly Line[], width: number, theme: Theme): string[] {
  return [
    ...(part.first ? [rule(part.language, width, theme)] : []),
    ...codeLines(body, width),
    ...(part.last ? [rule("", width, theme)] : []),
  ];
}

export function renderCode(part: CodePart, width: number, theme: Theme): string[] {
  const all = highlightLines([...part.before, ...part.lines], part.language, theme);
  return frame(part, all.slice(part.before.length), width, theme);
}

/** Draws code that still grows: each line is highlighted once, on its own. */
export class OpenCode {
  readonly #known = new Map<string, Line>();

  render(part: CodePart, width: number, theme: Theme): string[] {
    const lines = part.lines.map((line) => {
      const found = this.#known.get(line);
      if (found !== undefined) return found;
      const [highlighted = []] = highlightLines([line], part.language, theme);
      this.#known.set(line, highlighted);
      return highlighted;
    });
    return frame(part, lines, width, theme);
  }

  clear(): void {
    this.#known.clear();
  }
}
