// What became of an installed skill on disk: as it came, edited since, gone, or claimed to be where it cannot be.
import { fingerprint, readFolder } from "./hash.ts";
import type { LockEntry } from "./lock.ts";
import { installedPlace } from "./place.ts";

export interface LocalState {
  readonly state: "clean" | "edited" | "missing" | "misplaced";
  readonly dir?: string | undefined;
  /** Files that were changed, added or removed here, where the lock file knows each one's hash. */
  readonly edits: readonly string[];
  readonly reason?: string | undefined;
}

function editsOf(entry: LockEntry, now: { readonly [path: string]: string }): string[] {
  const known = entry.metadata.file_hashes;
  if (known === null || typeof known !== "object" || Array.isArray(known)) return [];
  const before = known as { readonly [path: string]: unknown };
  return [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((path) => before[path] !== now[path])
    .sort();
}

export function localState(skillsDir: string, name: string, entry: LockEntry): LocalState {
  const place = installedPlace(skillsDir, name, entry.install_path);
  if (place.state === "misplaced") return { state: "misplaced", edits: [], reason: place.reason };
  if (place.state === "missing") return { state: "missing", edits: [] };
  const print = fingerprint(readFolder(place.dir));
  const pin = entry.metadata.sha256;
  const clean = typeof pin === "string" ? pin === print.pin : entry.content_hash === print.contentHash;
  return { state: clean ? "clean" : "edited", dir: place.dir, edits: clean ? [] : editsOf(entry, print.files) };
}
