// The journal mode: WAL, or DELETE where the file system cannot do WAL.
import { errorMessage } from "../../../lib/error-message.ts";
import type { Database } from "./driver.ts";

/** Texts of SQLite errors on volumes without support for WAL (network and FUSE file systems). */
const WAL_MARKERS: readonly string[] = ["locking protocol", "not authorized", "disk i/o error"];

/** Databases that a warning was given for, so that a process warns once for each. */
const warned = new Set<string>();

function hasWalMarker(text: string): boolean {
  const lower = text.toLowerCase();
  return WAL_MARKERS.some((marker) => lower.includes(marker));
}

/** Returns the mode that is in effect. Errors that do not speak of WAL are passed on. */
export function applyJournalMode(db: Database, label: string, warn: (text: string) => void): "wal" | "delete" {
  try {
    db.pragma("journal_mode = WAL");
    return "wal";
  } catch (error) {
    const cause = errorMessage(error);
    if (!hasWalMarker(cause)) throw error;
    db.pragma("journal_mode = DELETE");
    if (!warned.has(label)) {
      warned.add(label);
      warn(
        `${label}: WAL mode is not available here (${cause}); using DELETE mode, which is slower when several processes write.`,
      );
    }
    return "delete";
  }
}
