// The folders of a home, made when they are missing, closed to other users.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { join } from "node:path";

const FOLDERS = ["", "sessions", "memories", "skills", "cron", "hooks", "logs", "logs/curator", "cache"];

function isOn(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false", "no", "off"].includes(value.toLowerCase());
}

/** Modes are left to whoever manages the install, or says so. */
function leavesModesAlone(home: ModeSettings): boolean {
  const { HERMES_SKIP_CHMOD, HERMES_CONTAINER } = home.env;
  return home.managedBy !== null || isOn(HERMES_SKIP_CHMOD) || isOn(HERMES_CONTAINER);
}

/** In a container, files that are there already may be shared with the outside on purpose. */
function inContainer(): boolean {
  return existsSync("/.dockerenv") || existsSync("/run/.containerenv");
}

/** What decides about modes. */
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
  /** Folders that were made now. */
  readonly created: readonly string[];
  /** Folders that others may enter although nobody asked for it; their mode is not touched. */
  readonly open: readonly string[];
}

const CANNOT_WRITE = new Set(["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT"]);

function makeFolder(path: string, mode: number | undefined): void {
  mkdirSync(path, { recursive: true, ...(mode === undefined ? {} : { mode }) });
  if (mode !== undefined) chmodSync(path, mode);
}

/**
 * Makes missing folders with mode 0700, or HERMES_HOME_MODE. Existing folders keep the mode that they have. Where the home
 * cannot be written to, the folders inside are left to whoever needs one: reading goes on.
 */
export function ensureHomeLayout(home: ModeSettings): LayoutReport {
  const free = leavesModesAlone(home);
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

/** What others may do with files of this home: nothing, unless the home itself was opened to them on purpose. */
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
    // A read-only disk, or a file system without modes: the audit tells.
    return;
  }
}

/** Takes away what other users may do with these files of the home, where they are ours. Missing ones are passed over. */
export function tightenFiles(home: ModeSettings, names: readonly string[]): void {
  if (process.platform === "win32" || leavesModesAlone(home)) return;
  const allowed = allowedToOthers(home);
  for (const name of names) tighten(join(home.path, name), allowed);
}

/** Makes the file of a database, readable by its owner only, before SQLite does it by the umask; tightens an existing one. */
export function privateDatabase(home: ModeSettings, name: string): string {
  const path = join(home.path, name);
  if (process.platform === "win32" || leavesModesAlone(home)) return path;
  if (statSync(path, { throwIfNoEntry: false })) {
    tightenFiles(home, [name, `${name}-wal`, `${name}-shm`]);
    return path;
  }
  try {
    if (!statSync(home.path, { throwIfNoEntry: false })) makeFolder(home.path, folderMode(home));
    closeSync(openSync(path, "wx", 0o600));
  } catch {
    // Opening it says what is wrong.
    return path;
  }
  return path;
}
