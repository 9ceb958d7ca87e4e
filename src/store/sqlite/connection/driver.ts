// One connection to a SQLite file: the few calls that the store makes, on the API of `node:sqlite`.
import { constants, copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type DatabaseSync, sqliteModule } from "./sqlite-module.ts";
import { prepareStatement, type SqlValue, type Statement } from "./statement.ts";

export type { SqlValue, Statement };

export interface Database {
  readonly path: string;
  readonly readOnly: boolean;
  exec(sql: string): void;
  /** Cached by text. */
  prepare<Row = unknown>(sql: string): Statement<Row>;
  /** The first column of the first row, or undefined. */
  pragma(text: string): unknown;
  readonly inTransaction: boolean;
  readonly open: boolean;
  /** Lets `body` write to `sqlite_master`, then reloads the schema. Only for removing damaged tables that DROP cannot remove. */
  withCatalogWrites(body: () => void): void;
  /** A consistent copy through SQLite's online backup. */
  backup(target: string): Promise<void>;
  close(): void;
}

export interface OpenDatabaseOptions {
  readonly readOnly?: boolean | undefined;
  /** Read-only, from a private copy: for a WAL file in a folder where SQLite cannot put its side files. */
  readonly snapshot?: boolean | undefined;
  readonly busyTimeoutMs?: number | undefined;
}

const BUSY_TIMEOUT_MS = 1000;

function connect(path: string, readOnly: boolean, timeout: number): DatabaseSync {
  const { DatabaseSync } = sqliteModule();
  const db = new DatabaseSync(path, { readOnly, timeout });
  // Plain statements must not be able to write to `sqlite_master`.
  db.enableDefensive(true);
  return db;
}

export function openDatabase(path: string, options: OpenDatabaseOptions = {}): Database {
  if (options.snapshot) return openSnapshot(path);
  const readOnly = options.readOnly ?? false;
  return wrap(connect(path, readOnly, options.busyTimeoutMs ?? BUSY_TIMEOUT_MS), { path, readOnly });
}

function openSnapshot(path: string): Database {
  const folder = mkdtempSync(join(tmpdir(), "hermes-snapshot-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, basename(path));
    for (const suffix of ["", "-wal"]) {
      if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix, constants.COPYFILE_FICLONE);
    }
    return wrap(connect(copy, true, BUSY_TIMEOUT_MS), { path, readOnly: true }, remove);
  } catch (error) {
    remove();
    throw error;
  }
}

function wrap(native: DatabaseSync, file: { path: string; readOnly: boolean }, afterClose?: () => void): Database {
  const statements = new Map<string, Statement<unknown>>();
  const pragma = (text: string) => Object.values(native.prepare(`PRAGMA ${text}`).get() ?? {})[0];
  return {
    ...file,
    exec: (sql) => native.exec(sql),
    prepare<Row>(sql: string): Statement<Row> {
      let statement = statements.get(sql);
      if (!statement) {
        statement = prepareStatement(native, sql);
        statements.set(sql, statement);
      }
      return statement as Statement<Row>;
    },
    pragma,
    get inTransaction() {
      return native.isTransaction;
    },
    get open() {
      return native.isOpen;
    },
    withCatalogWrites(body) {
      native.enableDefensive(false);
      pragma("writable_schema = ON");
      try {
        body();
      } finally {
        pragma("writable_schema = RESET");
        native.enableDefensive(true);
      }
    },
    async backup(target) {
      await sqliteModule().backup(native, target);
    },
    close() {
      statements.clear();
      native.close();
      afterClose?.();
    },
  };
}

/** BEGIN IMMEDIATE … COMMIT around `body`; rolls back on throw. Synchronous, one attempt. */
export function immediate<T>(db: Database, body: () => T): T {
  db.prepare("BEGIN IMMEDIATE").run();
  try {
    const result = body();
    db.prepare("COMMIT").run();
    return result;
  } catch (error) {
    // SQLite itself rolls back on some errors (disk full, I/O); a second ROLLBACK would hide the cause.
    if (db.inTransaction) db.prepare("ROLLBACK").run();
    throw error;
  }
}

/** Several reads of the same state of the file, regardless of concurrent writes. */
export function consistent<T>(db: Database, body: () => T): T {
  if (db.inTransaction) return body();
  db.prepare("BEGIN").run();
  try {
    return body();
  } finally {
    if (db.inTransaction) db.prepare("COMMIT").run();
  }
}
