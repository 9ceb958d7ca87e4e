// The git repository of a workspace: which of its files commands may change, and which run programs later.
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isPathInside } from "../lib/path-inside.ts";

export interface Repository {
  /** Folders that git writes to; pinned, so that they cannot be renamed away. */
  readonly folders: readonly string[];
  /** Files and folders with hooks and settings, which git runs programs from. */
  readonly protectedPaths: readonly string[];
  /** The settings alone. */
  readonly settings: readonly string[];
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The folder that a `.git` file names, when that folder names the file in turn. */
function linkedGitFolder(file: string): string | undefined {
  const target = /^gitdir: (.+)$/m.exec(readText(file) ?? "")?.[1]?.trim();
  if (target === undefined) return undefined;
  const folder = resolve(dirname(file), target);
  const back = readText(join(folder, "gitdir"))?.trim();
  if (back !== undefined && realOr(back) === realOr(file)) return realOr(folder);
  const worktree = /^\s*worktree\s*=\s*(.+)$/m.exec(readText(join(folder, "config")) ?? "")?.[1]?.trim();
  if (worktree !== undefined && realOr(resolve(folder, worktree)) === realOr(dirname(file))) return realOr(folder);
  return undefined;
}

/** The `.git` of the workspace or of the nearest folder above it that is not the home. */
function findGit(workspace: string, home: string): string | undefined {
  for (let at = workspace; dirname(at) !== at && at !== home; at = dirname(at)) {
    const path = join(at, ".git");
    const info = statSync(path, { throwIfNoEntry: false });
    if (info?.isDirectory()) return path;
    if (info?.isFile()) return linkedGitFolder(path);
  }
  return undefined;
}

function subfolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(folder, entry.name));
  } catch {
    // The repository has no such folder.
    return [];
  }
}

/** The folder of hooks that the settings name, when it is inside the workspace. */
function configuredHooks(config: string, workspace: string): string[] {
  const path = /^\s*hooksPath\s*=\s*"?([^"\n]+?)"?\s*$/im.exec(readText(config) ?? "")?.[1];
  if (path === undefined) return [];
  const folder = isAbsolute(path) ? path : join(workspace, path);
  return isPathInside(folder, workspace) && folder !== workspace ? [folder] : [];
}

export function findRepository(workspace: string, home: string): Repository | undefined {
  const git = findGit(workspace, home);
  if (git === undefined) return undefined;
  const common = readText(join(git, "commondir"))?.trim();
  const main = common === undefined ? git : realOr(resolve(git, common));
  if (!existsSync(join(main, "config"))) return undefined;
  // Without the folder a command could create it; git itself creates it in every new repository.
  if (!existsSync(join(main, "hooks"))) mkdirSync(join(main, "hooks"), { recursive: true });
  const modules = [...subfolders(join(main, "modules"))].flatMap((folder) => [folder, ...subfolders(folder)]);
  const owners = [main, ...modules.filter((folder) => existsSync(join(folder, "config")))];
  const settings = [...owners, git].flatMap((folder) => [join(folder, "config"), join(folder, "config.worktree")]);
  const hooks = owners.map((folder) => join(folder, "hooks")).filter(isFolder);
  const more = configuredHooks(join(main, "config"), workspace);
  const exists = (path: string) => existsSync(path);
  return {
    folders: [...new Set([main, git])],
    protectedPaths: [...new Set([...hooks, ...more.filter(exists)])],
    settings: [...new Set(settings)].filter(exists),
  };
}
