// Detects that the disk of a database is full.
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { sqliteCode } from "../../../lib/sqlite-error.ts";

const FULL_BELOW_BYTES = 256 * 1024;

function volumeIsFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < FULL_BELOW_BYTES;
  } catch {
    return false;
  }
}

/** SQLite reports "full" for a write, but "I/O error" or "cannot open" when it cannot create its side files. */
export function meansFull(path: string, error: unknown): boolean {
  const code = sqliteCode(error);
  if (code === "SQLITE_FULL") return true;
  return code !== undefined && /^SQLITE_(?:IOERR|CANTOPEN)/.test(code) && volumeIsFull(path);
}
