// Prepared statements that take text with NUL characters: the SQLite module cuts a bound string at the first of them.
import type { DatabaseSync, StatementSync } from "./sqlite-module.ts";

export type SqlValue = string | number | bigint | null | Uint8Array;

export interface Statement<Row> {
  all(...params: SqlValue[]): Row[];
  get(...params: SqlValue[]): Row | undefined;
  run(...params: SqlValue[]): { changes: number; lastInsertRowid: number };
  /** No other statement of the same connection may write while the iterator is open. */
  iterate(...params: SqlValue[]): IterableIterator<Row>;
}

function hasNul(params: readonly SqlValue[]): boolean {
  for (const param of params) if (typeof param === "string" && param.includes("\u0000")) return true;
  return false;
}

/** A string literal, a quoted name, a comment, or a `?` placeholder. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\?/g;

/** The same statement with each placeholder as text made from bytes, which are bound whole. */
function castPlaceholders(sql: string, params: readonly SqlValue[]): string {
  let index = -1;
  return sql.replace(TOKEN, (token) => {
    if (token !== "?") return token;
    index++;
    return typeof params[index] === "string" ? "CAST(? AS TEXT)" : "?";
  });
}

function toBytes(param: SqlValue): SqlValue {
  return typeof param === "string" ? Buffer.from(param) : param;
}

export function prepareStatement<Row>(db: DatabaseSync, sql: string): Statement<Row> {
  const plain = db.prepare(sql);
  /** Calls `plain`, or for parameters with NUL a statement made for this call. */
  const call = <T>(params: SqlValue[], run: (statement: StatementSync, params: SqlValue[]) => T): T =>
    hasNul(params) ? run(db.prepare(castPlaceholders(sql, params)), params.map(toBytes)) : run(plain, params);
  return {
    all: (...params) => call(params, (statement, values) => statement.all(...values)) as Row[],
    get: (...params) => call(params, (statement, values) => statement.get(...values)) as Row | undefined,
    run: (...params) =>
      call(params, (statement, values) => statement.run(...values)) as { changes: number; lastInsertRowid: number },
    iterate: (...params) => call(params, (statement, values) => statement.iterate(...values)) as IterableIterator<Row>,
  };
}
