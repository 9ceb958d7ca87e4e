// Where a path really leads: through links, `..`, `~`, and also when the last parts do not exist yet.
import { lstat, readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";

const MAX_LINKS = 40;

/** `~` and `~/x` belong to the person's home; `~other` is left as it is. */
export function expandHome(path: string, userHome: string): string {
  if (path === "~") return userHome;
  return path.startsWith("~/") || path.startsWith("~\\") ? join(userHome, path.slice(2)) : path;
}

/** The absolute real path. Missing tails are kept; a dangling link counts as the place it points to. */
export async function realPathOf(path: string, cwd: string, links = 0): Promise<string> {
  const absolute = resolve(cwd, path.replaceAll("\0", ""));
  try {
    return await realpath(absolute);
  } catch {
    // Not there (yet): settle the parent, then look at the last part itself.
    const parent = dirname(absolute);
    if (parent === absolute || links > MAX_LINKS) return absolute;
    const realParent = await realPathOf(parent, cwd, links + 1);
    const full = join(realParent, basename(absolute));
    const info = await lstat(full).catch(() => null);
    if (!info?.isSymbolicLink()) return full;
    const target = await readlink(full);
    return realPathOf(isAbsolute(target) ? target : join(realParent, target), cwd, links + 1);
  }
}

/** One spelling for comparison: letter case and Unicode forms must not open a second door. */
export function comparable(path: string): string {
  const folded = path.normalize("NFC").toLowerCase();
  return folded.length > 1 && folded.endsWith(sep) ? folded.slice(0, -1) : folded;
}

/** Same place or below it, by comparable spelling. Both must be real paths. */
export function isBelow(root: string, path: string): boolean {
  const base = comparable(root);
  const tested = comparable(path);
  return tested === base || tested.startsWith(base.endsWith(sep) ? base : base + sep);
}

/** True when the path, followed through links, lies inside the root. */
export async function isInside(root: string, path: string): Promise<boolean> {
  const [realRoot, real] = await Promise.all([realPathOf(root, root), realPathOf(path, root)]);
  return real === realRoot || real.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep);
}
