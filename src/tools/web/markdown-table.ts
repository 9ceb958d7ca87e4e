// Tables of a page: which ones hold data and which only arrange boxes, and how data becomes a Markdown table.
import { elementsOf, type HtmlElement } from "./html-tree.ts";

export interface TableRow {
  readonly heading: boolean;
  readonly cells: readonly HtmlElement[];
}

export interface WrittenRow {
  readonly heading: boolean;
  readonly cells: readonly { readonly text: string; readonly cell: HtmlElement }[];
}

const MOST_COLUMNS = 40;
/** Inside a cell these say that the table arranges a page. */
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

function rowsIn(node: HtmlElement, inHead: boolean, rows: TableRow[]): void {
  for (const child of node.children) {
    if (typeof child === "string") continue;
    if (child.name === "tr") {
      const cells = child.children.filter(
        (cell) => typeof cell === "object" && (cell.name === "td" || cell.name === "th"),
      );
      const list = cells as HtmlElement[];
      if (list.length > 0) rows.push({ heading: inHead || list.every((cell) => cell.name === "th"), cells: list });
    } else if (child.name === "thead" || child.name === "tbody" || child.name === "tfoot")
      rowsIn(child, child.name === "thead", rows);
  }
}

/** The rows of this table, not of the tables inside it. */
export function tableRows(table: HtmlElement): TableRow[] {
  const rows: TableRow[] = [];
  rowsIn(table, false, rows);
  return rows;
}

export function isLayoutTable(table: HtmlElement, rows: readonly TableRow[]): boolean {
  if (table.attributes.get("role") === "presentation") return true;
  if (rows.some((row) => row.cells.some((cell) => cell.name === "th"))) return false;
  if (rows.every((row) => row.cells.length <= 1)) return true;
  for (const node of elementsOf(table)) if (STRUCTURE.has(node.name)) return true;
  return false;
}

function spanOf(cell: HtmlElement): number {
  const span = Number.parseInt(cell.attributes.get("colspan") ?? "1", 10);
  return Number.isFinite(span) ? Math.min(Math.max(span, 1), MOST_COLUMNS) : 1;
}

function line(texts: readonly string[]): string {
  return `| ${texts.join(" | ")} |`;
}

/** A pipe table; the first row becomes the heading when the page marks none. Empty tables give no lines. */
export function tableLines(rows: readonly WrittenRow[]): string[] {
  const spread = rows.map((row) => {
    const texts: string[] = [];
    for (const { text, cell } of row.cells) {
      if (texts.length >= MOST_COLUMNS) break;
      texts.push(text, ...Array<string>(spanOf(cell) - 1).fill(""));
    }
    return texts.slice(0, MOST_COLUMNS);
  });
  let width = 0;
  for (const texts of spread) width = Math.max(width, texts.findLastIndex((text) => text !== "") + 1);
  if (width === 0) return [];
  const full = spread.map((texts) => line(Array.from({ length: width }, (_, index) => texts[index] ?? "")));
  const [head = "", ...body] = full;
  return [head, line(Array<string>(width).fill("---")), ...body];
}
