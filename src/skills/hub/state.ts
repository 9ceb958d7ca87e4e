// The state of an installed skill on disk: unchanged, edited, missing, or with an invalid path.
import { fingerprint, readFolder } from "./hash.ts";
import { findInstalledFolder } from "./hub-folders.ts";
import type { LockEntry } from "./lock.ts";

export interface LocalState {
  readonly state: "clean" | "edited" | "missing" | "misplaced";
  readonly dir?: string | undefined;
  /** Files that were changed, added or removed, when the lock file has a hash for each file. */
  readonly edits: readonly string[];
  readonly reason?: string | undefined;
}

function findEdits(entry: LockEntry, now: { readonly [path: string]: string }): string[] {
  const known = entry.metadata.file_hashes;
  if (known === null || typeof known !== "object" || Array.isArray(known)) return [];
  const before = known as { readonly [path: string]: unknown };
  return [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((path) => before[path] !== now[path])
    .sort();
}

export function localState(skillsDir: string, name: string, entry: LockEntry): LocalState {
  const folder = findInstalledFolder(skillsDir, name, entry.install_path);
  if (folder.state === "misplaced") return { state: "misplaced", edits: [], reason: folder.reason };
  if (folder.state === "missing") return { state: "missing", edits: [] };
  const print = fingerprint(readFolder(folder.dir));
  const pin = entry.metadata.sha256;
  const clean = typeof pin === "string" ? pin === print.pin : entry.content_hash === print.contentHash;
  return { state: clean ? "clean" : "edited", dir: folder.dir, edits: clean ? [] : findEdits(entry, print.files) };
}
