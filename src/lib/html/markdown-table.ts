// Tables: distinguishes data from layout, and formats data as a Markdown table.
import { descendants, type HtmlElement } from "./tree.ts";

export interface TableRow {
  readonly heading: boolean;
  readonly cells: readonly HtmlElement[];
}

export interface WrittenRow {
  readonly heading: boolean;
  readonly cells: readonly { readonly text: string; readonly cell: HtmlElement }[];
}

const MAX_COLUMNS = 40;
/** A table whose cells contain one of these is used for layout. */
const STRUCTURE = new Set([
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "pre",
  "blockquote",
  "article",
  "section",
  "table",
  "hr",
]);

function collectRows(node: HtmlElement, inHead: boolean, rows: TableRow[]): void {
  for (const child of node.children) {
    if (typeof child === "string") continue;
    if (child.name === "tr") {
      const cells = child.children.filter(
        (cell) => typeof cell === "object" && (cell.name === "td" || cell.name === "th"),
      );
      const list = cells as HtmlElement[];
      if (list.length > 0) rows.push({ heading: inHead || list.every((cell) => cell.name === "th"), cells: list });
    } else if (child.name === "thead" || child.name === "tbody" || child.name === "tfoot")
      collectRows(child, child.name === "thead", rows);
  }
}

/** The rows of this table without those of nested tables. */
export function tableRows(table: HtmlElement): TableRow[] {
  const rows: TableRow[] = [];
  collectRows(table, false, rows);
  return rows;
}

export function isLayoutTable(table: HtmlElement, rows: readonly TableRow[]): boolean {
  if (table.attributes.get("role") === "presentation") return true;
  if (rows.some((row) => row.cells.some((cell) => cell.name === "th"))) return false;
  if (rows.every((row) => row.cells.length <= 1)) return true;
  for (const node of descendants(table)) if (STRUCTURE.has(node.name)) return true;
  return false;
}

function columnSpan(cell: HtmlElement): number {
  const span = Number.parseInt(cell.attributes.get("colspan") ?? "1", 10);
  return Number.isFinite(span) ? Math.min(Math.max(span, 1), MAX_COLUMNS) : 1;
}

function formatRow(texts: readonly string[]): string {
  return `| ${texts.join(" | ")} |`;
}

/** The lines of a pipe table. The first row is always the heading. Empty tables have no lines. */
export function tableLines(rows: readonly WrittenRow[]): string[] {
  const spread = rows.map((row) => {
    const texts: string[] = [];
    for (const { text, cell } of row.cells) {
      if (texts.length >= MAX_COLUMNS) break;
      texts.push(text, ...Array<string>(columnSpan(cell) - 1).fill(""));
    }
    return texts.slice(0, MAX_COLUMNS);
  });
  let width = 0;
  for (const texts of spread) width = Math.max(width, texts.findLastIndex((text) => text !== "") + 1);
  if (width === 0) return [];
  const full = spread.map((texts) => formatRow(Array.from({ length: width }, (_, index) => texts[index] ?? "")));
  const [head = "", ...body] = full;
  return [head, formatRow(Array<string>(width).fill("---")), ...body];
}
