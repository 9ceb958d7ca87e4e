// Syntax colours: code as styled lines.
import type { Line, Span } from "../text/span.ts";
import type { Role, Theme } from "../theme/theme.ts";

/** The styles of classes that highlight.js writes; classes without a style keep that of the text around them. */
const CLASS_ROLES: { readonly [name: string]: Role } = {
  keyword: "keyword",
  "selector-tag": "keyword",
  literal: "number",
  number: "number",
  symbol: "number",
  string: "string",
  regexp: "string",
  "template-variable": "number",
  comment: "comment",
  quote: "comment",
  doctag: "comment",
  meta: "comment",
  title: "function",
  section: "function",
  name: "keyword",
  attr: "function",
  attribute: "function",
  built_in: "type",
  type: "type",
  "selector-class": "type",
  "selector-id": "type",
  variable: "number",
  addition: "added",
  deletion: "removed",
};

const ENTITIES: { readonly [entity: string]: string } = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
  "&amp;": "&",
};

/** A line longer than this is data, not code to read. */
const MAX_LINE = 2_000;
const MAX_CODE = 60_000;

type ToHtml = (code: string, language: string) => string | undefined;

let toHtml: ToHtml | undefined;
let loading: Promise<void> | undefined;

/** Loads the languages in the background; until then code has one colour. */
export function loadHighlighter(): Promise<void> {
  loading ??= import("./languages.ts").then(({ highlightToHtml }) => {
    toHtml = highlightToHtml;
  });
  return loading;
}

function parseHtml(html: string, theme: Theme): Line[] {
  const lines: Span[][] = [[]];
  const styles: string[] = [];
  for (const [whole, open, text] of html.matchAll(/<span class="([^"]*)">|<\/span>|([^<]+)/g)) {
    if (open !== undefined) {
      const name = open.split(" ", 1)[0]?.replace(/^hljs-/, "") ?? "";
      const role = CLASS_ROLES[name];
      styles.push(role === undefined ? (styles.at(-1) ?? "") : theme.sgr(role));
    } else if (text === undefined || whole === "</span>") styles.pop();
    else {
      const plain = text.replaceAll(/&(?:lt|gt|quot|#x27|amp);/g, (entity) => ENTITIES[entity] ?? entity);
      for (const [index, part] of plain.split("\n").entries()) {
        if (index > 0) lines.push([]);
        if (part !== "") lines.at(-1)?.push({ text: part, sgr: styles.at(-1) ?? "" });
      }
    }
  }
  return lines;
}

/** The code as one styled line per line; without colours when the language is unknown or not loaded yet. */
export function highlightLines(code: readonly string[], language: string, theme: Theme): Line[] {
  const plain = () => code.map((text): Line => [{ text, sgr: "" }]);
  if (language === "" || theme.depth === "none" || code.length === 0) return plain();
  if (toHtml === undefined) {
    void loadHighlighter();
    return plain();
  }
  const source = code.join("\n");
  if (source.length > MAX_CODE || code.some((line) => line.length > MAX_LINE)) return plain();
  const html = toHtml(source, language);
  const lines = html === undefined ? [] : parseHtml(html, theme);
  return lines.length === code.length ? lines : plain();
}
