// Why the session database could not be opened: kept for the commands that must explain its absence later.
import { errorMessage } from "../../../lib/error-message.ts";
import { hasWalMarker } from "./journal.ts";

let lastInitError: string | undefined;

/** Remembered until reset; a later successful open does not clear it, because several callers may open stores. */
export function recordInitError(error: unknown): void {
  const type = error instanceof Error ? error.name : typeof error;
  lastInitError = `${type}: ${errorMessage(error)}`;
}

export function getLastInitError(): string | undefined {
  return lastInitError;
}

export function resetLastInitError(): void {
  lastInitError = undefined;
}

const WAL_HINT =
  " (this often means a network or FUSE file system such as NFS or SMB, see https://www.sqlite.org/wal.html)";

/** One sentence for the user: the prefix, the known cause, and a hint when the volume is the cause. */
export function formatStoreUnavailable(prefix = "Session database not available"): string {
  if (lastInitError === undefined) return `${prefix}.`;
  return `${prefix}: ${lastInitError}${hasWalMarker(lastInitError) ? WAL_HINT : ""}.`;
}
