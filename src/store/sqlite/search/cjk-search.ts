// Queries with Chinese, Japanese or Korean: each word is looked up in the index that has it, and the sets of message
// ids are combined by the operators of the query.
import type { Database, SqlValue } from "../connection/driver.ts";
import { type FtsTable, holdsCjk, indexedText, readIndexLayout } from "../index/layout.ts";
import { buildMatcher } from "./evaluate.ts";
import type { Filters } from "./filters.ts";
import { type FullRow, readRow } from "./hit.ts";
import { matchExpression, quoted } from "./match-expression.ts";
import { hasCjk, type Leaf, listLeaves, type Query } from "./parse-query.ts";
import { searchableText } from "./row-text.ts";

/** The side index of short words; see `runtime/cjk-index.ts`. */
export interface ShortWordIndex {
  find(
    text: string,
    options?: { hiddenOnly?: boolean | undefined; below?: number; limit?: number | undefined },
  ): number[];
}

export interface CjkSearch {
  readonly db: Database;
  readonly filters: Filters;
  readonly page: { readonly limit: number; readonly offset: number };
  /** Absent when runtime.db cannot be used: short words are then searched in the messages themselves. */
  readonly side: ShortWordIndex | undefined;
  /** Messages after this id are not in the side index yet. */
  readonly sideUpTo: number;
}

const TRIGRAM: FtsTable = "messages_fts_trigram";
const FIRST_CHUNK = 64;

export function isShort(leaf: Leaf): boolean {
  return [...leaf.text].length < 3;
}

