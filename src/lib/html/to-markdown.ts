// Converts a page to Markdown: headings, lists, tables, code with its language, links with absolute addresses.
import { mainContent, pageTitle } from "./main-content.ts";
import { codeBlock, codeSpan } from "./markdown-code.ts";
import { isLayoutTable, type TableRow, tableLines, tableRows } from "./markdown-table.ts";
import { MarkdownWriter } from "./markdown-writer.ts";
import { loadHtmlParser, runSteps, type StepParser } from "./parse.ts";
import { BLOCKS, descendants, type HtmlElement, type HtmlNode, plainText } from "./tree.ts";

export interface MarkdownPage {
  readonly title: string;
  readonly markdown: string;
}

/** Output is cut here; callers accept less anyway. */
const MAX_CHARS = 2_500_000;
const MAX_HREF = 2_000;
/** Other work runs after this long. */
const SLICE_MS = 12;

interface MarkdownContext {
  readonly writer: MarkdownWriter;
  readonly base: string | undefined;
  /** Marks that are open; bold inside bold is written once. */
  readonly marks: Set<string>;
  /** True inside table cells and headings, which cannot contain blocks. */
  cell: boolean;
}

function resolveHref(href: string, base: string | undefined): string | null {
  const trimmed = href.trim();
  if (trimmed === "" || trimmed.startsWith("#") || !URL.canParse(trimmed, base)) return null;
  const url = new URL(trimmed, base);
  if (!["http:", "https:", "mailto:", "tel:"].includes(url.protocol) || url.href.length > MAX_HREF) return null;
  return url.href.replaceAll("(", "%28").replaceAll(")", "%29");
}

function children(context: MarkdownContext, node: HtmlElement): void {
  for (const child of node.children) write(context, child);
}

/** `core` with the white space that `inner` has at its ends. */
function spaced(inner: string, core: string): string {
  return `${/^\s/.test(inner) ? " " : ""}${core}${/\s$/.test(inner) ? " " : ""}`;
}

/** Writes marks around inline text; white space at its ends stays outside of them. */
function wrapped(context: MarkdownContext, node: HtmlElement, mark: string): void {
  if (context.marks.has(mark) || (node.hasBlocks && !context.cell)) {
    children(context, node);
    return;
  }
  context.marks.add(mark);
  const from = context.writer.mark;
  children(context, node);
  const inner = context.writer.take(from);
  context.marks.delete(mark);
  const body = inner.trim();
  context.writer.raw(body === "" ? inner : spaced(inner, `${mark}${body}${mark}`));
}

