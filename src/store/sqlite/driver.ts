// The seam to SQLite: the few calls the store needs, so that another driver can stand behind them.
import { constants, copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { UserError } from "../../core/failure.ts";
import type { NativeDatabase, NativeOptions } from "./native-database.ts";
import { openNodeSqlite, usesNodeSqlite } from "./node-sqlite.ts";

export type SqlValue = string | number | bigint | null | Uint8Array;

export interface Statement<Row> {
  all(...params: SqlValue[]): Row[];
  get(...params: SqlValue[]): Row | undefined;
  run(...params: SqlValue[]): { changes: number; lastInsertRowid: number };
  /** No other statement of the same connection may write while the iterator is open. */
  iterate(...params: SqlValue[]): IterableIterator<Row>;
}

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
  /** Lets `body` write to `sqlite_master`, then reloads the schema. Only for cutting out what is beyond DROP. */
  withCatalogWrites(body: () => void): void;
  /** A consistent copy through SQLite's online backup. */
  backup(target: string): Promise<void>;
  close(): void;
}

export interface OpenDatabaseOptions {
  readonly readOnly?: boolean;
  /** Read-only, from a private copy: for a WAL file in a folder where SQLite cannot put its side files. */
  readonly snapshot?: boolean;
  readonly busyTimeoutMs?: number;
}

const BUSY_TIMEOUT_MS = 1000;

let addon: object | undefined;

/** What to do when the native half does not load; other errors as they are. */
export function explainAddonError(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "ERR_DLOPEN_FAILED" && code !== "MODULE_NOT_FOUND") return error;
  const built = code === "ERR_DLOPEN_FAILED" ? "was built for another Node" : "was not built";
  return new UserError(`SQLite ${built}: this is Node ${process.versions.node}, and its addon cannot be loaded.`, {
    cure: "Install Hermes again with this Node (in a checkout: `npm rebuild better-sqlite3`), or use Node 24.19 or newer.",
    cause: error,
  });
}

/** The native half, by its known place: the package's own search for it costs more than opening a database. */
function loadAddon(): object {
  try {
    addon ??= createRequire(import.meta.url)("better-sqlite3/build/Release/better_sqlite3.node") as object;
  } catch (error) {
    throw explainAddonError(error);
  }
  return addon;
}

function openAddon(path: string, options: NativeOptions): NativeDatabase {
  // The types know the addon only as a path; the package takes the loaded one too.
  const native = new BetterSqlite3(path, { ...options, nativeBinding: loadAddon() as unknown as string });
  return {
    readonly: native.readonly,
    exec: (sql) => native.exec(sql),
    prepare: (sql) => native.prepare(sql),
    pragma: (text) => native.pragma(text, { simple: true }),
    get inTransaction() {
      return native.inTransaction;
    },
    get open() {
      return native.open;
    },
    unsafeMode: (on) => native.unsafeMode(on),
    backup: (target) => native.backup(target),
    close: () => native.close(),
  };
}

function openNative(path: string, options: NativeOptions): NativeDatabase {
  return usesNodeSqlite() ? openNodeSqlite(path, options) : openAddon(path, options);
}

export function openDatabase(path: string, options: OpenDatabaseOptions = {}): Database {
  if (options.snapshot) return openSnapshot(path);
  const readonly = options.readOnly ?? false;
  return wrap(openNative(path, { readonly, timeout: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS }), path);
}

function openSnapshot(path: string): Database {
  const folder = mkdtempSync(join(tmpdir(), "hermes-snapshot-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, basename(path));
    for (const suffix of ["", "-wal"]) {
      if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix, constants.COPYFILE_FICLONE);
    }
    return wrap(openNative(copy, { readonly: true, timeout: BUSY_TIMEOUT_MS }), path, remove);
  } catch (error) {
    remove();
    throw error;
  }
}

function wrap(native: NativeDatabase, path: string, afterClose?: () => void): Database {
  const statements = new Map<string, Statement<unknown>>();
  return {
    path,
    readOnly: native.readonly,
    exec(sql) {
      native.exec(sql);
    },
    prepare<Row>(sql: string): Statement<Row> {
      let statement = statements.get(sql);
      if (!statement) {
        statement = native.prepare(sql) as Statement<unknown>;
        statements.set(sql, statement);
      }
      return statement as Statement<Row>;
    },
    pragma(text) {
      return native.pragma(text);
    },
    get inTransaction() {
      return native.inTransaction;
    },
    get open() {
      return native.open;
    },
    withCatalogWrites(body) {
      native.unsafeMode(true);
      native.pragma("writable_schema = ON");
      try {
        body();
      } finally {
        native.pragma("writable_schema = RESET");
        native.unsafeMode(false);
      }
    },
    async backup(target) {
      await native.backup(target);
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

/** Several reads that see one state of the file, whatever others write meanwhile. */
export function consistent<T>(db: Database, body: () => T): T {
  if (db.inTransaction) return body();
  db.prepare("BEGIN").run();
  try {
    return body();
  } finally {
    if (db.inTransaction) db.prepare("COMMIT").run();
  }
}
