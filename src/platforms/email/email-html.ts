// Renders Markdown as simple HTML for the HTML part of an e-mail.
import type { Tokens } from "marked";
import { lazy } from "../../lib/async/lazy.ts";
import { escapeHtml } from "../../lib/markdown/escape-html.ts";
import { childTokens, loadMarkdownLexer, type MarkdownToken } from "../../lib/markdown/lexer.ts";

const lexer = lazy(() => loadMarkdownLexer());

const LINK = /^(?:https?:\/\/|mailto:)/i;

const INLINE_TAGS: { readonly [type: string]: string | undefined } = { strong: "b", em: "i", del: "s" };

function link(token: Tokens.Link | Tokens.Image): string {
  if (!LINK.test(token.href)) return escapeHtml(token.raw);
  // Images become links: mail programs and readers do not want remote content.
  const label = token.type === "link" ? inline(childTokens(token)) : escapeHtml(token.text);
  return `<a href="${escapeHtml(token.href)}">${label || escapeHtml(token.href)}</a>`;
}

function inlineToken(token: MarkdownToken): string {
  const tag = INLINE_TAGS[token.type];
  if (tag) return `<${tag}>${inline(childTokens(token))}</${tag}>`;
  if (token.type === "codespan") return `<code>${escapeHtml(token.text)}</code>`;
  if (token.type === "link" || token.type === "image") return link(token);
  if (token.type === "br") return "<br>\n";
  if (token.type === "checkbox") return token.checked ? "☑ " : "☐ ";
  const children = childTokens(token);
  if (children.length > 0) return inline(children);
  return escapeHtml("text" in token ? token.text : token.raw).replaceAll("\n", "<br>\n");
}

function inline(tokens: readonly MarkdownToken[]): string {
  return tokens.map(inlineToken).join("");
}

function list({ items, ordered, start }: Tokens.List): string {
  const tag = ordered ? "ol" : "ul";
  const first = ordered && Number(start) !== 1 ? ` start="${Number(start)}"` : "";
  const html = items.map((item) => `<li>${blocks(item.tokens as MarkdownToken[])}</li>`);
  return `<${tag}${first}>\n${html.join("\n")}\n</${tag}>`;
}

function table({ header, rows }: Tokens.Table): string {
  const row = (cells: readonly Tokens.TableCell[], tag: "th" | "td") =>
    `<tr>${cells.map((cell) => `<${tag}>${inline(cell.tokens as MarkdownToken[])}</${tag}>`).join("")}</tr>`;
  return `<table>\n${[row(header, "th"), ...rows.map((cells) => row(cells, "td"))].join("\n")}\n</table>`;
}

function block(token: MarkdownToken): string {
  switch (token.type) {
    case "paragraph":
      return `<p>${inline(childTokens(token))}</p>`;
    case "heading":
      return `<h${token.depth}>${inline(childTokens(token))}</h${token.depth}>`;
    case "code":
      return `<pre>${escapeHtml(token.text)}\n</pre>`;
    case "blockquote":
      return `<blockquote>\n${blocks(childTokens(token))}\n</blockquote>`;
    case "list":
      return list(token);
    case "table":
      return table(token);
    case "hr":
      return "<hr>";
    default:
      return inlineToken(token);
  }
}

function blocks(tokens: readonly MarkdownToken[]): string {
  return tokens
    .filter((token) => token.type !== "space")
    .map(block)
    .join("\n");
}

export async function toEmailHtml(markdown: string): Promise<string> {
  return blocks((await lexer())(markdown));
}
