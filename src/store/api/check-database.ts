// Examines a database of the home without changing it: readable, schema, damaged pages, search index, size of the log.
import { existsSync, statSync } from "node:fs";
import { UserError } from "../../core/failure.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { type Database, openDatabase } from "../sqlite/connection/driver.ts";
import { explainOpenError } from "../sqlite/connection/open-database.ts";
import { findIndexProblem } from "../sqlite/index/health.ts";
import { SCHEMA_VERSION } from "../sqlite/schema.ts";

/** A full check of a larger file takes longer than a user waits. */
const FULL_CHECK_BYTES = 300_000_000;

export interface DatabaseReport {
  readonly exists: boolean;
  readonly bytes: number;
  /** Size of the write-ahead log. */
  readonly walBytes: number;
  /** Damaged pages and missing tables. */
  readonly problems: readonly string[];
  /** Why the search index is incomplete; null when it is not. */
  readonly indexProblem: string | null;
  /** False when only a part was examined because of the size. */
  readonly complete: boolean;
  /** Sessions that begin more than a day in the future. */
  readonly futureSessions: number;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** A damaged page can also make the check itself fail. */
function damagedPages(db: Database): string[] {
  try {
    const rows = db.prepare<{ quick_check: string }>("PRAGMA quick_check(5)").all();
    return rows.map((row) => row.quick_check).filter((line) => line !== "ok");
  } catch (error) {
    return [`it is damaged: ${errorMessage(error)}`];
  }
}

function indexProblemOf(db: Database): string | null {
  try {
    return findIndexProblem(db) ?? null;
  } catch (error) {
    return errorMessage(error);
  }
}

const NOTHING: DatabaseReport = {
  exists: false,
  bytes: 0,
  walBytes: 0,
  problems: [],
  indexProblem: null,
  complete: true,
  futureSessions: 0,
};

/** `kind` decides what the file must contain. Throws UserError when the file cannot be opened. */
export function checkDatabase(path: string, kind: "state" | "runtime"): DatabaseReport {
  if (!existsSync(path) || sizeOf(path) === 0) return { ...NOTHING, exists: existsSync(path) };
  if (!statSync(path).isFile())
    throw new UserError(`${path} is not a file, but a database is expected there`, { hint: "Move it away." });
  try {
    const db = openDatabase(path, { readOnly: true, busyTimeoutMs: 2_000 });
    try {
      const complete = sizeOf(path) <= FULL_CHECK_BYTES;
      // Reading the catalog fails for a file that is not a database.
      const version = Number(db.pragma("user_version"));
      const problems = complete ? damagedPages(db) : [];
      let indexProblem: string | null = null;
      let futureSessions = 0;
      if (kind === "state") {
        const stored =
          db.prepare<{ version: number }>("SELECT version FROM schema_version LIMIT 1").get()?.version ?? version;
        if (stored > SCHEMA_VERSION)
          problems.push(`its layout is version ${stored}, newer than ${SCHEMA_VERSION}: a newer program wrote it`);
        indexProblem = problems.length === 0 ? indexProblemOf(db) : null;
        futureSessions =
          db
            .prepare<{ count: number }>("SELECT count(*) AS count FROM sessions WHERE started_at > ?")
            .get(Date.now() / 1000 + 86_400)?.count ?? 0;
      }
      return {
        exists: true,
        bytes: sizeOf(path),
        walBytes: sizeOf(`${path}-wal`),
        problems,
        indexProblem,
        complete,
        futureSessions,
      };
    } finally {
      db.close();
    }
  } catch (error) {
    throw explainOpenError(path, error);
  }
}
