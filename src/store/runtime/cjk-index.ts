// The side index for short CJK words, in runtime.db: pairs of neighbouring characters of every message with CJK text.
// Fed by id from state.db, so rows written by another program are covered; a missing file is built again.
import { type Database, immediate, type SqlValue } from "../sqlite/connection/driver.ts";
import { hasCjk } from "../sqlite/search/parse-query.ts";
import { isHiddenFromIndex, searchableText, type TextColumns } from "../sqlite/search/row-text.ts";

const RUN = /[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u{20000}-\u{2a6df}]+/gu;
/** Large enough that waiting for the disk does not dominate, small enough for a search to wait for one step. */
const ROWS_PER_STEP = 3000;
/** Marks rows whose CJK the ordinary indexes cannot see. No gram is made of ASCII letters. */
const HIDDEN = "hidden";

/** Pairs of each run of CJK, then its last character alone: a single character is then the prefix of some gram. */
export function splitPairs(text: string): string {
  const grams: string[] = [];
  for (const [run] of text.matchAll(RUN)) {
    const characters = [...run];
    for (let i = 0; i < characters.length; i++) grams.push(`${characters[i]}${characters[i + 1] ?? ""}`);
  }
  return grams.join(" ");
}

/** The FTS expression that finds every CJK run of `text`. */
function buildExpression(text: string): string {
  const parts: string[] = [];
  for (const [run] of text.matchAll(RUN)) {
    const characters = [...run];
    if (characters.length === 1) parts.push(`"${run}"*`);
    else {
      const pairs = characters.slice(0, -1).map((character, i) => `${character}${characters[i + 1]}`);
      parts.push(`"${pairs.join(" ")}"`);
    }
  }
  return parts.join(" AND ");
}

export interface CjkIndex {
  /** Adds new rows of state.db: one step, and more while `budgetMs` lasts. Returns the last message id in the index. */
  catchUp(budgetMs: number): number;
  /** True when some messages are not in the index yet. */
  isBehind(): boolean;
  /** Ids of messages that hold every CJK run of `text`, newest first. */
  find(
    text: string,
    options?: { hiddenOnly?: boolean | undefined; below?: number; limit?: number | undefined },
  ): number[];
  /** Clears the index; `catchUp` builds it again. */
  reset(): void;
}

interface State {
  readonly last_id: number;
  readonly last_timestamp: number | null;
}

type Source = TextColumns & { readonly id: number; readonly timestamp: number };

export function createCjkIndex(runtime: Database, state: Database): CjkIndex {
  const readState = () =>
    runtime.prepare<State>("SELECT last_id, last_timestamp FROM cjk_state WHERE id = 1").get() ?? {
      last_id: 0,
      last_timestamp: null,
    };
  const newestId = () => state.prepare<{ id: number | null }>("SELECT max(id) AS id FROM messages").get()?.id ?? 0;
  return {
    isBehind: () => readState().last_id < newestId(),
    catchUp(budgetMs) {
      const deadline = Date.now() + budgetMs;
      let steps = 0;
      if (isOtherFile(state, readState())) forgetAll(runtime);
      for (;;) {
        const { last_id } = readState();
        if (last_id >= newestId() || (steps++ > 0 && Date.now() >= deadline)) return last_id;
        indexRows(runtime, state, last_id);
      }
    },
    find(text, options = {}) {
      const match = options.hiddenOnly ? `"${HIDDEN}" AND ${buildExpression(text)}` : buildExpression(text);
      const below = options.below === undefined ? "" : "AND rowid < ?";
      const limit = options.limit === undefined ? "" : "LIMIT ?";
      const values: SqlValue[] = [match];
      if (options.below !== undefined) values.push(options.below);
      if (options.limit !== undefined) values.push(options.limit);
      const sql = `SELECT rowid AS id FROM cjk_grams WHERE cjk_grams MATCH ? ${below} ORDER BY rowid DESC ${limit}`;
      return runtime
        .prepare<{ id: number }>(sql)
        .all(...values)
        .map((row) => row.id);
    },
    reset() {
      forgetAll(runtime);
    },
  };
}

/** The index was made from another state.db: the last indexed row differs or does not exist here. */
function isOtherFile(state: Database, { last_id, last_timestamp }: State): boolean {
  if (last_id === 0) return false;
  const row = state.prepare<{ timestamp: number }>("SELECT timestamp FROM messages WHERE id = ?").get(last_id);
  if (row) return row.timestamp !== last_timestamp;
  const sequence = state.prepare<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'messages'").get();
  return (sequence?.seq ?? 0) < last_id;
}

function forgetAll(runtime: Database): void {
  immediate(runtime, () => {
    runtime.exec("INSERT INTO cjk_grams(cjk_grams) VALUES ('delete-all')");
    runtime.prepare("UPDATE cjk_state SET last_id = 0, last_timestamp = NULL WHERE id = 1").run();
  });
}

function indexRows(runtime: Database, state: Database, after: number): void {
  const rows = state
    .prepare<Source>(
      "SELECT id, timestamp, content, tool_name, tool_calls FROM messages WHERE id > ? ORDER BY id LIMIT ?",
    )
    .all(after, ROWS_PER_STEP);
  const last = rows.at(-1);
  if (!last) return;
  const entries: [number, string][] = [];
  for (const row of rows) {
    const text = searchableText(row);
    if (hasCjk(text)) entries.push([row.id, `${isHiddenFromIndex(row) ? `${HIDDEN} ` : ""}${splitPairs(text)}`]);
  }
  immediate(runtime, () => {
    const claimed = runtime
      .prepare("UPDATE cjk_state SET last_id = ?, last_timestamp = ? WHERE id = 1 AND last_id = ?")
      .run(last.id, last.timestamp, after);
    // Another process was faster: its rows are the same.
    if (claimed.changes === 0) return;
    const insert = runtime.prepare("INSERT INTO cjk_grams(rowid, grams) VALUES (?, ?)");
    for (const [id, grams] of entries) insert.run(id, grams);
  });
}
