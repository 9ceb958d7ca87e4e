// Finds the project folder of a path, which a checkpoint covers, and excludes folders that are too large.
import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { isPathInside } from "../../lib/path-inside.ts";

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

function nearestExisting(path: string): string {
  let folder = path;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return realpathSync(folder);
}

/** The nearest parent below the home that contains a project file such as package.json; without one the folder itself. */
export function projectRoot(folder: string, userHome: string): string {
  const start = nearestExisting(folder);
  for (let at = start; at !== userHome && dirname(at) !== at; at = dirname(at)) {
    if (MARKERS.some((marker) => existsSync(join(at, marker)))) return at;
  }
  return start;
}

/** Why a folder gets no checkpoints; undefined when it does. */
export function rootProblem(root: string, homes: { userHome: string; hermesHome: string }): string | undefined {
  if (dirname(root) === root) return "the whole disk is never covered";
  if (isPathInside(homes.userHome, root)) return "the home folder is never covered";
  if (isPathInside(homes.hermesHome, root)) return "it contains the Hermes home";
  if (["/tmp", "/var", "/etc", "/usr", "/opt", "/home"].includes(root)) return `${root} is a system folder`;
  return undefined;
}

/** The name of a project in the store. */
export function projectHash(root: string): string {
  return createHash("sha256").update(root).digest("hex").slice(0, 16);
}
