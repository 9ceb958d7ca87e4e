// Opens runtime.db: data that the schema of state.db does not cover. Conversations can be read without it.
import { existsSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UserError } from "../core/failure.ts";
import { sqliteCode } from "../lib/sqlite-error.ts";
import { RUNTIME_MIGRATIONS } from "./runtime/migrations.ts";
import { type Database, immediate, openDatabase } from "./sqlite/connection/driver.ts";
import { meansFull } from "./sqlite/connection/volume.ts";

/** Two processes that start together wait for each other's migration. */
const OPEN_WAIT_MS = 2000;
/** Afterwards SQLite blocks the event loop only this long for a lock; callers pause and try again. */
const WAIT_MS = 50;

export interface RuntimeDbOptions {
  /** A notice for the user: a damaged file was moved aside. */
  readonly onNotice?: ((text: string) => void) | undefined;
}

function migrate(db: Database): void {
  if (Number(db.pragma("user_version")) >= RUNTIME_MIGRATIONS.length) return;
  immediate(db, () => {
    // Read again under the lock: another process may have migrated meanwhile.
    const from = Number(db.pragma("user_version"));
    for (const step of RUNTIME_MIGRATIONS.slice(from)) for (const sql of step) db.exec(sql);
    if (from < RUNTIME_MIGRATIONS.length) db.pragma(`user_version = ${RUNTIME_MIGRATIONS.length}`);
  });
}

function openOnce(path: string): Database {
  const db = openDatabase(path, { busyTimeoutMs: OPEN_WAIT_MS });
  try {
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    migrate(db);
    db.pragma(`busy_timeout = ${WAIT_MS}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** True for errors that mean that the file is damaged. */
export function isDamaged(error: unknown): boolean {
  const code = sqliteCode(error) ?? "";
  return code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB";
}

/** Renames the file and its side files; returns the new name. */
function setAside(path: string): string {
  const stamp = new Date().toISOString().replace(/[:.]/g, "-");
  const aside = `${path}.corrupt-${stamp}`;
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  return aside;
}

/**
 * The file, created or migrated. A damaged one is set aside, never overwritten, and a new one takes its place: search
 * data is rebuilt from state.db, while the record of past spending stays in the old file.
 */
export function openRuntimeDb(path: string, options: RuntimeDbOptions = {}): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new UserError(`${path} is not a file, but a database is expected there.`, {
      hint: "Move it away; a new, empty database is made in its place.",
    });
  try {
    return openOnce(path);
  } catch (error) {
    if (!isDamaged(error)) throw error;
    const aside = setAside(path);
    options.onNotice?.(
      `runtime.db was damaged and is now ${aside}. A new one was started; search data rebuilds itself, but the record of past spending is only in the old file.`,
    );
    return openOnce(path);
  }
}

function mayNotWrite(error: unknown): boolean {
  const code = sqliteCode(error) ?? (error as { code?: unknown } | undefined)?.code;
  return (
    typeof code === "string" && /^(?:SQLITE_(?:READONLY|CANTOPEN)|EACCES$|EROFS$|EPERM$|ENOSPC$|EDQUOT$)/.test(code)
  );
}

/** What the file holds, or nothing where there is none; nothing can be written. */
function viewRuntimeDb(path: string): Database {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info?.isFile() && info.size > 0) return openDatabase(path, { snapshot: true });
  const empty = openDatabase(":memory:");
  migrate(empty);
  empty.pragma("query_only = 1");
  return empty;
}

/** As `openRuntimeDb`; in a home that may only be read, or on a full disk, a view of the file. */
export function openRuntimeDbOrView(path: string): Database {
  try {
    return openRuntimeDb(path);
  } catch (error) {
    if (!mayNotWrite(error) && !meansFull(path, error)) throw error;
    return viewRuntimeDb(path);
  }
}
