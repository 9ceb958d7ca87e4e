// Expands word nodes of the grammar to the text that the shell would use, as far as it is known.
import type { ShellNode } from "./shell-parser.ts";
import { UNKNOWN } from "./shell-types.ts";

/** Marks a blank from an unquoted expansion, where the shell splits the word. */
const SPLIT = "\u{1}";
const MAX_EXPANSIONS = 64;
const MAX_WORD = 200_000;

export interface WordScope {
  /** The value of a variable; undefined when unknown. */
  variable(name: string): string | undefined;
  /** The characters at which the shell splits words; undefined when unknown. */
  separators?(): string | undefined;
  /** The output of a command substitution; undefined when unknown. */
  output(node: ShellNode): string | undefined;
}

const ANSI_ESCAPES: { readonly [letter: string]: string } = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "?": "?",
};

/** The text of `$'…'`. */
export function decodeAnsiC(body: string): string {
  return body.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|([\s\S]))/g,
    (...match) => {
      const [hex, short, long, octal, control, letter] = match.slice(1) as (string | undefined)[];
      const code = hex ?? short ?? long;
      if (code !== undefined) return codePoint(Number.parseInt(code, 16));
      if (octal !== undefined) return codePoint(Number.parseInt(octal, 8) & 255);
      if (control !== undefined) return codePoint(control.charCodeAt(0) & 31);
      return ANSI_ESCAPES[letter ?? ""] ?? `\\${letter}`;
    },
  );
}

function codePoint(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "";
}

function unescapeWord(text: string): string {
  return text.replace(/\\(\n|[\s\S])/g, (_whole, char) => (char === "\n" ? "" : char));
}

