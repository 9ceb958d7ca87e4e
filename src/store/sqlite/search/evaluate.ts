// Decides in plain JavaScript whether a text matches a query: for searches without an index, and to check candidates.
import { hasCjk, type Leaf, listLeaves, type Query } from "./parse-query.ts";

const LETTER = "\\p{L}\\p{N}\\p{Co}\\p{M}";
// ASCII text only needs lower case; other text also needs its diacritics removed.
const NON_ASCII = /[^\0-\x7f]/;
const MARKS = /[\u0300-\u036f]/g;
const REGEX_SPECIAL = /[.*+?^${}()|[\]\\]/g;

/** Lower case without diacritics, as in the word index. CJK is not changed: Hangul would be decomposed. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  return NON_ASCII.test(lower) ? lower.normalize("NFD").replace(MARKS, "").normalize("NFC") : lower;
}

/** The words of a text as the word index sees them. */
export function splitWords(text: string): string[] {
  return fold(text).match(new RegExp(`[${LETTER}]+`, "gu")) ?? [];
}

/** A pattern that finds the leaf's words in order, separated by anything that is not a letter. */
export function wordPattern(leaf: Leaf, flags = "u"): RegExp {
  const words = splitWords(leaf.text).map((word) => word.replace(REGEX_SPECIAL, "\\$&"));
  const tail = leaf.prefix ? "" : `(?![${LETTER}])`;
  return new RegExp(`(?<![${LETTER}])${words.join(`[^${LETTER}]+`)}${tail}`, flags);
}

type Test = (folded: string, lower: string) => boolean;

function leafTest(leaf: Leaf, cjkQuery: boolean): Test {
  const needle = leaf.text.toLowerCase();
  if (hasCjk(leaf.text)) return (_, lower) => lower.includes(needle);
  const pattern = wordPattern(leaf);
  if (!cjkQuery || [...needle].length < 3) return (folded) => pattern.test(folded);
  // CJK text has no space before Latin words, so the word matches anywhere in it.
  return (folded, lower) => pattern.test(folded) || (hasCjk(lower) && lower.includes(needle));
}

function compile(query: Query, cjkQuery: boolean): Test {
  if (query.kind === "text") return leafTest(query, cjkQuery);
  if (query.kind === "not") {
    const keep = compile(query.keep, cjkQuery);
    const drop = compile(query.drop, cjkQuery);
    return (folded, lower) => keep(folded, lower) && !drop(folded, lower);
  }
  const parts = query.parts.map((part) => compile(part, cjkQuery));
  return query.kind === "and"
    ? (folded, lower) => parts.every((test) => test(folded, lower))
    : (folded, lower) => parts.some((test) => test(folded, lower));
}

/** A test for one query, to be run over many texts. */
export function buildMatcher(query: Query): (text: string) => boolean {
  const test = compile(
    query,
    listLeaves(query).some((leaf) => hasCjk(leaf.text)),
  );
  return (text) => test(fold(text), text.toLowerCase());
}
