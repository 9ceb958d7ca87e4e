// Styled text: spans with SGR parameters, their width, and painting them.
import { displayWidth, graphemes, graphemeWidth } from "../../../lib/text/text-width.ts";

const ESCAPE = "\u001b";

/** A piece of text in one style. `sgr` holds SGR parameters (`1;31`); empty for the terminal's own style. */
export interface Span {
  readonly text: string;
  readonly sgr: string;
  /** Target of a hyperlink, already checked. */
  readonly link?: string | undefined;
}

export type Line = readonly Span[];

export function span(text: string, sgr = ""): Span {
  return { text, sgr };
}

/** The parameters of two styles together; the inner one wins where they differ. */
export function joinSgr(outer: string, inner: string): string {
  if (outer === "") return inner;
  return inner === "" ? outer : `${outer};${inner}`;
}

function paintSpan({ text, sgr, link }: Span): string {
  const painted = sgr === "" || text === "" ? text : `${ESCAPE}[${sgr}m${text}${ESCAPE}[0m`;
  return link === undefined ? painted : `${ESCAPE}]8;;${link}${ESCAPE}\\${painted}${ESCAPE}]8;;${ESCAPE}\\`;
}

/** The line as a string. Every style is reset where its span ends, so that lines can be joined freely. */
export function paint(line: Line): string {
  const merged: Span[] = [];
  for (const next of line) {
    const last = merged.at(-1);
    if (last && last.sgr === next.sgr && last.link === next.link)
      merged[merged.length - 1] = { ...last, text: last.text + next.text };
    else if (next.text !== "") merged.push(next);
  }
  return merged.map(paintSpan).join("");
}

export function lineWidth(line: Line): number {
  return line.reduce((sum, { text }) => sum + displayWidth(text), 0);
}

/** The longest start of the line that fits, with `…` when something was cut. */
export function fitLine(line: Line, width: number): Line {
  if (lineWidth(line) <= width) return line;
  if (width <= 0) return [];
  const kept: Span[] = [];
  let room = width - 1;
  for (const part of line) {
    const partWidth = displayWidth(part.text);
    if (partWidth <= room) {
      kept.push(part);
      room -= partWidth;
      continue;
    }
    let text = "";
    for (const grapheme of graphemes(part.text)) {
      const next = graphemeWidth(grapheme);
      if (next > room) break;
      room -= next;
      text += grapheme;
    }
    return [...kept, { ...part, text: `${text}…` }];
  }
  return [...kept, span("…")];
}