/** The link beside a heading that refers to the heading itself. */
function isAnchorMark(node: HtmlElement): boolean {
  if (!node.attributes.get("href")?.includes("#") || node.children.length > 3) return false;
  return /^(?:[#¶§]|🔗|link|permalink)$/i.test(plainText(node));
}

function link(context: MarkdownContext, node: HtmlElement): void {
  const { writer } = context;
  if (isAnchorMark(node)) return;
  const href = resolveHref(node.attributes.get("href") ?? "", context.base);
  if (href === null || context.marks.has("link")) {
    children(context, node);
    return;
  }
  context.marks.add("link");
  if (node.hasBlocks && !context.cell) {
    writer.flush();
    const outer = writer.linkNextBlock(href);
    children(context, node);
    writer.flush();
    writer.linkNextBlock(outer);
  } else {
    const from = writer.mark;
    children(context, node);
    const inner = writer.take(from);
    const body = inner.trim().replace(/\s*\n\s*/g, " ");
    const text = body.replace(/[[\]]/g, "\\$&");
    writer.raw(body === "" ? inner : spaced(inner, `[${text}](${href})`));
  }
  context.marks.delete("link");
}

function list(context: MarkdownContext, node: HtmlElement): void {
  const { writer } = context;
  const ordered = node.name === "ol";
  const nested = node.parent?.name === "li";
  let number = Number.parseInt(node.attributes.get("start") ?? "1", 10) || 1;
  if (nested) writer.endTight();
  else writer.endBlock();
  for (const child of node.children) {
    if (typeof child === "string") {
      if (child.trim() !== "") writer.text(child);
      continue;
    }
    const marker = ordered ? `${number++}. ` : "- ";
    writer.flush();
    writer.withPrefix({ first: marker, rest: " ".repeat(marker.length) }, () => {
      if (child.name === "li") children(context, child);
      else write(context, child);
    });
    writer.endTight();
  }
  if (!nested) writer.endBlock();
}

function cellText(context: MarkdownContext, cell: HtmlElement): string {
  const { writer } = context;
  const from = writer.mark;
  const outside = context.cell;
  context.cell = true;
  children(context, cell);
  context.cell = outside;
  return writer.take(from).replace(/\s+/g, " ").trim().replaceAll("|", "\\|");
}

function table(context: MarkdownContext, node: HtmlElement): void {
  const { writer } = context;
  if (context.cell) {
    // A table inside a cell becomes a list of its texts.
    for (const row of tableRows(node)) {
      writer.raw(" ");
      writer.raw(
        row.cells
          .map((cell) => cellText(context, cell))
          .filter(Boolean)
          .join(", "),
      );
      writer.raw(";");
    }
    return;
  }
  writer.endBlock();
  const rows = tableRows(node);
  if (isLayoutTable(node, rows)) {
    for (const cell of rows.flatMap((row) => row.cells)) {
      children(context, cell);
      writer.endBlock();
    }
    return;
  }
  for (const child of node.children)
    if (typeof child === "object" && child.name === "caption") {
      writer.raw(cellText(context, child).replaceAll("\\|", "|"));
      writer.endBlock();
    }
  const writeRow = (row: TableRow) => row.cells.map((cell) => ({ text: cellText(context, cell), cell }));
  writer.verbatim(tableLines(rows.map((row) => ({ heading: row.heading, cells: writeRow(row) }))));
}

function superscript(context: MarkdownContext, node: HtmlElement): void {
  const text = plainText(node);
  const plain = node.children.every((child) => typeof child === "string");
  if (plain && /^[\w+−-]{1,12}$/.test(text)) context.writer.raw(`^${text}`);
  else children(context, node);
}

type Rule = (context: MarkdownContext, node: HtmlElement) => void;

const nothing: Rule = () => undefined;
const bold: Rule = (context, node) => wrapped(context, node, "**");
const italic: Rule = (context, node) => wrapped(context, node, "*");
const struck: Rule = (context, node) => wrapped(context, node, "~~");

const quote: Rule = (context, node) => {
  context.writer.endBlock();
  context.writer.withPrefix({ rest: "> " }, () => children(context, node));
  context.writer.endBlock();
};

const heading =
  (level: number): Rule =>
  (context, node) => {
    context.writer.endBlock();
    const from = context.writer.mark;
    const outside = context.cell;
    context.cell = true;
    children(context, node);
    context.cell = outside;
    const text = context.writer.take(from).replace(/\s+/g, " ").trim();
    context.writer.raw(text.replace(/^\*\*([^*]+)\*\*$/, "$1"));
    context.writer.endBlock(`${"#".repeat(level)} `);
  };

const pre: Rule = (context, node) => {
  const block = codeBlock(node);
  if (block.length > 0) context.writer.verbatim(block);
};

const RULES: { readonly [name: string]: Rule } = {
  script: nothing,
  style: nothing,
  template: nothing,
  rp: nothing,
  h1: heading(1),
  h2: heading(2),
  h3: heading(3),
  h4: heading(4),
  h5: heading(5),
  h6: heading(6),
  b: bold,
  strong: bold,
  i: italic,
  em: italic,
  cite: italic,
  dfn: italic,
  s: struck,
  del: struck,
  strike: struck,
  a: link,
  ul: list,
  ol: list,
  menu: list,
  blockquote: quote,
  pre,
  listing: pre,
  xmp: pre,
  table,
  sup: superscript,
  br: ({ writer, cell }) => (cell ? writer.text(" ") : writer.raw("\n")),
  hr: ({ writer }) => writer.verbatim(["---"]),
  code: ({ writer }, node) => writer.raw(codeSpan(plainText(node))),
  kbd: ({ writer }, node) => writer.raw(codeSpan(plainText(node))),
  samp: ({ writer }, node) => writer.raw(codeSpan(plainText(node))),
  tt: ({ writer }, node) => writer.raw(codeSpan(plainText(node))),
  q: (context, node) => {
    context.writer.raw("“");
    children(context, node);
    context.writer.raw("”");
  },
  rt: (context, node) => {
    context.writer.raw("(");
    children(context, node);
    context.writer.raw(")");
  },
  img: ({ writer }, node) => {
    const alt = (node.attributes.get("alt") ?? "").replace(/\s+/g, " ").trim();
    if (alt !== "") writer.text(`[image: ${alt.slice(0, 300)}]`);
  },
  input: ({ writer }, node) => writer.raw(node.attributes.has("checked") ? "[x] " : "[ ] "),
  math: (context, node) => {
    const tex = node.attributes.get("alttext");
    if (tex) context.writer.text(`$${tex}$`);
    else children(context, node);
  },
  dt: (context, node) => {
    context.writer.endBlock();
    wrapped(context, node, "**");
    context.writer.endTight();
  },
  dd: (context, node) => {
    context.writer.flush();
    context.writer.withPrefix({ first: ": ", rest: "  " }, () => children(context, node));
    context.writer.endBlock();
  },
};

/** The rules that apply inside table cells and headings. */
const IN_CELL = new Set(
  "script style template rp b strong i em cite dfn s del strike a sup br code kbd samp tt q rt img input math table".split(
    " ",
  ),
);

function write(context: MarkdownContext, node: HtmlNode): void {
  const { writer } = context;
  if (writer.size > MAX_CHARS) return;
  if (typeof node === "string") {
    writer.text(node);
    return;
  }
  const rule = RULES[node.name];
  if (rule && (!context.cell || IN_CELL.has(node.name))) rule(context, node);
  else if (!BLOCKS.has(node.name)) children(context, node);
  else {
    // List items outside of lists and cells outside of tables are written as plain blocks.
    const end = () => (context.cell ? writer.text(" ") : writer.endBlock());
    end();
    children(context, node);
    end();
  }
}

function baseAddress(root: HtmlElement, address: string | undefined): string | undefined {
  for (const node of descendants(root)) {
    if (node.name === "body") break;
    const href = node.name === "base" ? node.attributes.get("href") : undefined;
    if (href && URL.canParse(href, address)) return new URL(href, address).href;
  }
  return address;
}

/** Like `write`, but pauses between the children of plain blocks. */
function* writeInSteps(context: MarkdownContext, node: HtmlNode): Generator<undefined> {
  if (typeof node === "string" || RULES[node.name] || !(BLOCKS.has(node.name) || node.name === "#root")) {
    write(context, node);
    yield;
    return;
  }
  const end = () => (BLOCKS.has(node.name) ? context.writer.endBlock() : undefined);
  end();
  for (const child of node.children) yield* writeInSteps(context, child);
  end();
}

/** Converts in steps, so that the caller can pause between them. */
function* convert(parse: StepParser, html: string, address: string | undefined): Generator<undefined, MarkdownPage> {
  const root = yield* parse(html);
  const title = pageTitle(descendants(root));
  const base = baseAddress(root, address);
  yield;
  const content = mainContent(root);
  yield;
  const writer = new MarkdownWriter();
  yield* writeInSteps({ writer, base, marks: new Set(), cell: false }, content);
  return { title, markdown: writer.finish() };
}

/** Converts a page. Relative links are resolved against `address`, the address of the page. Any input is accepted. */
export async function htmlToMarkdown(html: string, address?: string): Promise<MarkdownPage> {
  return runSteps(convert(await loadHtmlParser(), html, address));
}

/** The same, with pauses in which other work of the program can run. */
export async function htmlToMarkdownInSlices(html: string, address?: string): Promise<MarkdownPage> {
  const steps = convert(await loadHtmlParser(), html, address);
  let started = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - started < SLICE_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    started = performance.now();
  }
}
