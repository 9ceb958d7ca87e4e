// Hashes a folder: MD5 over the relative path and bytes of each file, sorted by path components.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Every file below a folder as `a/b/c`; `a/b` sorts before `a.txt`, because components are compared separately. */
export function filesInOrder(dir: string): string[] {
  const found: string[][] = [];
  const walk = (at: string, parts: readonly string[]): void => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      const path = join(at, entry.name);
      const next = [...parts, entry.name];
      if (entry.isDirectory()) walk(path, next);
      else if (entry.isFile() || statSync(path, { throwIfNoEntry: false })?.isFile()) found.push(next);
    }
  };
  walk(dir, []);
  return found.sort(compareParts).map((parts) => parts.join("/"));
}

export function compareParts(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const left = a[index] ?? "";
    const right = b[index] ?? "";
    if (left !== right) return left < right ? -1 : 1;
  }
  return a.length - b.length;
}

/** Hidden files included. */
export function hashFolder(dir: string): string {
  const hash = createHash("md5");
  for (const rel of filesInOrder(dir)) hash.update(rel).update(readFileSync(join(dir, rel)));
  return hash.digest("hex");
}
