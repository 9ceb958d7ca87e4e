// A kernel lock on an open SQLite file: released when its process ends, also after a crash.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { isLocked } from "../../lib/sqlite-error.ts";
import { type Database, openDatabase } from "../sqlite/connection/driver.ts";

export interface KernelLock {
  /** Idempotent. */
  release(): void;
}

/**
 * Null when another process holds it. The file `<path>.db` is empty and is not deleted; only its lock is used. Hermes
 * Agent v0.14 may have written a text to `path` itself. One process must not open the same path twice, because closing
 * one handle would release the lock of the other.
 */
export function takeKernelLock(path: string): KernelLock | null {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const db: Database = openDatabase(`${path}.db`, { busyTimeoutMs: 0 });
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (isLocked(error)) return null;
    throw error;
  }
  return {
    release: () => {
      if (db.open) db.close();
    },
  };
}
