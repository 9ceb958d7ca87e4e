// Converts HTML to plain text: paragraphs, list items and link addresses are kept, everything else is dropped.
import { parseHtml } from "./parse.ts";
import type { HtmlNode } from "./tree.ts";

const DROPPED = new Set(["script", "style", "head", "title", "template"]);
const ENDS_LINE = new Set("br p div li tr h1 h2 h3 h4 h5 h6 blockquote hr".split(" "));

function write(node: HtmlNode, pieces: string[]): void {
  if (typeof node === "string") {
    pieces.push(node.replaceAll(/\s+/g, " "));
    return;
  }
  if (DROPPED.has(node.name)) return;
  if (node.name === "li") pieces.push("- ");
  for (const child of node.children) write(child, pieces);
  const href = node.name === "a" ? (node.attributes.get("href") ?? "") : "";
  if (/^https?:/.test(href)) pieces.push(` (${href})`);
  if (ENDS_LINE.has(node.name)) pieces.push("\n");
}

export async function htmlToText(html: string): Promise<string> {
  const pieces: string[] = [];
  write(await parseHtml(html), pieces);
  return pieces
    .join("")
    .split("\n")
    .map((line) => line.replaceAll(/\s+/g, " ").trim())
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}
