// Searching without an index: reads the messages themselves, newest first, in windows that keep no lock for long.
import type { Database, SqlValue } from "../connection/driver.ts";
import { buildMatcher, splitWords } from "./evaluate.ts";
import type { Filters } from "./filters.ts";
import type { FullRow } from "./hit.ts";
import { HIT_COLUMNS } from "./hit.ts";
import { hasCjk, type Leaf, type Query } from "./parse-query.ts";
import { searchableText } from "./row-text.ts";

const WINDOW = 5000;
const TEXT = "COALESCE(m.content, '') || ' ' || COALESCE(m.tool_name, '') || ' ' || COALESCE(m.tool_calls, '')";

interface Condition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

const ANYTHING: Condition = { sql: "1", values: [] };

/** Rows that might hold the leaf; never misses one that does, except for accents that the query leaves out. */
function mayMatch(leaf: Leaf): Condition {
  if (hasCjk(leaf.text)) {
    const needle = leaf.text.toLowerCase();
    return { sql: `(instr(lower(${TEXT}), ?) > 0 OR instr(${TEXT}, '\\u') > 0)`, values: [needle] };
  }
  const words = splitWords(leaf.text);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: everything outside ASCII, which SQLite's lower() leaves alone
  if (words.length === 0 || words.some((word) => /[^\x00-\x7f]/.test(word))) return ANYTHING;
  return { sql: words.map(() => `instr(lower(${TEXT}), ?) > 0`).join(" AND "), values: words };
}

function prefilter(query: Query): Condition {
  if (query.kind === "text") return mayMatch(query);
  if (query.kind === "not") return prefilter(query.keep);
  const parts = query.parts.map(prefilter);
  return {
    sql: parts.map((part) => `(${part.sql})`).join(query.kind === "and" ? " AND " : " OR "),
    values: parts.flatMap((part) => part.values),
  };
}

/** Rows that match, newest first: `limit` of them after the first `offset`. */
export function scanMessages(
  db: Database,
  query: Query,
  filters: Filters,
  page: { limit: number; offset: number },
): FullRow[] {
  const matches = buildMatcher(query);
  const might = prefilter(query);
  const statement = db.prepare<FullRow>(
    `SELECT ${HIT_COLUMNS}, m.content, m.tool_calls FROM messages m CROSS JOIN sessions s ON s.id = m.session_id
     WHERE m.id > ? AND m.id <= ? AND ${might.sql}${filters.sql} ORDER BY m.id DESC`,
  );
  const found: FullRow[] = [];
  let top = db.prepare<{ id: number | null }>("SELECT max(id) AS id FROM messages").get()?.id ?? 0;
  const bottom = db.prepare<{ id: number | null }>("SELECT min(id) AS id FROM messages").get()?.id ?? 1;
  let skipped = 0;
  while (top >= bottom && found.length < page.limit) {
    for (const row of statement.all(top - WINDOW, top, ...might.values, ...filters.values)) {
      if (!matches(searchableText(row))) continue;
      if (skipped < page.offset) skipped++;
      else if (found.length < page.limit) found.push(row);
    }
    top -= WINDOW;
  }
  return found;
}
