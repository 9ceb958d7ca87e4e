// Lists the files of a skill, and resolves paths that must stay inside it.
import { readdirSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { isPathInside } from "../lib/path-inside.ts";
import { SUPPORT_FOLDERS } from "./find.ts";

const LISTED: { readonly [folder: string]: RegExp } = {
  references: /\.md$/i,
  templates: /\.(md|py|ya?ml|json|tex|sh)$/i,
  assets: /./,
  scripts: /\.(py|sh|bash|js|mjs|ts|rb)$/i,
};
const MAX_LISTED = 200;

function filesBelow(dir: string, prefix: string): string[] {
  let entries: string[];
  try {
    entries = readdirSync(dir, { recursive: true, encoding: "utf8" });
  } catch {
    // The folder does not exist: nothing to list.
    return [];
  }
  return entries
    .filter((name) => !name.split(sep).some((part) => part.startsWith(".") || part === "__pycache__"))
    .filter((name) => statSync(join(dir, name), { throwIfNoEntry: false })?.isFile())
    .map((name) => `${prefix}/${name.split(sep).join("/")}`)
    .sort()
    .slice(0, MAX_LISTED);
}

/** Supporting files by folder, without empty folders. */
export function linkedFiles(dir: string): { [folder: string]: string[] } {
  const found: { [folder: string]: string[] } = {};
  for (const folder of SUPPORT_FOLDERS) {
    const files = filesBelow(join(dir, folder), folder).filter((name) => LISTED[folder]?.test(name));
    if (files.length > 0) found[folder] = files;
  }
  return found;
}

export type Inside = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly error: string };

/** A path below the skill's folder with links resolved; refuses paths outside it. */
export function insideSkill(dir: string, given: string): Inside {
  const parts = given.split(/[/\\]/);
  if (given === "" || isAbsolute(given) || /^[A-Za-z]:/.test(given) || parts.includes(".."))
    return { ok: false, error: `file_path must be a path inside the skill, without "..": ${given}` };
  const path = resolve(dir, given);
  if (!isPathInside(realNearest(path), realpathSync(dir)))
    return { ok: false, error: `${given} is outside the skill's folder` };
  return { ok: true, path };
}

/** The real path of the nearest existing parent, with the rest appended. */
function realNearest(path: string): string {
  const rest: string[] = [];
  let current = path;
  for (;;) {
    if (statSync(current, { throwIfNoEntry: false })) return join(realpathSync(current), ...rest);
    const parent = resolve(current, "..");
    if (parent === current) return path;
    rest.unshift(relative(parent, current));
    current = parent;
  }
}

/** True for a file that can be shown as text. */
export function isText(bytes: Uint8Array): boolean {
  if (bytes.subarray(0, 8_192).includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
