// Which files of a home belong into a backup.
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";

export interface BackupFile {
  /** Relative to the home, with `/`. */
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  readonly modified: Date;
  /** Copied through SQLite, because other processes may write to it. */
  readonly database: boolean;
}

/** Folders that can be made again, belong to the program, or are backups themselves. */
const SKIPPED_FOLDERS = new Set([
  "hermes-agent",
  "cache",
  "audio_cache",
  "image_cache",
  "node_modules",
  ".git",
  ".worktrees",
  "backups",
  "checkpoints",
  "state-snapshots",
  "sandboxes",
  "bin",
  "venv",
  "__pycache__",
]);
const SKIPPED_FILES =
  /(?:-wal|-shm|-journal|\.pid|\.lock|\.lease|\.sock|\.tmp|\.pyc)$|\.lease\.|^\.restore-|^restore-journal\.json$/;
const LOCK_DATABASE = /\.lock\.db$/;

/** The small files of a quick copy: settings, keys, jobs, state of chats. */
const QUICK = [
  /^(?:state\.db|config\.yaml|\.env|auth\.json|SOUL\.md|active_profile)$/,
  /^cron\/jobs\.json$/,
  /^(?:gateway_state|channel_directory|processes)\.json$/,
  /^sessions\/sessions\.json$/,
  /^pairing\//,
  /^memories\//,
];

async function walk(root: string, folder: string, found: BackupFile[]): Promise<void> {
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      const skipped = SKIPPED_FOLDERS.has(entry.name) || entry.name.startsWith(".restore-");
      if (!skipped) await walk(root, name, found);
      continue;
    }
    // Links, sockets and pipes are not data of the home.
    if (!entry.isFile() || SKIPPED_FILES.test(entry.name) || LOCK_DATABASE.test(entry.name)) continue;
    const path = join(root, name);
    const info = await lstat(path).catch(() => null);
    if (!info) continue;
    const database = entry.name.endsWith(".db");
    found.push({ name, path, size: info.size, mode: info.mode & 0o777, modified: info.mtime, database });
  }
}

/** The files of a full or quick backup, by name. */
export async function backupFiles(home: string, quick: boolean): Promise<BackupFile[]> {
  const found: BackupFile[] = [];
  await walk(home, "", found);
  const wanted = quick ? found.filter(({ name }) => QUICK.some((pattern) => pattern.test(name))) : found;
  return wanted.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Other programs also name files `.db`. */
export async function isSqlite(path: string): Promise<boolean> {
  const handle = await open(path, "r");
  try {
    const { buffer } = await handle.read({ buffer: Buffer.alloc(15), length: 15, position: 0 });
    return buffer.toString("latin1") === "SQLite format 3";
  } finally {
    await handle.close();
  }
}
