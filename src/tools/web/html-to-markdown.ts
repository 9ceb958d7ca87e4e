// A page's HTML as Markdown: headings, lists, tables, code with its language, links with full addresses.
import { htmlTokens } from "./html-tokens.ts";
import { BLOCKS, elementsOf, type HtmlElement, type HtmlNode, HtmlTreeBuilder, plainText } from "./html-tree.ts";
import { mainContent, pageTitle } from "./main-content.ts";
import { codeBlock, codeSpan } from "./markdown-code.ts";
import { isLayoutTable, type TableRow, tableLines, tableRows } from "./markdown-table.ts";
import { MarkdownWriter } from "./markdown-writer.ts";

export interface MarkdownPage {
  readonly title: string;
  readonly markdown: string;
}

/** Nothing is written beyond this: a page that long is refused later anyway. */
const MOST_CHARS = 2_500_000;
const LONGEST_HREF = 2_000;
/** The event loop gets a turn after this long. */
const SLICE_MS = 12;
const TOKENS_AT_ONCE = 200;

interface MarkdownContext {
  readonly writer: MarkdownWriter;
  readonly base: string | undefined;
  /** Open marks: bold inside bold is written once. */
  readonly marks: Set<string>;
  /** Inside a table cell there are no blocks. */
  cell: boolean;
}

function resolved(href: string, base: string | undefined): string | null {
  const trimmed = href.trim();
  if (trimmed === "" || trimmed.startsWith("#") || !URL.canParse(trimmed, base)) return null;
  const url = new URL(trimmed, base);
  if (!["http:", "https:", "mailto:", "tel:"].includes(url.protocol) || url.href.length > LONGEST_HREF) return null;
  return url.href.replaceAll("(", "%28").replaceAll(")", "%29");
}

function children(context: MarkdownContext, node: HtmlElement): void {
  for (const child of node.children) write(context, child);
}

/** The white space at both ends of `inner` around something else. */
function spaced(inner: string, core: string): string {
  return `${/^\s/.test(inner) ? " " : ""}${core}${/\s$/.test(inner) ? " " : ""}`;
}

/** Puts marks around running text, leaving the white space outside of them. */
function wrapped(context: MarkdownContext, node: HtmlElement, mark: string): void {
  if (context.marks.has(mark) || (node.holdsBlocks && !context.cell)) {
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

/** The little sign beside a heading that links to the heading itself. */
function isAnchorMark(node: HtmlElement): boolean {
  if (!node.attributes.get("href")?.includes("#") || node.children.length > 3) return false;
  return /^(?:[#¶§]|🔗|link|permalink)$/i.test(plainText(node));
}

function link(context: MarkdownContext, node: HtmlElement): void {
  const { writer } = context;
  if (isAnchorMark(node)) return;
  const href = resolved(node.attributes.get("href") ?? "", context.base);
  if (href === null || context.marks.has("link")) {
    children(context, node);
    return;
  }
  context.marks.add("link");
  if (node.holdsBlocks && !context.cell) {
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
    writer.within({ first: marker, rest: " ".repeat(marker.length) }, () => {
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
    // A table inside a cell becomes a run of its texts.
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
  const spoken = (row: TableRow) => row.cells.map((cell) => ({ text: cellText(context, cell), cell }));
  writer.verbatim(tableLines(rows.map((row) => ({ heading: row.heading, cells: spoken(row) }))));
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
  context.writer.within({ rest: "> " }, () => children(context, node));
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
    context.writer.within({ first: ": ", rest: "  " }, () => children(context, node));
    context.writer.endBlock();
  },
};

/** What still makes sense between the bars of a table or behind the marks of a heading. */
const IN_CELL = new Set(
  "script style template rp b strong i em cite dfn s del strike a sup br code kbd samp tt q rt img input math table".split(
    " ",
  ),
);

function write(context: MarkdownContext, node: HtmlNode): void {
  const { writer } = context;
  if (writer.size > MOST_CHARS) return;
  if (typeof node === "string") {
    writer.text(node);
    return;
  }
  const rule = RULES[node.name];
  if (rule && (!context.cell || IN_CELL.has(node.name))) rule(context, node);
  else if (!BLOCKS.has(node.name)) children(context, node);
  else {
    // Items of a list that has no list around it, and cells of no table, are blocks like any other.
    const end = () => (context.cell ? writer.text(" ") : writer.endBlock());
    end();
    children(context, node);
    end();
  }
}

function baseOf(root: HtmlElement, address: string | undefined): string | undefined {
  for (const node of elementsOf(root)) {
    if (node.name === "body") break;
    const href = node.name === "base" ? node.attributes.get("href") : undefined;
    if (href && URL.canParse(href, address)) return new URL(href, address).href;
  }
  return address;
}

/** Writes boxes child by child, so that the work can pause in between; what is written is the same as by `write`. */
function* writeInPortions(context: MarkdownContext, node: HtmlNode): Generator<undefined> {
  if (typeof node === "string" || RULES[node.name] || !(BLOCKS.has(node.name) || node.name === "#root")) {
    write(context, node);
    yield;
    return;
  }
  const end = () => (BLOCKS.has(node.name) ? context.writer.endBlock() : undefined);
  end();
  for (const child of node.children) yield* writeInPortions(context, child);
  end();
}

/** The whole work: yields between its portions, returns the page. */
function* convert(html: string, address: string | undefined): Generator<undefined, MarkdownPage> {
  const builder = new HtmlTreeBuilder();
  let count = 0;
  for (const token of htmlTokens(html)) {
    builder.push(token);
    if (++count % TOKENS_AT_ONCE === 0) yield;
  }
  const { root } = builder;
  const title = pageTitle(elementsOf(root));
  const base = baseOf(root, address);
  yield;
  const content = mainContent(root);
  yield;
  const writer = new MarkdownWriter();
  yield* writeInPortions({ writer, base, marks: new Set(), cell: false }, content);
  return { title, markdown: writer.finish() };
}

/** Converts a page. `address` is where it came from: relative links are completed with it. Never throws. */
export function htmlToMarkdown(html: string, address?: string): MarkdownPage {
  const work = convert(html, address);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** The same for long pages: the work pauses now and then, so that the program stays responsive. */
export async function htmlToMarkdownInSlices(html: string, address?: string): Promise<MarkdownPage> {
  const work = convert(html, address);
  let started = performance.now();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (performance.now() - started < SLICE_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    started = performance.now();
  }
}
