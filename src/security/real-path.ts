// Resolves real paths through links, `..` and `~`, also when the last parts do not exist yet.
import { lstat, readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";

const MAX_LINKS = 40;

/** Expands `~` and `~/x`; `~other` is left unchanged. */
export function expandHome(path: string, userHome: string): string {
  if (path === "~") return userHome;
  return path.startsWith("~/") || path.startsWith("~\\") ? join(userHome, path.slice(2)) : path;
}

/** The absolute real path. Missing parts are kept; a dangling link is replaced by its target. */
export async function resolveRealPath(path: string, cwd: string, links = 0): Promise<string> {
  const absolute = resolve(cwd, path.replaceAll("\0", ""));
  try {
    return await realpath(absolute);
  } catch {
    // It does not exist (yet): resolve the parent, then check whether the last part is a dangling link.
    const parent = dirname(absolute);
    if (parent === absolute || links > MAX_LINKS) return absolute;
    const realParent = await resolveRealPath(parent, cwd, links + 1);
    const full = join(realParent, basename(absolute));
    const info = await lstat(full).catch(() => null);
    if (!info?.isSymbolicLink()) return full;
    const target = await readlink(full);
    return resolveRealPath(isAbsolute(target) ? target : join(realParent, target), cwd, links + 1);
  }
}

/** Normalises a path for comparison: letter case and Unicode forms must not bypass a check. */
export function normalizePath(path: string): string {
  const folded = path.normalize("NFC").toLowerCase();
  return folded.length > 1 && folded.endsWith(sep) ? folded.slice(0, -1) : folded;
}

/** True when `path` is `root` or below it, after normalisation. Both must be real paths. */
export function isBelow(root: string, path: string): boolean {
  const base = normalizePath(root);
  const tested = normalizePath(path);
  return tested === base || tested.startsWith(base.endsWith(sep) ? base : base + sep);
}