interface IdSet {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

const findIds = (ids: readonly number[]): IdSet => ({
  sql: "SELECT value AS id FROM json_each(?)",
  values: [JSON.stringify(ids)],
});

/** Every match is certain to hold CJK. */
function alwaysCjk(query: Query): boolean {
  if (query.kind === "text") return hasCjk(query.text);
  if (query.kind === "not") return alwaysCjk(query.keep);
  return query.kind === "and" ? query.parts.some(alwaysCjk) : query.parts.every(alwaysCjk);
}

function combine(operator: "UNION" | "INTERSECT" | "EXCEPT", sets: readonly IdSet[]): IdSet {
  return {
    sql: sets.map((set) => `SELECT id FROM (${set.sql})`).join(` ${operator} `),
    values: sets.flatMap((set) => set.values),
  };
}

function trigramSet(text: string): IdSet {
  return { sql: `SELECT rowid AS id FROM ${TRIGRAM} WHERE ${TRIGRAM} MATCH ?`, values: [quoted(text)] };
}

/** A word without CJK: as a word anywhere, and as part of a longer text in rows with CJK. */
function latinSet(search: CjkSearch, leaf: Leaf, implied: boolean): IdSet {
  const words: IdSet = {
    sql: "SELECT rowid AS id FROM messages_fts WHERE messages_fts MATCH ?",
    values: [matchExpression(leaf)],
  };
  if (isShort(leaf)) return words;
  const inside = trigramSet(leaf.text);
  // The compact layout keeps only rows with CJK here; the inline layout needs a condition.
  if (implied || readIndexLayout(search.db) === "compact") return combine("UNION", [words, inside]);
  const onlyCjk = `SELECT hit.id FROM (${inside.sql}) AS hit CROSS JOIN messages ON messages.id = hit.id WHERE ${holdsCjk(indexedText("compact", "messages"))}`;
  return combine("UNION", [words, { sql: onlyCjk, values: inside.values }]);
}

/** Looks into the messages after `after`: all of them when there is no side index. */
function scanSet(leaf: Leaf, after: number): IdSet {
  const text = "COALESCE(content, '') || ' ' || COALESCE(tool_name, '') || ' ' || COALESCE(tool_calls, '')";
  return {
    sql: `SELECT id FROM messages WHERE id > ? AND instr(lower(${text}), ?) > 0`,
    values: [after, leaf.text.toLowerCase()],
  };
}

function shortSet(search: CjkSearch, leaf: Leaf): IdSet {
  const { side, sideUpTo, db } = search;
  if (!side) return scanSet(leaf, 0);
  const candidates = side.find(leaf.text);
  // The side index knows CJK only; another character beside it has to be looked up in the row.
  const mixed = [...leaf.text].some((character) => !hasCjk(character));
  const ids = mixed ? candidates.filter((id) => rowHolds(db, id, leaf)) : candidates;
  return combine("UNION", [findIds(ids), scanSet(leaf, sideUpTo)]);
}

function rowHolds(db: Database, id: number, leaf: Leaf): boolean {
  const row = readRow(db, id);
  return row !== undefined && searchableText(row).toLowerCase().includes(leaf.text.toLowerCase());
}

function hiddenIds(search: CjkSearch, leaf: Leaf): number[] {
  const ids = search.side?.find(leaf.text, { hiddenOnly: true }) ?? [];
  return ids.filter((id) => rowHolds(search.db, id, leaf));
}

function leafSet(search: CjkSearch, leaf: Leaf, implied: boolean): IdSet {
  if (!hasCjk(leaf.text)) return latinSet(search, leaf, implied);
  if (isShort(leaf)) return shortSet(search, leaf);
  const hidden = hiddenIds(search, leaf);
  return hidden.length === 0 ? trigramSet(leaf.text) : combine("UNION", [trigramSet(leaf.text), findIds(hidden)]);
}

function querySet(search: CjkSearch, query: Query, implied: boolean): IdSet {
  if (query.kind === "text") return leafSet(search, query, implied);
  if (query.kind === "not") {
    return combine("EXCEPT", [querySet(search, query.keep, implied), querySet(search, query.drop, implied)]);
  }
  const parts = query.parts.map((part) => querySet(search, part, implied));
  return combine(query.kind === "and" ? "INTERSECT" : "UNION", parts);
}

function searchSets(search: CjkSearch, query: Query): FullRow[] {
  const { db, filters, page } = search;
  const set = querySet(search, query, alwaysCjk(query));
  const ids = db
    .prepare<{ id: number }>(
      `SELECT m.id FROM (${set.sql}) AS hit CROSS JOIN messages m ON m.id = hit.id CROSS JOIN sessions s ON s.id = m.session_id
       WHERE 1${filters.sql} ORDER BY m.id DESC LIMIT ? OFFSET ?`,
    )
    .all(...set.values, ...filters.values, page.limit, page.offset);
  const matches = buildMatcher(query);
  const rows = ids.map(({ id }) => readRow(db, id)).filter((row) => row !== undefined);
  // A row changed by another program after it went into the side index is not a match any more.
  return listLeaves(query).some(isShort) ? rows.filter((row) => matches(searchableText(row))) : rows;
}

/** One short word, newest first: reads the side index only as far as the page needs. */
function searchOneShort(search: CjkSearch, side: ShortWordIndex, leaf: Leaf): FullRow[] {
  const { db, filters, page } = search;
  const wanted = page.offset + page.limit;
  const passing = db.prepare<{ id: number }>(
    `SELECT m.id FROM json_each(?) AS hit CROSS JOIN messages m ON m.id = hit.value CROSS JOIN sessions s ON s.id = m.session_id
     WHERE 1${filters.sql} ORDER BY m.id DESC`,
  );
  const found: FullRow[] = [];
  const take = (ids: readonly number[]) => {
    for (const { id } of passing.all(JSON.stringify(ids), ...filters.values)) {
      const row = found.length < wanted ? readRow(db, id) : undefined;
      if (row && searchableText(row).toLowerCase().includes(leaf.text.toLowerCase())) found.push(row);
    }
  };
  const tail = scanSet(leaf, search.sideUpTo);
  take(
    db
      .prepare<{ id: number }>(tail.sql)
      .all(...tail.values)
      .map((row) => row.id),
  );
  let below = search.sideUpTo + 1;
  for (let limit = FIRST_CHUNK; found.length < wanted; limit *= 4) {
    const ids = side.find(leaf.text, { below, limit });
    take(ids);
    if (ids.length < limit) break;
    below = ids.at(-1) ?? 0;
  }
  return found.slice(page.offset, wanted);
}

/** True when one MATCH on the trigram table answers the whole query, with rank. */
export function isTrigramOnly(search: CjkSearch, query: Query): boolean {
  return listLeaves(query).every((leaf) => hasCjk(leaf.text) && !isShort(leaf) && hiddenIds(search, leaf).length === 0);
}

/** Rows newest first. */
export function searchCjk(search: CjkSearch, query: Query): FullRow[] {
  if (query.kind === "text" && isShort(query) && search.side) return searchOneShort(search, search.side, query);
  return searchSets(search, query);
}
