// Stores the prompt index on disk. It is valid while every indexed file has the recorded time and size. Format version 1.
import { readFile } from "node:fs/promises";
import { NO_CONDITIONS, type SkillConditions } from "../core/skill.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import type { IndexFile } from "./find.ts";

export const SNAPSHOT_FILE = ".skills_prompt_snapshot.json";

export interface IndexedSkill {
  readonly skill_name: string;
  readonly category: string;
  readonly frontmatter_name: string;
  readonly description: string;
  readonly platforms: readonly string[];
  readonly conditions: SkillConditions;
}

export interface Snapshot {
  readonly skills: readonly IndexedSkill[];
  readonly categories: { readonly [category: string]: string };
}

interface StoredSnapshot {
  readonly version?: unknown;
  readonly manifest?: { readonly [rel: string]: readonly [number, number] };
  readonly skills?: readonly Partial<IndexedSkill>[] | undefined;
  readonly category_descriptions?: { readonly [category: string]: string };
}

function matches(stored: StoredSnapshot["manifest"], files: readonly IndexFile[]): boolean {
  if (stored === undefined || stored === null || typeof stored !== "object") return false;
  if (Object.keys(stored).length !== files.length) return false;
  // Nanosecond times exceed safe integers; both sides are rounded the same way.
  return files.every((file) => {
    const entry = stored[file.rel];
    return Array.isArray(entry) && entry[0] === Number(file.mtimeNs) && entry[1] === file.size;
  });
}

function complete(skill: Partial<IndexedSkill>): IndexedSkill {
  return {
    skill_name: skill.skill_name ?? "",
    category: skill.category ?? "general",
    frontmatter_name: skill.frontmatter_name ?? skill.skill_name ?? "",
    description: skill.description ?? "",
    platforms: skill.platforms ?? [],
    conditions: { ...NO_CONDITIONS, ...skill.conditions },
  };
}

/** Null when there is none, or when a file was changed, added or removed. */
export async function readSnapshot(path: string, files: readonly IndexFile[]): Promise<Snapshot | null> {
  const stored = parseJson(await readFile(path, "utf8").catch(() => "")) as StoredSnapshot | undefined | null;
  if (stored?.version !== 1 || !Array.isArray(stored.skills) || !matches(stored.manifest, files)) return null;
  return { skills: stored.skills.map(complete), categories: stored.category_descriptions ?? {} };
}

/** Writes times as integers with all digits, which JSON.stringify cannot do. */
export async function writeSnapshot(path: string, files: readonly IndexFile[], snapshot: Snapshot): Promise<void> {
  const manifest = files.map((file) => `    ${JSON.stringify(file.rel)}: [${file.mtimeNs}, ${file.size}]`).join(",\n");
  const text = `{
  "version": 1,
  "manifest": {
${manifest}
  },
  "skills": ${JSON.stringify(snapshot.skills)},
  "category_descriptions": ${JSON.stringify(snapshot.categories)}
}
`;
  await atomicWrite(path, text);
}
