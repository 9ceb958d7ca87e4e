// Compares paths by name; links are not followed.
import { isAbsolute, relative, sep } from "node:path";

/** True when `path` is `folder` or lies below it. */
export function isPathInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
