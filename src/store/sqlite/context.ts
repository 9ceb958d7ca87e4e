// What every store operation works with: a connection, a clock and a function for notices.
import type { Database } from "./connection/driver.ts";

export interface StoreContext {
  readonly db: Database;
  /** Unix seconds; every call within a process gives a later time than the one before. */
  readonly now: () => number;
  /** A notice for the user about a problem in the data; never fatal. */
  readonly notice: (text: string) => void;
}

/** `?, ?, ?` for an IN list. */
export function marks(values: readonly unknown[]): string {
  return values.map(() => "?").join(", ");
}

/** Slices of at most `size`, to stay under SQLite's limit of bound values. */
export function* chunks<T>(values: readonly T[], size = 500): Generator<T[]> {
  for (let start = 0; start < values.length; start += size) yield values.slice(start, start + size);
}

/** Text for LIKE … ESCAPE '\' in which nothing is a wildcard. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}
