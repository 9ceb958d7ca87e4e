// Files that programs of the user would run must not appear in a workspace without a question: new ones are moved aside.
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { copyFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";

export function missingPaths(paths: readonly string[]): string[] {
  return paths.filter((path) => !existsSync(path));
}

/** Moves files that have appeared to the temporary folder of the conversation; returns where they were. */
export async function holdCreated(guarded: readonly string[], temp: string): Promise<string[]> {
  const created = guarded.filter((path) => existsSync(path));
  if (created.length === 0) return [];
  const folder = join(temp, "held");
  mkdirSync(folder, { recursive: true });
  for (const path of created) {
    const target = join(folder, basename(path));
    try {
      renameSync(path, target);
    } catch {
      // The temporary folder is on another file system.
      await copyFile(path, target);
      await rm(path, { recursive: true, force: true });
    }
  }
  return created;
}