function unescapeString(text: string): string {
  return text.replace(/\\(\n|["\\$`])/g, (_whole, char) => (char === "\n" ? "" : char));
}

/** The words of one node: usually one, several after word splitting and brace expansion. */
export function expandWords(node: ShellNode, scope: WordScope): string[] {
  const list = /^"\$(?:@|\{@\}|\{(\w+)\[@\]\})"$/.exec(node.text.slice(0, 200));
  if (list) return scope.variable(list[1] ?? "@")?.split(" ") ?? [UNKNOWN];
  const raw = rawText(node, scope, false).slice(0, MAX_WORD);
  const parts = raw.split(SPLIT).filter((part, _index, all) => part !== "" || all.length === 1);
  const bare = node.type === "word" || node.type === "concatenation" || node.type === "command_name";
  return (parts.length === 0 ? [""] : parts).flatMap((part) => (bare ? expandBraces(part) : [part]));
}

/** The text of a node, without word splitting. */
export function expandText(node: ShellNode, scope: WordScope): string {
  return rawText(node, scope, true);
}

function rawText(node: ShellNode, scope: WordScope, quoted: boolean): string {
  switch (node.type) {
    case "word":
    case "extglob_pattern":
    case "variable_name":
    case "test_operator":
      return node.childCount > 0 ? joinChildren(node, scope, quoted) : unescapeWord(node.text);
    case "raw_string":
      return node.text.slice(1, -1);
    case "ansi_c_string":
      return decodeAnsiC(node.text.slice(2, -1));
    case "string":
    case "translated_string":
      return stringText(node, scope);
    case "simple_expansion":
      return splitExpansion(scope.variable(node.text.slice(1)), quoted, scope);
    case "expansion":
      return expansionText(node, scope, quoted);
    case "command_substitution":
      return splitExpansion(scope.output(node)?.replace(/\n+$/, ""), quoted, scope);
    case "arithmetic_expansion":
    case "process_substitution":
      return UNKNOWN;
    case "concatenation":
    case "command_name":
    case "heredoc_body":
      return joinChildren(node, scope, quoted);
    default:
      return node.namedChildCount > 0 ? joinChildren(node, scope, quoted) : unescapeWord(node.text);
  }
}

function splitExpansion(value: string | undefined, quoted: boolean, scope: WordScope): string {
  if (value === undefined) return UNKNOWN;
  if (quoted) return value;
  const separators = scope.separators ? scope.separators() : " \t\n";
  if (separators === undefined) return UNKNOWN;
  const set = [...` \t\n${separators}`].map((char) => `\\u{${char.codePointAt(0)?.toString(16)}}`).join("");
  return value.replace(new RegExp(`[${set}]+`, "gu"), SPLIT);
}

/** The children in order, with the text between them, for which the grammar has no nodes. */
function joinChildren(node: ShellNode, scope: WordScope, quoted: boolean): string {
  let text = "";
  let at = node.startIndex;
  for (const child of node.children) {
    text += unescapeWord(node.text.slice(at - node.startIndex, child.startIndex - node.startIndex));
    text += rawText(child, scope, quoted);
    at = child.endIndex;
  }
  return text + unescapeWord(node.text.slice(at - node.startIndex));
}

function stringText(node: ShellNode, scope: WordScope): string {
  const source = node.text;
  const open = source.indexOf('"') + 1;
  let text = "";
  let at = node.startIndex + open;
  for (const child of node.namedChildren) {
    if (child.type === "string_content") continue;
    text += unescapeString(source.slice(at - node.startIndex, child.startIndex - node.startIndex));
    text += rawText(child, scope, true);
    at = child.endIndex;
  }
  const end = source.endsWith('"') && source.length > open ? source.length - 1 : source.length;
  return text + unescapeString(source.slice(at - node.startIndex, end));
}

/** `${X}`, `${X:-default}`, `${X:0:1}`; other forms are unknown. */
function expansionText(node: ShellNode, scope: WordScope, quoted: boolean): string {
  const array = /^\$\{(\w+)\[[@*]\]\}$/.exec(node.text);
  if (array) return splitExpansion(scope.variable(array[1] ?? ""), quoted, scope);
  const cut = /^\$\{([A-Za-z_]\w*)(%%?|##?)([^}]*)\}$/.exec(node.text);
  if (cut) return splitExpansion(trimPattern(scope.variable(cut[1] ?? ""), cut[2] ?? "", cut[3] ?? ""), quoted, scope);
  const form = /^\$\{([A-Za-z_]\w*|\d+|[@*])(?::?([-=+])([\s\S]*)|:(\d+)(?::(\d+))?)?\}$/.exec(node.text);
  if (!form) return UNKNOWN;
  const [, name = "", operator, , from, length] = form;
  const value = scope.variable(name);
  if (from !== undefined && value !== undefined)
    return splitExpansion(
      value.slice(Number(from), length === undefined ? undefined : Number(from) + Number(length)),
      quoted,
      scope,
    );
  if (operator === "-" || operator === "=" || operator === "+") {
    if (value !== undefined && operator !== "+") return splitExpansion(value, quoted, scope);
    const fallback = node.namedChildren[node.namedChildCount - 1];
    return fallback && fallback.type !== "variable_name" ? rawText(fallback, scope, quoted) : UNKNOWN;
  }
  return from === undefined ? splitExpansion(value, quoted, scope) : UNKNOWN;
}

// Supports `${x%/*}`, `${x##*/}` and literal prefixes or suffixes; other patterns are unknown.
function trimPattern(value: string | undefined, operator: string, pattern: string): string | undefined {
  if (value === undefined) return undefined;
  if (pattern === "/*" && operator.startsWith("%")) {
    const at = operator === "%" ? value.lastIndexOf("/") : value.indexOf("/");
    return at === -1 ? value : value.slice(0, at);
  }
  if (pattern === "*/" && operator.startsWith("#"))
    return value.slice((operator === "##" ? value.lastIndexOf("/") : value.indexOf("/")) + 1);
  if (/[*?[$`]/.test(pattern)) return undefined;
  if (operator.startsWith("%")) return value.endsWith(pattern) ? value.slice(0, -pattern.length || undefined) : value;
  return value.startsWith(pattern) ? value.slice(pattern.length) : value;
}

/** `a{b,c}` → `ab`, `ac`. Too many results end in `UNKNOWN`; ranges such as `{1..9}` are not expanded. */
export function expandBraces(text: string): string[] {
  const results: string[] = [];
  const queue = [text];
  while (queue.length > 0 && results.length + queue.length <= MAX_EXPANSIONS) {
    const current = queue.shift() ?? "";
    const brace = /^([\s\S]*?)\{([^{}]*,[^{}]*)\}([\s\S]*)$/.exec(current.slice(0, 2000));
    if (current.length > 2000 && /\{[^{}]*,/.test(current)) results.push(UNKNOWN);
    else if (!brace) results.push(current);
    else for (const choice of (brace[2] ?? "").split(",")) queue.push(`${brace[1]}${choice}${brace[3]}`);
  }
  const all = [...results, ...queue];
  return all.length > MAX_EXPANSIONS || queue.length > 0 ? [...all.slice(0, MAX_EXPANSIONS), UNKNOWN] : all;
}
