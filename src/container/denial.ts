// Finds in the output of a failed command what the container denied: a path, a local address, a service.
import { accessSync, constants, existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Need } from "../core/container.ts";

const PATTERNS: readonly RegExp[] = [
  /(?:EROFS|EACCES|ENOENT|EBUSY)[^\n]*?'([^'\n]+)'/g,
  /\[Errno (?:2|13|16|30)\][^\n]*?: '([^'\n]+)'/g,
  /(?:^|[\s:])['"‘]([^'"’\n]+)['"’]: (?:Read-only file system|Permission denied|No such file or directory|Device or resource busy)/gm,
  /could not (?:lock|write) config file ([^:\n]+): (?:Read-only file system|Device or resource busy|File exists)/g,
  /(?:^|: )([^:'"\n]+): (?:Read-only file system|Permission denied|No such file or directory|Device or resource busy)/gm,
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

export interface Limits {
  canRead(path: string): boolean;
  canWrite(path: string): boolean;
}

function need(access: "read" | "write", path: string): Need {
  const reason = access === "read" ? `${path} is hidden in the container` : `${path} is read-only in the container`;
  return { permission: { kind: access, path }, reason };
}

/** The first path in the output that the user may access but the container denies. */
export function findDeniedPath(output: string, folders: readonly string[], limits: Limits): Need | undefined {
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

function checkPath(path: string, message: string, limits: Limits): Need | undefined {
  const missing = /No such file|ENOENT|Errno 2\]/.test(message);
  if (existsSync(path) && !limits.canRead(path) && hasAccess(path, constants.R_OK))
    return need(/Read-only|EROFS|EBUSY|busy|Errno (?:16|30)/.test(message) ? "write" : "read", path);
  if (missing) return undefined;
  const target = nearestExisting(path);
  if (target === "/" || limits.canWrite(target) || !hasAccess(target, constants.W_OK)) return undefined;
  return need("write", target);
}

const LOCAL = String.raw`(?:localhost|127\.0\.0\.1|\[?::1\]?|0\.0\.0\.0)`;
const REFUSED: readonly RegExp[] = [
  new RegExp(String.raw`connect to (${LOCAL}) port (\d+)`, "i"),
  new RegExp(String.raw`connect ECONNREFUSED (${LOCAL}):(\d+)`, "i"),
  new RegExp(String.raw`(${LOCAL})[):, ]+(?:port |:)?\(?"?(\d{2,5})[^\n]{0,60}(?:refused|failed)`, "i"),
  new RegExp(String.raw`(${LOCAL}):(\d{2,5})[^\n]{0,60}(?:refused|failed)`, "i"),
];

/** The local address that a program could not reach. */
export function findDeniedHost(output: string): Need | undefined {
  for (const pattern of REFUSED) {
    const port = pattern.exec(output)?.[2];
    if (port === undefined) continue;
    const host = `localhost:${port}`;
    return {
      permission: { kind: "host", host },
      reason: `services of this machine, such as ${host}, are out of reach`,
    };
  }
  if (/Network is unreachable|ENETUNREACH/.test(output))
    return {
      permission: { kind: "named", name: "services" },
      reason: "the container's network carries only connections to hosts by name",
    };
  return undefined;
}
