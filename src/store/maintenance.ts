// Clean-up that takes several transactions: pruning, empty sessions, the automatic run, vacuum.

import type { OnProgress } from "../core/store/session.ts";
import { errorMessage } from "../lib/error-message.ts";
import type { MaintenanceResult } from "./full-store.ts";
import { isMaintenanceDue, markMaintenance } from "./sqlite/auto-maintenance.ts";
import type { Connection } from "./sqlite/connection/connection.ts";
import { chunks } from "./sqlite/context.ts";
import { deleteSessions, findPrunable, stillEnded } from "./sqlite/delete.ts";
import { findGhostSessions } from "./sqlite/sessions.ts";
import { removeTranscriptFiles } from "./transcript-files.ts";

/** Small enough not to delay other writers noticeably. */
const SESSIONS_PER_STEP = 40;

export interface PruneOptions {
  readonly olderThanDays?: number | undefined;
  readonly source?: string | undefined;
  readonly sessionsDir?: string | undefined;
  readonly onProgress?: OnProgress | undefined;
}

async function deleteInSteps(
  connection: Connection,
  ids: readonly string[],
  options: { readonly sessionsDir?: string | undefined; readonly onProgress?: OnProgress | undefined },
): Promise<number> {
  let deleted = 0;
  let done = 0;
  for (const part of chunks(ids, SESSIONS_PER_STEP)) {
    const removed = await connection.write((context) => {
      const ended = stillEnded(context, part);
      deleteSessions(context, ended);
      return ended;
    });
    // Never inside the transaction: files cannot be rolled back.
    if (options.sessionsDir) await removeTranscriptFiles(options.sessionsDir, removed);
    deleted += removed.length;
    done += part.length;
    options.onProgress?.(done, ids.length);
  }
  return deleted;
}

export async function pruneSessions(connection: Connection, options: PruneOptions = {}): Promise<number> {
  const prunable = await connection.read((context) => findPrunable(context, options));
  return deleteInSteps(connection, prunable, options);
}

export async function pruneGhosts(connection: Connection, sessionsDir?: string): Promise<number> {
  return deleteInSteps(connection, await connection.read(findGhostSessions), sessionsDir ? { sessionsDir } : {});
}

/** Returns the space of deleted rows to the file system. */
export async function vacuum(connection: Connection): Promise<void> {
  await connection.exclusive((db) => {
    db.pragma("wal_checkpoint(TRUNCATE)");
    db.exec("VACUUM");
  });
}

export interface MaintenanceOptions {
  readonly retentionDays?: number | undefined;
  readonly minIntervalHours?: number | undefined;
  readonly vacuum?: boolean | undefined;
  readonly sessionsDir?: string | undefined;
}

async function tryVacuum(connection: Connection, notice: (text: string) => void): Promise<boolean> {
  try {
    await vacuum(connection);
    return true;
  } catch (error) {
    notice(`Old sessions were removed, but the file was not made smaller: ${errorMessage(error)}`);
    return false;
  }
}

/** Never throws: start-up must not depend on it. */
export async function maybeAutoPrune(
  connection: Connection,
  options: MaintenanceOptions,
  notice: (text: string) => void,
): Promise<MaintenanceResult> {
  let pruned = 0;
  let vacuumed = false;
  try {
    const due = await connection.read((context) => isMaintenanceDue(context, options.minIntervalHours ?? 24));
    if (!due) return { skipped: true, pruned, vacuumed };
    pruned = await pruneSessions(connection, {
      olderThanDays: options.retentionDays ?? 90,
      sessionsDir: options.sessionsDir,
    });
    if (pruned > 0 && (options.vacuum ?? true)) vacuumed = await tryVacuum(connection, notice);
    await connection.write(markMaintenance);
    return { skipped: false, pruned, vacuumed };
  } catch (error) {
    return { skipped: false, pruned, vacuumed, error: errorMessage(error) };
  }
}
