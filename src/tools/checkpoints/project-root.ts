// Which folder a checkpoint covers: the project that a path belongs to, and which folders are never covered.
import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, sep } from "node:path";

const MARKERS = [
  ".git",
  ".hg",
  ".svn",
  "package.json",
  "pyproject.toml",
  "setup.py",
  "requirements.txt",
  "Cargo.toml",
  "go.mod",
  "pom.xml",
  "build.gradle",
  "CMakeLists.txt",
  "Makefile",
  "Gemfile",
  "composer.json",
  "mix.exs",
];

export function contains(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside === "" || (inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside));
}

function nearestExisting(path: string): string {
  let folder = path;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return realpathSync(folder);
}

/** The nearest folder above that holds a project's mark; the folder itself when there is none below the home. */
export function projectRoot(folder: string, userHome: string): string {
  const start = nearestExisting(folder);
  for (let at = start; at !== userHome && dirname(at) !== at; at = dirname(at)) {
    if (MARKERS.some((marker) => existsSync(join(at, marker)))) return at;
  }
  return start;
}

/** Why a folder gets no checkpoints; undefined when it does. */
export function rootProblem(root: string, places: { userHome: string; hermesHome: string }): string | undefined {
  if (dirname(root) === root) return "the whole disk is never covered";
  if (contains(root, places.userHome)) return "the home folder is never covered";
  if (contains(root, places.hermesHome)) return "it holds the Hermes home";
  if (["/tmp", "/var", "/etc", "/usr", "/opt", "/home"].includes(root)) return `${root} is shared by everything`;
  return undefined;
}

/** The name of a project in the store. */
export function projectHash(root: string): string {
  return createHash("sha256").update(root).digest("hex").slice(0, 16);
}
