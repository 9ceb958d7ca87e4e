// Markdown tokens as lines of a given width.
import { childTokens, type MarkdownLexer, type MarkdownToken } from "../../../lib/markdown/lexer.ts";
import { displayWidth } from "../../../lib/text/text-width.ts";
import { joinSgr, paint, span } from "../text/span.ts";
import { withPrefix, wrap } from "../text/wrap.ts";
import type { Theme } from "../theme/theme.ts";
import { renderCode } from "./code.ts";
import { inlineSpans } from "./inline.ts";
import { renderTable, type Table } from "./table.ts";
import type { Unit } from "./units.ts";

export interface MarkdownStyle {
  readonly lexer: MarkdownLexer;
  readonly theme: Theme;
}

const BULLETS = ["•", "◦", "▪"];
const MAX_DEPTH = 12;
const LONG_TABLE_SPARE = 3;

type TableToken = Extract<MarkdownToken, { type: "table" }>;
type ListToken = Extract<MarkdownToken, { type: "list" }>;

export function ruleLine(width: number, theme: Theme): string {
  return paint([{ text: "─".repeat(Math.max(1, Math.min(width, 60))), sgr: theme.sgr("dim") }]);
}

function tableOf(token: TableToken, theme: Theme): Table {
  return {
    header: token.header.map((cell) => inlineSpans(cell.tokens as MarkdownToken[], theme)),
    align: token.align,
    rows: token.rows.map((row) => row.map((cell) => inlineSpans(cell.tokens as MarkdownToken[], theme))),
  };
}

class Renderer {
  readonly #theme: Theme;

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  blocks(tokens: readonly MarkdownToken[], width: number, depth: number): string[] {
    const lines: string[] = [];
    let gap = false;
    for (const token of tokens) {
      if (token.type === "space") {
        gap = lines.length > 0;
        continue;
      }
      const drawn = this.block(token, width, depth);
      if (drawn.length === 0) continue;
      if (gap || (lines.length > 0 && (token.type === "code" || token.type === "heading" || token.type === "table")))
        lines.push("");
      gap = token.type === "code" || token.type === "table";
      lines.push(...drawn);
    }
    return lines;
  }

  block(token: MarkdownToken, width: number, depth: number): string[] {
    const theme = this.#theme;
    switch (token.type) {
      case "heading":
        return wrap(inlineSpans(childTokens(token), theme, this.#headingStyle(token.depth)), width);
      case "code":
        return renderCode(
          {
            language: /^[\w+#.-]+/.exec(token.lang ?? "")?.[0]?.toLowerCase() ?? "",
            lines: token.text.split("\n"),
            before: [],
            first: true,
            last: true,
          },
          width,
          theme,
        );
      case "blockquote":
        return this.#quote(token, width, depth);
      case "list":
        return this.#list(token, width, depth);
      case "table":
        return renderTable(tableOf(token, theme), width, theme);
      case "hr":
        return [ruleLine(width, theme)];
      default: {
        const children = childTokens(token);
        const text = "text" in token ? token.text : token.raw;
        return wrap(children.length > 0 ? inlineSpans(children, theme) : [span(text)], width);
      }
    }
  }

  #headingStyle(depth: number): string {
    const { sgr } = this.#theme;
    if (depth === 1) return this.#theme.depth === "none" ? "" : joinSgr(sgr("heading"), "4");
    return depth === 2 ? sgr("heading") : joinSgr(sgr("strong"), sgr("accent"));
  }

  #quote(token: MarkdownToken, width: number, depth: number): string[] {
    const bar = [span("▌", this.#theme.sgr("quote")), span(" ")];
    const render = (room: number) => this.blocks(childTokens(token), room, depth + 1);
    return depth > MAX_DEPTH ? render(width) : withPrefix({ first: bar, rest: bar, width: 2 }, width, render);
  }

  #list(list: ListToken, width: number, depth: number): string[] {
    const start = Number(list.start === "" ? 1 : list.start);
    const numbers = list.items.map((_, index) => `${start + index}.`);
    const widest = Math.max(...numbers.map((number) => number.length));
    return list.items.flatMap((item, index) => {
      const mark = list.ordered ? (numbers[index] ?? "").padStart(widest) : (BULLETS[depth % BULLETS.length] ?? "•");
      const box = item.task ? (item.checked ? "☑" : "☐") : undefined;
      const shown = box === undefined ? mark : list.ordered ? `${mark} ${box}` : box;
      const prefixWidth = displayWidth(shown) + 1;
      const style = box === "☑" ? this.#theme.sgr("ok") : this.#theme.sgr("accent");
      const prefix = {
        first: [span(shown, style), span(" ")],
        rest: [span(" ".repeat(prefixWidth))],
        width: prefixWidth,
      };
      // Marked puts the box into the tokens as well; it is drawn as the mark of the item.
      const tokens = (item.tokens as MarkdownToken[]).filter((one) => (one.type as string) !== "checkbox");
      const render = (room: number) => {
        const lines = this.blocks(tokens, room, depth + 1);
        return lines.length === 0 ? [""] : lines;
      };
      const lines = depth > MAX_DEPTH ? render(width) : withPrefix(prefix, width, render);
      return list.loose && index > 0 ? ["", ...lines] : lines;
    });
  }
}

/** The lines of a unit. Markdown that draws nothing (a lone mark) is shown as it was written. */
export function renderUnit(unit: Unit, width: number, { lexer, theme }: MarkdownStyle): string[] {
  if (unit.kind === "code") return renderCode(unit, width, theme);
  if (unit.kind === "rule") return [ruleLine(width, theme)];
  const renderer = new Renderer(theme);
  const tokens = lexer(unit.source);
  if (unit.kind === "table" && unit.long && tokens[0]?.type === "table") {
    const table = { ...tableOf(tokens[0], theme), spare: LONG_TABLE_SPARE };
    if (!unit.moreRows) return renderTable(table, width, theme);
    const start = unit.source.split("\n").slice(0, 2).join("\n");
    const [more] = lexer(`${start}\n${unit.moreRows.join("\n")}`);
    return more?.type === "table" ? renderTable(table, width, theme, tableOf(more, theme).rows) : [];
  }
  const lines = renderer.blocks(tokens, width, 0);
  return lines.length === 0 ? wrap([span(unit.source)], width) : lines;
}
