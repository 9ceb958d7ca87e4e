// Code as Markdown: fences longer than any inside, and the language when the page names it.
import { descendants, type HtmlElement, type HtmlNode } from "./tree.ts";

const LANGUAGE =
  /(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|brush:\s*|sourceCode\s+)([\w+#.-]{1,30})/i;
const LINE_NUMBERS = /(?:^|\s)(?:lineno|linenos|line-?numbers?(?:-rows)?|gutter|hljs-ln-numbers|blob-num)(?:\s|$)/i;

function longestRun(text: string): number {
  let longest = 0;
  for (const run of text.match(/`+/g) ?? []) longest = Math.max(longest, run.length);
  return longest;
}

export function codeSpan(text: string): string {
  if (text === "") return "";
  const fence = "`".repeat(longestRun(text) + 1);
  const edge = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${fence}${edge}${text}${edge}${fence}`;
}

function findLanguage(pre: HtmlElement): string {
  const own = [pre, ...descendants(pre)].slice(0, 3);
  for (const around of [...own, pre.parent, pre.parent?.parent]) {
    if (!around) continue;
    const named = around.attributes.get("data-lang") ?? around.attributes.get("data-language");
    if (named && /^[\w+#.-]{1,30}$/.test(named)) return named.toLowerCase();
    const found = LANGUAGE.exec(around.attributes.get("class") ?? "")?.[1];
    if (found) return found.toLowerCase();
  }
  return "";
}

/** The text with its white space, without columns of line numbers. */
function sourceText(pre: HtmlElement): string {
  const pieces: string[] = [];
  const collect = (node: HtmlNode): void => {
    if (typeof node === "string") pieces.push(node);
    else if (node.name === "br") pieces.push("\n");
    else if (!LINE_NUMBERS.test(node.attributes.get("class") ?? "")) {
      for (const child of node.children) collect(child);
      if ((node.name === "div" || node.name === "tr" || node.name === "p") && pieces.at(-1)?.endsWith("\n") === false)
        pieces.push("\n");
    }
  };
  for (const child of pre.children) collect(child);
  return pieces.join("").replaceAll("\r\n", "\n");
}

/** The lines of a fenced block; none for an empty element. */
export function codeBlock(pre: HtmlElement): string[] {
  const text = sourceText(pre).replace(/^\n/, "").trimEnd();
  if (text.trim() === "") return [];
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return [`${fence}${findLanguage(pre)}`, ...text.split("\n"), fence];
}
