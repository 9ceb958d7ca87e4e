// Finds in the output of a failed command the path that the sandbox denied.
import { accessSync, constants, existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { PathRequest } from "./backend.ts";

const PATTERNS: readonly RegExp[] = [
  /(?:EROFS|EACCES|ENOENT)[^\n]*?'([^'\n]+)'/g,
  /\[Errno (?:2|13|30)\][^\n]*?: '([^'\n]+)'/g,
  /(?:^|[\s:])['"‘]([^'"’\n]+)['"’]: (?:Read-only file system|Permission denied|No such file or directory)/gm,
  /(?:^|: )([^:'"\n]+): (?:Read-only file system|Permission denied|No such file or directory)/gm,
];

function hasAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** The path itself, or the nearest parent that exists. */
function nearestExisting(path: string): string {
  let found = path;
  while (!existsSync(found) && dirname(found) !== found) found = dirname(found);
  return found;
}

interface Limits {
  canRead(path: string): boolean;
  canWrite(path: string): boolean;
}

/** The first path in the output that the user may access but the sandbox denies. */
export function findDeniedPath(output: string, folders: readonly string[], limits: Limits): PathRequest | undefined {
  for (const pattern of PATTERNS) {
    for (const match of output.matchAll(pattern)) {
      for (const folder of folders) {
        const denied = checkPath(resolve(folder, (match[1] ?? "").trim()), match[0], limits);
        if (denied) return denied;
      }
    }
  }
  return undefined;
}

function checkPath(path: string, message: string, limits: Limits): PathRequest | undefined {
  const missing = /No such file|ENOENT|Errno 2\]/.test(message);
  if (existsSync(path) && !limits.canRead(path) && hasAccess(path, constants.R_OK)) {
    const access = /Read-only|EROFS|Errno 30/.test(message) ? "write" : "read";
    return { access, path };
  }
  if (missing) return undefined;
  const target = nearestExisting(path);
  if (target === "/" || limits.canWrite(target) || !hasAccess(target, constants.W_OK)) return undefined;
  return { access: "write", path: target };
}
