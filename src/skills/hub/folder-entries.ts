// Reads the files of a local skill folder for publishing.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RawEntry } from "./bundle.ts";

const SKIPPED = new Set(["__pycache__", "node_modules"]);

/** Hidden files and caches are left out. */
export function entriesBelow(dir: string, prefix = ""): RawEntry[] {
  return readdirSync(join(dir, prefix), { withFileTypes: true }).flatMap((entry): RawEntry[] => {
    const path = `${prefix}${entry.name}`;
    if (entry.name.startsWith(".") || SKIPPED.has(entry.name)) return [];
    if (entry.isDirectory()) return entriesBelow(dir, `${path}/`);
    const { mode } = lstatSync(join(dir, path));
    const kind = entry.isFile() ? "file" : entry.isSymbolicLink() ? "link" : "special";
    const bytes = kind === "file" ? readFileSync(join(dir, path)) : new Uint8Array(0);
    return [{ path, kind, bytes, mode: mode & 0o7777 }];
  });
}
