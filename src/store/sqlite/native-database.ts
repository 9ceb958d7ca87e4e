// What a driver of SQLite must offer so that driver.ts can stand on it.

export interface NativeOptions {
  readonly readonly: boolean;
  readonly timeout: number;
}

/** What a driver must offer to be wrapped. */
export interface NativeDatabase {
  readonly readonly: boolean;
  readonly inTransaction: boolean;
  readonly open: boolean;
  exec(sql: string): unknown;
  prepare(sql: string): unknown;
  /** The first column of the first row, or undefined. */
  pragma(text: string): unknown;
  /** Lifts the guard against writes to the catalog. */
  unsafeMode(on: boolean): unknown;
  backup(target: string): Promise<unknown>;
  close(): unknown;
}
