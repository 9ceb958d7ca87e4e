// Copies the bundled skills into the home. Skills that the user changed or deleted are not overwritten or restored.
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { atomicWrite } from "../lib/atomic-write.ts";
import { withFileLock } from "../lib/file-lock.ts";
import { hashFolder } from "./dir-hash.ts";
import { findIndexFiles } from "./find.ts";

export const MANIFEST_FILE = ".bundled_manifest";
const OPT_OUT = ".no-bundled-skills";

export interface SyncReport {
  readonly copied: readonly string[];
  readonly updated: readonly string[];
  readonly skipped: number;
  readonly user_modified: readonly string[];
  readonly cleaned: readonly string[];
  readonly total_bundled: number;
}

interface BundledSkill {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** One `name:md5` per line; older manifests have lines without a hash. */
export function readManifest(skillsDir: string): Map<string, string> {
  const path = join(skillsDir, MANIFEST_FILE);
  if (!existsSync(path)) return new Map();
  const lines = readFileSync(path, "utf8").split("\n");
  const pairs = lines.map((line) => line.trim()).filter((line) => line !== "");
  return new Map(
    pairs.map((line) => {
      const cut = line.lastIndexOf(":");
      return cut < 0 ? ([line, ""] as const) : ([line.slice(0, cut), line.slice(cut + 1)] as const);
    }),
  );
}

async function writeManifest(skillsDir: string, manifest: ReadonlyMap<string, string>): Promise<void> {
  const lines = [...manifest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, hash]) => `${name}:${hash}\n`);
  await atomicWrite(join(skillsDir, MANIFEST_FILE), lines.join(""));
}

function bundledSkills(source: string, skillsDir: string): BundledSkill[] {
  return findIndexFiles(source)
    .filter((file) => file.rel.endsWith("/SKILL.md"))
    .map((file) => {
      const rel = dirname(file.rel);
      return { name: rel.split("/").at(-1) ?? rel, from: dirname(file.path), to: join(skillsDir, rel) };
    });
}

/** Replaces a folder by a complete copy; restores the old one when that fails. */
function replaceFolder(from: string, to: string): void {
  const draft = `${to}.new`;
  const backup = `${to}.bak`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  cpSync(from, draft, { recursive: true });
  const existed = existsSync(to);
  if (existed) renameSync(to, backup);
  try {
    renameSync(draft, to);
  } catch (error) {
    if (existed) renameSync(backup, to);
    throw error;
  }
  rmSync(backup, { recursive: true, force: true });
}

type Outcome = "copied" | "updated" | "skipped" | "user_modified";

function syncOne(skill: BundledSkill, manifest: Map<string, string>): Outcome {
  const present = statSync(skill.to, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const recorded = manifest.get(skill.name);
  if (recorded === undefined && !present) {
    replaceFolder(skill.from, skill.to);
    manifest.set(skill.name, hashFolder(skill.to));
    return "copied";
  }
  // The user deleted it: it is not restored.
  if (!present) return "skipped";
  const local = hashFolder(skill.to);
  const shipped = hashFolder(skill.from);
  if (recorded === undefined) {
    if (local === shipped) manifest.set(skill.name, local);
    return local === shipped ? "skipped" : "user_modified";
  }
  if (recorded === "") {
    manifest.set(skill.name, local);
    return "skipped";
  }
  if (local !== recorded) return "user_modified";
  if (shipped === local) return "skipped";
  replaceFolder(skill.from, skill.to);
  manifest.set(skill.name, shipped);
  return "updated";
}

function copyDescriptions(source: string, skillsDir: string): void {
  for (const file of findIndexFiles(source)) {
    const to = join(skillsDir, file.rel);
    if (!file.rel.endsWith("DESCRIPTION.md") || existsSync(to) || !existsSync(dirname(to))) continue;
    cpSync(file.path, to);
  }
}

/** True when the home opted out of bundled skills. */
export function optedOut(home: string): boolean {
  return existsSync(join(home, OPT_OUT));
}

/** Idempotent, and fast when nothing changed. `source` is the folder of bundled skills. */
export async function syncBundled(home: string, source: string): Promise<SyncReport> {
  const skillsDir = join(home, "skills");
  const report = { copied: [] as string[], updated: [] as string[], user_modified: [] as string[] };
  const skills = optedOut(home) ? [] : bundledSkills(source, skillsDir);
  if (skills.length === 0) return { ...report, skipped: 0, cleaned: [], total_bundled: 0 };
  return withFileLock(join(skillsDir, MANIFEST_FILE), async () => {
    const manifest = readManifest(skillsDir);
    const before = JSON.stringify([...manifest]);
    let skipped = 0;
    for (const skill of skills) {
      const outcome = syncOne(skill, manifest);
      if (outcome === "skipped") skipped++;
      else report[outcome].push(skill.name);
    }
    const names = new Set(skills.map((skill) => skill.name));
    const cleaned = [...manifest.keys()].filter((name) => !names.has(name));
    for (const name of cleaned) manifest.delete(name);
    copyDescriptions(source, skillsDir);
    if (JSON.stringify([...manifest]) !== before) await writeManifest(skillsDir, manifest);
    return { ...report, skipped, cleaned, total_bundled: skills.length };
  });
}

export type ResetOutcome = "manifest_cleared" | "restored" | "not_in_manifest" | "bundled_missing";

/** Makes a bundled skill receive updates again; with `restore` the user's copy is replaced. */
export async function resetBundled(
  home: string,
  source: string,
  name: string,
  options: { readonly restore: boolean },
): Promise<ResetOutcome> {
  const skillsDir = join(home, "skills");
  const skill = bundledSkills(source, skillsDir).find((candidate) => candidate.name === name);
  const known = readManifest(skillsDir).has(name);
  if (!skill) return known ? "bundled_missing" : "not_in_manifest";
  if (!known && !options.restore) return "not_in_manifest";
  await withFileLock(join(skillsDir, MANIFEST_FILE), async () => {
    const manifest = readManifest(skillsDir);
    manifest.delete(name);
    await writeManifest(skillsDir, manifest);
    if (options.restore) rmSync(skill.to, { recursive: true, force: true });
  });
  await syncBundled(home, source);
  return options.restore ? "restored" : "manifest_cleared";
}
