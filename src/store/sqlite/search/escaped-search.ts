// Words with letters beyond ASCII in JSON that v0.14 wrote as `\uXXXX`. The word index has them in pieces: it is queried for
// the sequence of pieces, and the text of each row is checked.
import type { Database } from "../connection/driver.ts";
import { buildMatcher } from "./evaluate.ts";
import type { Filters } from "./filters.ts";
import { type FullRow, HIT_COLUMNS } from "./hit.ts";
import { matchExpression, quoted } from "./match-expression.ts";
import { type Leaf, listLeaves, type Query } from "./parse-query.ts";
import { searchableText } from "./row-text.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: everything outside ASCII
const BEYOND_ASCII = /[^\x00-\x7f]/g;

/** True when some word of the query may be stored in escapes. */
export function mayBeEscaped(query: Query): boolean {
  return listLeaves(query).some((leaf) => leaf.text.search(BEYOND_ASCII) >= 0);
}

function escaped(text: string): string {
  return text.replace(BEYOND_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The index folds the case of letters, but an escape has a number for each. */
function spellings(text: string): string[] {
  const lower = text.toLowerCase();
  const capital = lower.replace(/^./u, (first) => first.toUpperCase());
  return [...new Set([text, lower, capital, text.toUpperCase()])].map((word) => escaped(word.normalize("NFC")));
}

function leafExpression(leaf: Leaf): string {
  const plain = matchExpression(leaf);
  if (leaf.text.search(BEYOND_ASCII) < 0) return plain;
  const pieces = spellings(leaf.text).map((word) => quoted(word) + (leaf.prefix ? " *" : ""));
  return `(${[plain, ...pieces].join(" OR ")})`;
}

function expression(query: Query): string {
  if (query.kind === "text") return leafExpression(query);
  if (query.kind === "not") return `(${expression(query.keep)}) NOT (${matchExpression(query.drop)})`;
  return query.parts.map((part) => `(${expression(part)})`).join(query.kind === "and" ? " AND " : " OR ");
}

/** Rows that match only when their escapes are read as letters, newest first: `limit` of them after `offset`. */
export function searchEscaped(
  db: Database,
  query: Query,
  filters: Filters,
  page: { readonly limit: number; readonly offset: number },
): FullRow[] {
  const matches = buildMatcher(query);
  const candidates = db
    .prepare<FullRow>(
      `SELECT ${HIT_COLUMNS}, m.content, m.tool_calls
       FROM messages_fts CROSS JOIN messages m ON m.id = messages_fts.rowid CROSS JOIN sessions s ON s.id = m.session_id
       WHERE messages_fts MATCH ? AND m.id NOT IN (SELECT rowid FROM messages_fts WHERE messages_fts MATCH ?)${filters.sql}
       ORDER BY messages_fts.rowid DESC`,
    )
    .iterate(expression(query), matchExpression(query), ...filters.values);
  const found: FullRow[] = [];
  let skipped = 0;
  for (const row of candidates) {
    if (!matches(searchableText(row))) continue;
    if (skipped++ < page.offset) continue;
    found.push(row);
    if (found.length >= page.limit) break;
  }
  return found;
}
