// Reads a folder for the guard: every file with its mode, every link with its target.
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { isPathInside } from "../../lib/path-inside.ts";
import type { SkillFile } from "./finding.ts";

const MAX_READ = 4 * 1024 * 1024;
const MAX_ENTRIES = 2_000;

function linkState(dir: string, path: string): "inside" | "outside" | "broken" {
  if (!statSync(path, { throwIfNoEntry: false })) return "broken";
  return isPathInside(realpathSync(path), realpathSync(dir)) ? "inside" : "outside";
}

/** Includes hidden files but not `.git`. Only the first megabytes of huge files are read. */
export function readSkillFiles(dir: string): SkillFile[] {
  const files: SkillFile[] = [];
  const walk = (at: string): void => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      if (files.length >= MAX_ENTRIES) return;
      const path = join(at, entry.name);
      const rel = relative(dir, path).split(sep).join("/");
      if (entry.isSymbolicLink())
        files.push({ path: rel, content: "", link: { target: readlinkSync(path), state: linkState(dir, path) } });
      else if (entry.isDirectory()) {
        if (entry.name !== ".git") walk(path);
      } else if (entry.isFile())
        files.push({ path: rel, content: readFileSync(path).subarray(0, MAX_READ), mode: lstatSync(path).mode });
    }
  };
  walk(dir);
  return files;
}
