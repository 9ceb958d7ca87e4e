// Finds characters that a shell, a terminal and a reader interpret differently: commands with them are refused.
import type { ShellNode } from "./shell-parser.ts";

/** Longer texts are not analysed. */
export const MAX_COMMAND = 100_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/u;
const FORMAT = /\p{Cf}/u;
/** Needed by some writing systems and emoji; harmless inside text. */
const JOINERS = new Set(["\u200c", "\u200d", "\u200e", "\u200f", "\u00ad"]);
/** Emoji flags of regions are encoded with tag characters. */
const FLAG = /\u{1f3f4}[\u{e0061}-\u{e007a}\u{e0030}-\u{e0039}]{1,6}\u{e007f}/gu;
const SYNTAX = /[\s'"#<>;|&$`\\]/u;
/** Limit for syntax-tree lookups; a text that needs more is refused. */
const MAX_LOOKUPS = 2_000;

/** Nodes whose characters are text, not shell syntax. */
const TEXT_NODES = new Set(["raw_string", "ansi_c_string", "string_content", "string", "heredoc_body", "comment"]);
/** Nodes inside text that contain shell syntax again. */
const SYNTAX_NODES = new Set(["command_substitution", "process_substitution", "expansion", "arithmetic_expansion"]);

function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 126 || (code < 32 && code !== 10 && code !== 9)) return false;
  }
  return true;
}

/** True for a non-ASCII character that Unicode normalisation turns into shell syntax or a blank. */
function looksLikeSyntax(char: string): boolean {
  return char > "\u007f" && (SYNTAX.test(char) || SYNTAX.test(char.normalize("NFKC")));
}

function isText(root: ShellNode | null, at: number): boolean {
  if (!root || root.hasError) return false;
  for (let node = root.descendantForIndex(at, at); node; node = node.parent) {
    if (TEXT_NODES.has(node.type)) return true;
    if (SYNTAX_NODES.has(node.type)) return false;
  }
  return false;
}

const NAMES: { readonly [char: string]: string } = {
  "\r": "carriage return",
  "\u001b": "escape",
  "\u0000": "NUL",
  "\u00a0": "no-break space",
  "\u200b": "zero width space",
  "\ufeff": "byte order mark",
  "\u3000": "ideographic space",
};

function describeChar(char: string): string {
  const code = `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  const name = NAMES[char] ?? (CONTROL.test(char) ? "control character" : FORMAT.test(char) ? "invisible" : char);
  return `${code} (${name})`;
}

/**
 * The problem with the characters of a command and how to write it instead; undefined when there is none. Letters,
 * emoji and typographic marks of all languages are fine. Characters that look like shell syntax are fine in quotes.
 */
export function characterProblem(text: string, parse: () => ShellNode | null): string | undefined {
  if (isPlain(text)) return undefined;
  const flags = [...text.matchAll(FLAG)].map((match) => [match.index, match.index + match[0].length] as const);
  let root: ShellNode | null | undefined;
  let looked = 0;
  let at = 0;
  for (const char of text) {
    const here = at;
    at += char.length;
    if (char === "\n" || char === "\t") continue;
    if (CONTROL.test(char))
      return `it contains ${describeChar(char)}. Write control characters as escapes, for example $'\\x1b' or printf '\\033'; lines end with a line feed alone`;
    const invisible = FORMAT.test(char) && !flags.some(([from, to]) => here >= from && here < to);
    if (invisible && !JOINERS.has(char))
      return `it contains the invisible character ${describeChar(char)}. Leave it out, or write it as $'\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}'`;
    if (!invisible && !looksLikeSyntax(char)) continue;
    root ??= parse();
    if (++looked > MAX_LOOKUPS || !isText(root, here))
      return `it contains ${describeChar(char)} outside quotes, where it can be mistaken for shell syntax. Use the ASCII character, or put the text in single quotes`;
  }
  return undefined;
}

/** Reports a program name in full-width or other compatibility letters, which looks like another name. */
export function programNameProblem(name: string): string | undefined {
  const plain = name.normalize("NFKC");
  return plain === name || !isPlain(plain)
    ? undefined
    : `the program name ${JSON.stringify(name)} is spelled with look-alike letters. Write it in ASCII`;
}
