// Renders Markdown as Telegram's HTML. Elements that Telegram does not have become readable text.
import type { Tokens } from "marked";
import { lazy } from "../../lib/async/lazy.ts";
import { escapeHtml } from "../../lib/markdown/escape-html.ts";
import { childTokens, loadMarkdownLexer, type MarkdownToken, plainText } from "../../lib/markdown/lexer.ts";
import { displayWidth, padToWidth } from "../../lib/text/text-width.ts";

const lexer = lazy(() => loadMarkdownLexer([{ name: "spoiler", mark: "||" }]));

const LINK = /^(?:https?|tg):\/\//i;

/** Tags that are open around a token: Telegram refuses a tag inside itself. */
type OpenTags = ReadonlySet<string>;

function wrap(tag: string, tokens: readonly MarkdownToken[], open: OpenTags): string {
  if (open.has(tag)) return inline(tokens, open);
  return `<${tag}>${inline(tokens, new Set([...open, tag]))}</${tag}>`;
}

function link(token: Tokens.Link | Tokens.Image, open: OpenTags): string {
  // Telegram finds plain addresses itself.
  if (token.type === "link" && !token.raw.startsWith("[")) return escapeHtml(token.text);
  if (!LINK.test(token.href) || open.has("a")) return escapeHtml(token.raw);
  const label = token.type === "link" ? inline(childTokens(token), new Set([...open, "a"])) : escapeHtml(token.text);
  return `<a href="${escapeHtml(token.href)}">${label || escapeHtml(token.href)}</a>`;
}

function inlineToken(token: MarkdownToken, open: OpenTags): string {
  switch (token.type) {
    case "strong":
      return wrap("b", childTokens(token), open);
    case "em":
      return wrap("i", childTokens(token), open);
    case "del":
      return wrap("s", childTokens(token), open);
    case "extension":
      return wrap("tg-spoiler", childTokens(token), open);
    case "codespan":
      return `<code>${escapeHtml(token.text)}</code>`;
    case "link":
    case "image":
      return link(token, open);
    case "br":
      return "\n";
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    default: {
      const children = childTokens(token);
      if (children.length > 0) return inline(children, open);
      return escapeHtml("text" in token ? token.text : token.raw);
    }
  }
}

function inline(tokens: readonly MarkdownToken[], open: OpenTags): string {
  return tokens.map((token) => inlineToken(token, open)).join("");
}

function codeBlock({ lang, text }: Tokens.Code): string {
  const language = /^[\w+#.-]+/.exec(lang ?? "")?.[0];
  const code = escapeHtml(text);
  return language ? `<pre><code class="language-${escapeHtml(language)}">${code}</code></pre>` : `<pre>${code}</pre>`;
}

/** Aligned columns in a code block. */
function table({ header, rows }: Tokens.Table): string {
  const grid = [header, ...rows].map((row) => row.map((cell) => plainText(cell.tokens as MarkdownToken[])));
  const widths = header.map((_, index) => Math.max(...grid.map((row) => displayWidth(row[index] ?? ""))));
  const lines = grid.map((row) =>
    row
      .map((cell, index) => padToWidth(cell, widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `<pre>${escapeHtml(lines.join("\n"))}</pre>`;
}

function list({ items, ordered, start }: Tokens.List, open: OpenTags): string {
  const html = items.map((item, index) => {
    const bullet = ordered ? `${Number(start) + index}. ` : "• ";
    const tokens = item.tokens as MarkdownToken[];
    const box = tokens[0]?.type === "checkbox" ? inlineToken(tokens[0], open) : "";
    const content = blocks(box ? tokens.slice(1) : tokens, open);
    // Code keeps its lines as they are.
    const indented = content.includes("<pre>") ? content : content.replaceAll("\n", "\n  ");
    return { html: `${bullet}${box}${indented}`, gap: trailingLines(item.raw) };
  });
  return joinBlocks(html);
}

function block(token: MarkdownToken, open: OpenTags): string {
  switch (token.type) {
    case "heading":
      return wrap("b", childTokens(token), open);
    case "code":
      return codeBlock(token);
    case "table":
      return table(token);
    case "list":
      return list(token, open);
    case "hr":
      return "———";
    case "blockquote": {
      // Telegram has no quotes in quotes.
      if (open.has("blockquote")) return blocks(childTokens(token), open);
      return `<blockquote>${blocks(childTokens(token), new Set([...open, "blockquote"]))}</blockquote>`;
    }
    default:
      return inlineToken(token, open);
  }
}

interface Block {
  readonly html: string;
  /** Line breaks after it in the source. */
  readonly gap: number;
}

function trailingLines(raw: string): number {
  return /\n*$/.exec(raw)?.[0].length ?? 0;
}

/** The blocks with as many line breaks between them as in the source. */
function joinBlocks(rendered: readonly Block[]): string {
  return rendered
    .map(({ html, gap }, index) => (index === rendered.length - 1 ? html : html + "\n".repeat(Math.max(1, gap))))
    .join("");
}

function blocks(tokens: readonly MarkdownToken[], open: OpenTags): string {
  const rendered: Block[] = [];
  for (const token of tokens) {
    const last = rendered.at(-1);
    if (token.type !== "space") rendered.push({ html: block(token, open), gap: trailingLines(token.raw) });
    else if (last) rendered[rendered.length - 1] = { html: last.html, gap: last.gap + trailingLines(token.raw) };
  }
  return joinBlocks(rendered);
}

export async function toTelegramHtml(markdown: string): Promise<string> {
  return blocks((await lexer())(markdown), new Set());
}
