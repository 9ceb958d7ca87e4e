// Finds SKILL.md and DESCRIPTION.md files below a root by names and times, without opening them.
import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";

/** Folders that never contain skills: hub data, backups, tools. */
const SKIPPED = new Set([
  ".git",
  ".github",
  ".hub",
  ".archive",
  ".quarantine",
  ".curator_backups",
  "node_modules",
  "__pycache__",
]);
/** Folders of a skill's own material. */
export const SUPPORT_FOLDERS: readonly string[] = ["references", "templates", "scripts", "assets"];
const MAX_DEPTH = 8;

export interface IndexFile {
  /** Path relative to the root, with `/`. */
  readonly rel: string;
  readonly path: string;
  readonly mtimeNs: bigint;
  readonly mtimeMs: number;
  readonly size: number;
}

/** The files and folders that determine the skills of a root. */
export interface Survey {
  readonly root: string;
  /** Every folder that was read. */
  readonly folders: readonly { readonly path: string; readonly mtimeMs: number }[];
  readonly files: readonly IndexFile[];
}

interface Walk {
  readonly found: IndexFile[];
  /** Folders with their times, when requested. */
  readonly folders?: { path: string; mtimeMs: number }[];
  /** Real paths of the linked folders above: a link back to one of them is not followed. */
  readonly linked: Set<string>;
}

function readEntries(dir: string): Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch {
    // The folder does not exist or is not readable: it has no skills.
    return [];
  }
}

function isFolder(entry: Dirent, path: string, walk: Walk): boolean {
  if (entry.isDirectory()) return true;
  if (!entry.isSymbolicLink()) return false;
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
  const real = realpathSync(path);
  if (walk.linked.has(real)) return false;
  walk.linked.add(real);
  return true;
}

function addIndexFile(walk: Walk, path: string, rel: string): void {
  const info = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (!info?.isFile()) return;
  const { mtimeNs } = info;
  // Rounded as statSync does without bigint.
  const mtimeMs = Number(mtimeNs / 1_000_000_000n) * 1_000 + Number(mtimeNs % 1_000_000_000n) / 1_000_000;
  walk.found.push({ rel, path, mtimeNs, mtimeMs, size: Number(info.size) });
}

function walkInto(walk: Walk, dir: string, rel: string, depth: number): void {
  // Read the time first, so that a change during the read is noticed by the next check.
  const mtimeMs = walk.folders ? statSync(dir, { throwIfNoEntry: false })?.mtimeMs : undefined;
  if (mtimeMs !== undefined) walk.folders?.push({ path: dir, mtimeMs });
  const entries = readEntries(dir);
  const isSkill = entries.some((entry) => entry.name === "SKILL.md");
  for (const entry of entries) {
    const { name } = entry;
    if (name === "SKILL.md" || name === "DESCRIPTION.md") addIndexFile(walk, join(dir, name), `${rel}${name}`);
    else if (depth < MAX_DEPTH && !SKIPPED.has(name) && !(isSkill && SUPPORT_FOLDERS.includes(name))) {
      const path = join(dir, name);
      if (isFolder(entry, path, walk)) walkInto(walk, path, `${rel}${name}/`, depth + 1);
    }
  }
}

const byPath = (a: IndexFile, b: IndexFile): number => (a.rel < b.rel ? -1 : a.rel > b.rel ? 1 : 0);

/** Every SKILL.md and DESCRIPTION.md below a root, sorted by path. Synchronous: 500 skills take a few milliseconds. */
export function findIndexFiles(root: string): IndexFile[] {
  const walk: Walk = { found: [], linked: new Set() };
  walkInto(walk, root, "", 0);
  return walk.found.sort(byPath);
}

/** The same, with the folders that were read. */
export function survey(root: string): Survey {
  const walk = { found: [], folders: [], linked: new Set<string>() };
  walkInto(walk, root, "", 0);
  return { root, folders: walk.folders, files: (walk.found as IndexFile[]).sort(byPath) };
}

/** `a/b/name/SKILL.md` → category `a/b`, folder `name`; a skill directly under the root is its own category. */
export function splitSkillPath(rel: string): { category: string; folder: string } {
  const parts = rel.split("/").slice(0, -1);
  const folder = parts.at(-1) ?? "";
  if (parts.length === 0) return { category: "general", folder: "general" };
  return { category: parts.length === 1 ? folder : parts.slice(0, -1).join("/"), folder };
}
