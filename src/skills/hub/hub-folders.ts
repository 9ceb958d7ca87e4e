// Computes the folders of hub skills: always below the real skills folder, never read from a file.
import { lstatSync, realpathSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, sep } from "node:path";
import { UserError } from "../../core/failure.ts";
import { findIndexFiles } from "../find.ts";
import { nameMistake } from "../manage/rules.ts";
import { HubRefusal } from "./refusal.ts";

function isRealFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Creates a folder below an existing one; refuses a symbolic link at its path. */
async function ensureFolder(parent: string, name: string, mode?: number): Promise<string> {
  const path = join(parent, name);
  await mkdir(path, { recursive: true, mode: mode ?? 0o777 }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  });
  if (isRealFolder(path)) return path;
  throw new UserError(`${path} is not a regular folder`, { hint: "Remove the link or file at this path." });
}

/** The skills folder with links resolved; created when missing. */
export async function realSkillsDir(skillsDir: string): Promise<string> {
  await mkdir(skillsDir, { recursive: true, mode: 0o700 });
  return realpathSync(skillsDir);
}

/** `.hub` and its quarantine, readable by their owner only. */
export async function hubFolders(skillsDir: string): Promise<{ hub: string; quarantine: string }> {
  const hub = await ensureFolder(await realSkillsDir(skillsDir), ".hub", 0o700);
  return { hub, quarantine: await ensureFolder(hub, "quarantine", 0o700) };
}

export function checkNames(name: string, category: string | undefined): void {
  const mistake = nameMistake(name) ?? (category === undefined ? undefined : nameMistake(category, "category"));
  if (mistake) throw new HubRefusal(`refused: ${mistake}`, "Choose another with --name or --category.");
}

/** The folder for a new skill; creates the category. Throws when the folder exists. */
export async function newSkillFolder(skillsDir: string, name: string, category: string | undefined): Promise<string> {
  checkNames(name, category);
  const root = await realSkillsDir(skillsDir);
  const parent = category === undefined ? root : await ensureFolder(root, category);
  return join(parent, name);
}

export type InstalledFolder =
  | { readonly state: "found"; readonly dir: string }
  | { readonly state: "missing" }
  | { readonly state: "misplaced"; readonly reason: string };

/**
 * The folder of an installed skill. The lock file may only name a category; anything else in its path is refused,
 * because the file is untrusted.
 */
export function findInstalledFolder(skillsDir: string, name: string, installPath: string): InstalledFolder {
  const misplaced = (reason: string): InstalledFolder => ({ state: "misplaced", reason });
  if (nameMistake(name)) return misplaced("the lock file has an invalid skill name");
  const parts = installPath.split("/");
  if (parts.length > 2 || parts.at(-1) !== name || parts.some((part) => nameMistake(part) !== undefined))
    return misplaced("the lock file names a folder outside the skills folder");
  const root = statSync(skillsDir, { throwIfNoEntry: false }) ? realpathSync(skillsDir) : skillsDir;
  const dir = join(root, ...parts);
  const info = lstatSync(dir, { throwIfNoEntry: false });
  if (!info) return { state: "missing" };
  if (!info.isDirectory() || realpathSync(dir) !== dir) return misplaced("its folder is a symbolic link");
  return { state: "found", dir };
}

/** Other skills of the home with this folder name, relative to the skills folder. */
export function skillsNamed(skillsDir: string, name: string): string[] {
  return findIndexFiles(skillsDir)
    .filter((file) => file.rel.endsWith(`/${name}/SKILL.md`) || file.rel === `${name}/SKILL.md`)
    .map((file) => file.rel.slice(0, -"/SKILL.md".length).split(sep).join("/"));
}
