// Opens state.db: settings, schema, index; read-only where nothing can be written; clear errors otherwise.

import { accessSync, chmodSync, constants, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UserError } from "../../../core/failure.ts";
import { errorMessage } from "../../../lib/error-message.ts";
import { sqliteCode } from "../../../lib/sqlite-error.ts";
import { ensureIndex } from "../index/health.ts";
import { missingColumns } from "../schema.ts";
import { type Database, openDatabase } from "./driver.ts";
import { applyJournalMode } from "./journal.ts";
import { migrate } from "./migrate.ts";
import { meansFull } from "./volume.ts";

export interface OpenStateOptions {
  readonly path: string;
  /** How long SQLite itself waits for a lock before the store pauses and tries again. */
  readonly busyTimeoutMs: number;
  readonly notice: (text: string) => void;
  /** Never write; the file must exist. */
  readonly readOnly?: boolean | undefined;
  readonly open?: typeof openDatabase | undefined;
}

const LABEL = "state.db";

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** SQLite needs the folder too, for its side files. */
export function canWrite(path: string): boolean {
  return isWritable(path) && isWritable(dirname(path));
}

function fileExists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** A file that was created but never written has nothing to read. */
function hasContent(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Side files that were made while the file was read-only took over its mode, and would keep it unwritable. */
function freeSideFiles(path: string): void {
  for (const side of [`${path}-wal`, `${path}-shm`]) {
    if (!fileExists(side) || isWritable(side)) continue;
    try {
      chmodSync(side, statSync(path).mode);
    } catch {
      // Not readable: opening it reports the error.
      return;
    }
  }
}

/** An error, other than a lock, that SQLite reports when it cannot write here. */
function meansReadOnly(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (code.startsWith("SQLITE_READONLY") || code.startsWith("SQLITE_CANTOPEN"));
}

/** Turns SQLite's error about a damaged file into a UserError with a hint. */
export function explainOpenError(path: string, error: unknown): unknown {
  const code = sqliteCode(error) ?? "";
  if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) {
    return new UserError(
      `${path} cannot be read as a session database: ${errorMessage(error)}. It was left untouched.`,
      {
        hint: "Restore it from a backup, move it aside to start with an empty store, or try `hermes sessions repair`.",
        cause: error,
      },
    );
  }
  if (meansFull(path, error)) {
    return new UserError(`${path} cannot be opened: the disk is full.`, {
      hint: "Free some space and try again. Nothing that was saved before is affected.",
      cause: error,
    });
  }
  if (meansReadOnly(error)) {
    return new UserError(`${path} cannot be opened or created: ${errorMessage(error)}.`, {
      hint: "Check that the folder exists and that you may write to it.",
      cause: error,
    });
  }
  return error;
}

function openWritable(options: OpenStateOptions): Database {
  const db = (options.open ?? openDatabase)(options.path, { busyTimeoutMs: options.busyTimeoutMs });
  try {
    applyJournalMode(db, LABEL, options.notice);
    db.pragma("foreign_keys = ON");
    // Every acknowledged message must survive a power cut, also in WAL mode.
    db.pragma("synchronous = FULL");
    // The drivers differ in what they are compiled with: 2 or 16 MB.
    db.pragma("cache_size = -16000");
    migrate(db, options.notice);
    ensureIndex(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Plain read-only first; a WAL file in a folder without side files can only be read from a copy. */
function openReadOnly(options: OpenStateOptions): Database {
  const open = options.open ?? openDatabase;
  let failure: unknown;
  for (const mode of [{ readOnly: true }, { snapshot: true }]) {
    const db = open(options.path, { ...mode, busyTimeoutMs: options.busyTimeoutMs });
    try {
      if (missingColumns(db).length === 0) return db;
      failure = new UserError(`${options.path} is from an earlier version and cannot be upgraded here.`, {
        hint: "Make the file and its folder writable once.",
      });
    } catch (error) {
      failure = error;
    }
    db.close();
    if (!meansReadOnly(failure) && !meansFull(options.path, failure)) break;
  }
  throw failure;
}

/** One attempt. Lock errors are passed on; `readOnly` of the result says how the file was opened. */
export function openStateDatabase(options: OpenStateOptions): Database {
  const { path } = options;
  const folder = dirname(path);
  try {
    const exists = fileExists(path);
    if (exists && !statSync(path).isFile())
      throw new UserError(`${path} is not a file, but the session database is expected there.`, {
        hint: "Move it away; a new, empty database is made in its place.",
      });
    if (options.readOnly && !exists) {
      throw new UserError(`${path} does not exist.`, { hint: "Check the path." });
    }
    if (options.readOnly || (exists && !canWrite(path))) return openReadOnly(options);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    freeSideFiles(path);
    try {
      return openWritable(options);
    } catch (error) {
      const unwritable = meansReadOnly(error) || meansFull(path, error);
      if (!unwritable || !hasContent(path)) throw error;
      return openReadOnly(options);
    }
  } catch (error) {
    throw explainOpenError(path, error);
  }
}
