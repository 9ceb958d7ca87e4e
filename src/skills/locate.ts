// Finds one skill by path, by folder name, or by the name in its front matter.
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import type { SkillEntry } from "../core/skill.ts";
import { isPathInside } from "../lib/path-inside.ts";
import type { Catalog } from "./catalog.ts";

export type Located =
  | { readonly kind: "found"; readonly file: string; readonly dir: string }
  | { readonly kind: "ambiguous"; readonly matches: readonly string[] }
  | { readonly kind: "none"; readonly names: readonly string[] };

const SAFE_PART = /^[A-Za-z0-9_][A-Za-z0-9._ -]*$/;

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function byPath(root: string, name: string): string[] {
  if (isAbsolute(name)) {
    const file = name.endsWith(".md") ? name : join(name, "SKILL.md");
    return isPathInside(file, root) && isFile(file) ? [file] : [];
  }
  const parts = name.split("/");
  if (!parts.every((part) => SAFE_PART.test(part) && part !== "..")) return [];
  const nested = join(root, ...parts, "SKILL.md");
  if (isFile(nested)) return [nested];
  const flat = join(root, `${parts.join("/")}.md`);
  return isFile(flat) ? [flat] : [];
}

function distinct(files: readonly string[]): string[] {
  const real = new Map<string, string>();
  for (const file of files) {
    const key = existsSync(file) ? realpathSync(file) : file;
    if (!real.has(key)) real.set(key, file);
  }
  return [...real.values()];
}

function toLocated(files: readonly string[]): Located | undefined {
  const found = distinct(files);
  const only = found[0];
  if (only === undefined) return undefined;
  return found.length === 1 ? { kind: "found", file: only, dir: dirname(only) } : { kind: "ambiguous", matches: found };
}

/** An ambiguous name is an error that lists all matches. */
export async function locate(catalog: Catalog, name: string): Promise<Located> {
  const { skills } = await catalog.all();
  const paths = catalog.roots().flatMap((root) => byPath(root.path, name));
  const folders = skills.filter((skill) => skill.folder === name).map((skill) => skill.file);
  const direct = toLocated([...paths, ...folders]);
  if (direct) return direct;
  const wanted = name.toLowerCase();
  const named = toLocated(skills.filter((skill) => skill.name.toLowerCase() === wanted).map((skill) => skill.file));
  return named ?? { kind: "none", names: nearNames(skills, name) };
}

/** Names that share a word with the requested one come first. */
function nearNames(skills: readonly SkillEntry[], name: string): string[] {
  const words = name.toLowerCase().split(/[^a-z0-9]+/);
  const score = (skill: SkillEntry) =>
    words.filter((word) => word.length > 2 && skill.name.toLowerCase().includes(word)).length;
  return [...skills]
    .sort((a, b) => score(b) - score(a) || (a.name < b.name ? -1 : 1))
    .slice(0, 20)
    .map((skill) => skill.name);
}
