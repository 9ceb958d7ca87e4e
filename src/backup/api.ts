// Backups of a home: make one, restore one. A restore changes either everything or nothing.
import { randomBytes } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../core/failure.ts";
import { RESTORE_JOURNAL } from "../core/home.ts";
import { switchFiles, undoSwitch } from "../lib/file-switch.ts";
import { isSqlite } from "./files.ts";
import { type BackupReport, type DatabaseAccess, makeBackup } from "./make.ts";
import { type BackupContent, unpackArchive, verifyArchive } from "./read.ts";

/** The functions that surfaces and app/ call. */
export const backups = { make: makeBackup, verify: verifyArchive, restore: restoreBackup };

export type { BackupReport, DatabaseAccess };

const SNAPSHOTS = "state-snapshots";
const KEPT_SNAPSHOTS = 20;

/** `2026-11-17-132024`, in local time. */
export function timeStamp(now: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
}

/** Where a backup is written when no file is named. */
export function defaultTarget(
  place: { readonly home: string; readonly userHome: string },
  quick: boolean,
  now: Date,
): string {
  return quick
    ? join(place.home, SNAPSHOTS, `${timeStamp(now)}.zip`)
    : join(place.userHome, `hermes-backup-${timeStamp(now)}.zip`);
}

/** The quick backups, newest first. */
export async function listSnapshots(
  home: string,
): Promise<readonly { readonly name: string; readonly file: string; readonly bytes: number; readonly at: number }[]> {
  const folder = join(home, SNAPSHOTS);
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^\d{4}-.*\.zip$/.test(name)).sort();
  const rows = await Promise.all(
    names.reverse().map(async (name) => {
      const file = join(folder, name);
      const info = await stat(file);
      return { name: name.replace(/\.zip$/, ""), file, bytes: info.size, at: info.mtimeMs / 1000 };
    }),
  );
  return rows;
}

/** Removes the oldest quick backups above the limit. */
export async function pruneSnapshots(home: string, keep: number = KEPT_SNAPSHOTS): Promise<number> {
  const folder = join(home, SNAPSHOTS);
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^\d{4}-.*\.zip$/.test(name)).sort();
  const old = names.slice(0, Math.max(0, names.length - keep));
  for (const name of old) await rm(join(folder, name), { force: true });
  return old.length;
}

export interface RestoreOptions {
  readonly home: string;
  readonly file: string;
  readonly databases: DatabaseAccess;
  readonly now?: Date | undefined;
  onProgress?(done: number, total: number): void;
  /** Called before every change of the home, for tests of interruptions. */
  onStep?(): void;
}

export interface RestoreReport {
  readonly files: number;
  readonly replaced: number;
  /** Folder with the files as they were before. */
  readonly before: string;
  readonly content: BackupContent;
}

async function verifyDatabases(folder: string, names: readonly string[], databases: DatabaseAccess): Promise<void> {
  for (const name of names) {
    const path = join(folder, name);
    if (!name.endsWith(".db") || (await stat(path)).size === 0) continue;
    try {
      const own = /(?:^|\/)(?:state|runtime)\.db$/.test(name);
      if (await isSqlite(path)) await databases.verify(path);
      else if (own) throw new Error("it is not a database");
    } catch (error) {
      throw new UserError(`${name} in the backup cannot be used: ${(error as Error).message}`, {
        hint: "Nothing was changed. Use another backup.",
      });
    }
  }
}

/**
 * Unpacks and verifies everything first, then replaces the files; files that the backup does not have stay. The files that
 * are replaced are kept in a folder. After an interruption the next start restores the home as it was.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { home, file, databases } = options;
  undoSwitch(home, RESTORE_JOURNAL);
  const stage = `.restore-${randomBytes(6).toString("hex")}`;
  const fresh = `${stage}/new`;
  try {
    const { bytes } = await verifyArchive(file);
    const content = await unpackArchive(file, join(home, fresh), (done) => options.onProgress?.(done, bytes));
    await verifyDatabases(join(home, fresh), content.names, databases);
    const old = `${SNAPSHOTS}/before-import-${timeStamp(options.now ?? new Date())}`;
    const sideFiles = content.names
      .filter((name) => name.endsWith(".db"))
      .flatMap((name) => [`${name}-wal`, `${name}-shm`]);
    switchFiles(home, RESTORE_JOURNAL, { fresh, old, files: content.names, removed: sideFiles }, options.onStep);
    const before = join(home, old);
    const replaced = (await readdir(before, { recursive: true, withFileTypes: true }).catch(() => [])).filter((entry) =>
      entry.isFile(),
    ).length;
    return { files: content.names.length, replaced, before, content };
  } finally {
    await rm(join(home, stage), { recursive: true, force: true });
  }
}

/** Keeps the newest backups that an update made. */
export async function rotateBackups(folder: string, keep: number): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".zip")).sort();
  for (const name of names.slice(0, Math.max(0, names.length - keep))) await rm(join(folder, name), { force: true });
}
