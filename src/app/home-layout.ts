// The folders of a home, made when they are missing, closed to other users.
import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "./home.ts";

const FOLDERS = ["", "sessions", "memories", "skills", "cron", "hooks", "logs", "logs/curator", "cache"];

function isOn(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false", "no", "off"].includes(value.toLowerCase());
}

/** Modes are left to whoever runs the container or manages the install. */
function leavesModesAlone(home: Home): boolean {
  const { HERMES_SKIP_CHMOD, HERMES_CONTAINER } = home.env;
  if (home.managedBy !== null || isOn(HERMES_SKIP_CHMOD) || isOn(HERMES_CONTAINER)) return true;
  return existsSync("/.dockerenv") || existsSync("/run/.containerenv");
}

function folderMode(home: Home): number {
  const text = home.env.HERMES_HOME_MODE ?? "";
  return /^0?[0-7]{3}$/.test(text) ? Number.parseInt(text, 8) : 0o700;
}

export interface LayoutReport {
  /** Folders that were made now. */
  readonly created: readonly string[];
  /** Folders that others may enter although nobody asked for it; their mode is not touched. */
  readonly open: readonly string[];
}

/** Makes missing folders with mode 0700, or HERMES_HOME_MODE. Existing folders keep the mode that they have. */
export function ensureHomeLayout(home: Home): LayoutReport {
  const free = leavesModesAlone(home);
  const mode = folderMode(home);
  const created: string[] = [];
  const open: string[] = [];
  for (const folder of FOLDERS) {
    const path = join(home.path, folder);
    const info = statSync(path, { throwIfNoEntry: false });
    if (info) {
      if (!free && process.platform !== "win32" && (info.mode & 0o077 & ~mode) !== 0) open.push(path);
      continue;
    }
    mkdirSync(path, { recursive: true, ...(free ? {} : { mode }) });
    if (!free) chmodSync(path, mode);
    created.push(path);
  }
  return { created, open };
}
