// Creates the folders of a home and keeps its files private.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { join } from "node:path";

const FOLDERS = ["", "sessions", "memories", "skills", "cron", "hooks", "logs", "logs/curator", "cache"];

function isOn(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false", "no", "off"].includes(value.toLowerCase());
}

/** True when file modes must not be changed: the install is managed, or a variable says so. */
function keepsModes(home: ModeSettings): boolean {
  const { HERMES_SKIP_CHMOD, HERMES_CONTAINER } = home.env;
  return home.managedBy !== null || isOn(HERMES_SKIP_CHMOD) || isOn(HERMES_CONTAINER);
}

/** In a container, existing files may be shared with the host on purpose. */
function inContainer(): boolean {
  return existsSync("/.dockerenv") || existsSync("/run/.containerenv");
}

/** The fields of a home that decide about modes. */
export interface ModeSettings {
  readonly path: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly managedBy: string | null;
}

function folderMode(home: ModeSettings): number {
  const text = home.env.HERMES_HOME_MODE ?? "";
  return /^0?[0-7]{3}$/.test(text) ? Number.parseInt(text, 8) : 0o700;
}

export interface LayoutReport {
  /** Folders that were created. */
  readonly created: readonly string[];
  /** Folders that other users may enter although HERMES_HOME_MODE does not allow it; their mode is not changed. */
  readonly open: readonly string[];
}

const CANNOT_WRITE = new Set(["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT"]);

function makeFolder(path: string, mode: number | undefined): void {
  mkdirSync(path, { recursive: true, mode });
  if (mode !== undefined) chmodSync(path, mode);
}

/**
 * Creates missing folders with mode 0700 or HERMES_HOME_MODE. Existing folders keep their mode. In a read-only home,
 * missing folders are skipped so that commands that only read still work.
 */
export function ensureHomeLayout(home: ModeSettings): LayoutReport {
  const free = keepsModes(home);
  const mode = folderMode(home);
  const watch = !free && process.platform !== "win32" && !inContainer();
  const created: string[] = [];
  const open: string[] = [];
  for (const folder of FOLDERS) {
    const path = join(home.path, folder);
    const info = statSync(path, { throwIfNoEntry: false });
    if (info) {
      if (watch && (info.mode & 0o077 & ~mode) !== 0) open.push(path);
      continue;
    }
    try {
      makeFolder(path, free ? undefined : mode);
      created.push(path);
    } catch (error) {
      if (folder === "" || !CANNOT_WRITE.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }
  return { created, open };
}

/** The permissions of other users on files: none, unless HERMES_HOME_MODE opens the home. */
function allowedToOthers(home: ModeSettings): number {
  return folderMode(home) & 0o066;
}

function tighten(path: string, allowed: number): void {
  const info = statSync(path, { throwIfNoEntry: false });
  if (!info?.isFile() || (info.mode & 0o077 & ~allowed) === 0) return;
  if (info.uid !== process.getuid?.()) return;
  try {
    chmodSync(path, info.mode & (0o700 | allowed));
  } catch {
    // A read-only disk or a file system without modes: `hermes security audit` reports it.
    return;
  }
}

/** Removes permissions of other users from these files, if they belong to this user. Missing files are skipped. */
export function tightenFiles(home: ModeSettings, names: readonly string[]): void {
  if (process.platform === "win32" || keepsModes(home)) return;
  const allowed = allowedToOthers(home);
  for (const name of names) tighten(join(home.path, name), allowed);
}

const PRIVATE_FILES = [".env", "auth.json", "config.yaml", "state.db", "runtime.db"];

/** Removes the permissions of other users from the folders and files of the home. Returns what was done. */
export function closeHomeToOthers(home: ModeSettings): string {
  const changed: string[] = [];
  const allowed = folderMode(home) & 0o077;
  for (const folder of FOLDERS) {
    const path = join(home.path, folder);
    const info = statSync(path, { throwIfNoEntry: false });
    if (!info?.isDirectory() || (info.mode & 0o077 & ~allowed) === 0) continue;
    chmodSync(path, info.mode & (0o700 | allowed));
    changed.push(path);
  }
  tightenFiles(home, PRIVATE_FILES);
  return changed.length > 0 ? `closed to other users: ${changed.join(", ")}` : "the files are private";
}

/** Creates the file of a database readable by its owner only, because SQLite would use the umask. Returns its path. */
export function privateDatabase(home: ModeSettings, name: string): string {
  const path = join(home.path, name);
  if (process.platform === "win32" || keepsModes(home)) return path;
  if (statSync(path, { throwIfNoEntry: false })) {
    tightenFiles(home, [name, `${name}-wal`, `${name}-shm`]);
    return path;
  }
  try {
    if (!statSync(home.path, { throwIfNoEntry: false })) makeFolder(home.path, folderMode(home));
    closeSync(openSync(path, "wx", 0o600));
  } catch {
    // Opening the database reports the error.
    return path;
  }
  return path;
}
