// Full-text search over every message: chooses the index that fits the query, and works without one when necessary.
import type { SearchAnswer, SearchHit, SearchOptions } from "../../../core/store/session.ts";
import { isLocked } from "../../../lib/sqlite-error.ts";
import type { Database } from "../connection/driver.ts";
import { checkIndexHealth, disableIndex, isIndexDamage, usableTables } from "../index/health.ts";
import type { FtsTable } from "../index/layout.ts";
import { type CjkSearch, isTrigramOnly, type ShortWordIndex, searchCjk } from "./cjk-search.ts";
import { mayBeEscaped, searchEscaped } from "./escaped-search.ts";
import { buildFilters, type Filters } from "./filters.ts";
import {
  BRIEF,
  buildHit,
  buildSnippet,
  type FullRow,
  HIT_COLUMNS,
  type HitColumns,
  isStructured,
  readRow,
} from "./hit.ts";
import { flatExpression, matchExpression } from "./match-expression.ts";
import { hasCjk, listLeaves, parseQuery, positiveLeaves, type Query } from "./parse-query.ts";
import type { TextColumns } from "./row-text.ts";
import { scanMessages } from "./scan.ts";

const DEFAULT_LIMIT = 20;
/** How long one search may add new messages to the side index; the rest is read directly. */
const CATCH_UP_MS = 200;

/** The side index as search uses it; absent or throwing, search does without. */
export interface SideIndex extends ShortWordIndex {
  catchUp(budgetMs: number): number;
}

interface Request {
  readonly db: Database;
  readonly query: Query;
  readonly filters: Filters;
  readonly page: { readonly limit: number; readonly offset: number };
}

interface RankedRow extends HitColumns {
  readonly snippet: string;
  readonly brief: TextColumns["content"];
}

function matchTable(request: Request, table: FtsTable, expression: string): RankedRow[] {
  const { db, filters, page } = request;
  return db
    .prepare<RankedRow>(
      `SELECT ${HIT_COLUMNS}, snippet(${table}, 0, '>>>', '<<<', '...', 40) AS snippet, ${BRIEF} AS brief
       FROM ${table} CROSS JOIN messages m ON m.id = ${table}.rowid CROSS JOIN sessions s ON s.id = m.session_id
       WHERE ${table} MATCH ?${filters.sql} ORDER BY rank LIMIT ? OFFSET ?`,
    )
    .all(expression, ...filters.values, page.limit, page.offset);
}

function isTooDeep(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("fts5: ");
}

/** By rank. The snippet of structured content is made from its readable parts instead of its JSON. */
function searchRanked(request: Request, table: FtsTable): SearchHit[] {
  const { db, query } = request;
  let rows: RankedRow[];
  try {
    rows = matchTable(request, table, matchExpression(query));
  } catch (error) {
    if (!isTooDeep(error)) throw error;
    rows = matchTable(request, table, flatExpression(query));
  }
  const leaves = positiveLeaves(query);
  return rows.map((row) => {
    const whole = isStructured(row.brief) ? readRow(db, row.id) : undefined;
    return buildHit(db, row, { snippet: whole ? buildSnippet(whole, leaves) : row.snippet, content: row.brief });
  });
}

function asHits(request: Request, rows: readonly FullRow[]): SearchHit[] {
  const leaves = positiveLeaves(request.query);
  return rows.map((row) => buildHit(request.db, row, { snippet: buildSnippet(row, leaves), content: row.content }));
}

/** An error of runtime.db, as opposed to one of the index in state.db. */
class SideIndexFailed extends Error {}

function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw new SideIndexFailed("the side index cannot be used", { cause: error });
  }
}

function searchCjkWith(request: Request, side: SideIndex | undefined): SearchHit[] {
  const search: CjkSearch = {
    ...request,
    side: side && { find: (text, options) => guarded(() => side.find(text, options)) },
    sideUpTo: side ? guarded(() => side.catchUp(CATCH_UP_MS)) : 0,
  };
  if (isTrigramOnly(search, request.query)) return searchRanked(request, "messages_fts_trigram");
  return asHits(request, searchCjk(search, request.query));
}

/** How many rows the word index finds, on all pages. */
function countRanked({ db, query, filters }: Request): number {
  const row = db
    .prepare<{ n: number }>(
      `SELECT count(*) AS n FROM messages_fts CROSS JOIN messages m ON m.id = messages_fts.rowid CROSS JOIN sessions s ON s.id = m.session_id
       WHERE messages_fts MATCH ?${filters.sql}`,
    )
    .get(matchExpression(query), ...filters.values);
  return row?.n ?? 0;
}

/** By rank, followed by matches in escaped text. */
function searchWords(request: Request): SearchHit[] {
  const { db, query, filters, page } = request;
  const hits = searchRanked(request, "messages_fts");
  if (hits.length >= page.limit || !mayBeEscaped(query)) return hits;
  const before = hits.length > 0 || page.offset === 0 ? page.offset + hits.length : countRanked(request);
  const rest = { limit: page.limit - hits.length, offset: Math.max(0, page.offset - before) };
  try {
    return [...hits, ...asHits(request, searchEscaped(db, query, filters, rest))];
  } catch (error) {
    // With the additional spellings the query may be too deep for FTS5.
    if (!isTooDeep(error)) throw error;
    return hits;
  }
}

function searchIndexed(request: Request, side: SideIndex | undefined): SearchHit[] {
  if (!listLeaves(request.query).some((leaf) => hasCjk(leaf.text))) return searchWords(request);
  try {
    return searchCjkWith(request, side);
  } catch (error) {
    if (!(error instanceof SideIndexFailed)) throw error;
    // A locked or damaged runtime.db costs speed, never an answer: the messages themselves are read instead.
    return searchCjkWith(request, undefined);
  }
}

function scan(request: Request): SearchAnswer {
  const rows = scanMessages(request.db, request.query, request.filters, request.page);
  const { notice } = checkIndexHealth(request.db);
  return { hits: asHits(request, rows), notice };
}

/** Disables a damaged index so that appends do not fail; when the file is locked, another process can do it. */
function setAside(db: Database, error: unknown): void {
  if (db.readOnly) return;
  try {
    disableIndex(db, error);
  } catch (failure) {
    if (!isLocked(failure)) throw failure;
  }
}

function canUseIndex(db: Database, query: Query): boolean {
  const usable = usableTables(db);
  const cjk = listLeaves(query).some((leaf) => hasCjk(leaf.text));
  return usable.includes("messages_fts") && (!cjk || usable.includes("messages_fts_trigram"));
}

/**
 * Messages that match `query`; any text is a valid query. Ranked where one index answers, newest first otherwise.
 * With a damaged index the answer comes from the messages themselves, with a notice.
 */
export function searchMessages(
  db: Database,
  query: string,
  options: SearchOptions = {},
  side?: SideIndex,
): SearchAnswer {
  const parsed = parseQuery(query);
  const filters = buildFilters(options);
  if (!parsed || !filters) return { hits: [] };
  const page = { limit: Math.max(0, options.limit ?? DEFAULT_LIMIT), offset: Math.max(0, options.offset ?? 0) };
  const request: Request = { db, query: parsed, filters, page };
  if (!canUseIndex(db, parsed)) return scan(request);
  try {
    return { hits: searchIndexed(request, side) };
  } catch (error) {
    if (!isIndexDamage(error)) throw error;
    setAside(db, error);
    return scan(request);
  }
}
