// Settings that the skills in some folders declare, read from the files alone: no skill is loaded or run.
import { readFile } from "node:fs/promises";
import { maskTree } from "../core/config/mask.ts";
import { getAt, splitPath } from "../lib/json/tree-path.ts";
import { findIndexFiles, splitSkillPath } from "./find.ts";
import { parseSkill } from "./parse.ts";

interface DeclaredSetting {
  /** The path in config.yaml: `skills.config.<key>`. */
  readonly path: string;
  readonly skill: string;
  readonly description: string;
  /** The value in use, secrets masked; undefined when it is not set and has no default. */
  readonly value: unknown;
  readonly set: boolean;
}

/** `values` is the content of `skills.config`. Disabled skills are left out; of equal keys the first skill counts. */
export async function declaredSettings(
  roots: readonly string[],
  values: object,
  disabled: readonly string[],
): Promise<DeclaredSetting[]> {
  const found = new Map<string, DeclaredSetting>();
  const files = roots.flatMap(findIndexFiles).filter((file) => file.rel.endsWith("SKILL.md"));
  for (const { path, rel } of files) {
    const text = await readFile(path, "utf8").catch(() => "");
    // Most skills have no settings, and parsing all of them takes long.
    if (!/^\s+config\s*:/m.test(text)) continue;
    const { header } = await parseSkill(text);
    const skill = header.name ?? splitSkillPath(rel).folder;
    if (disabled.includes(skill)) continue;
    for (const { key, description, default: fallback } of header.settings) {
      const own = getAt(values, splitPath(key));
      const value = maskTree(own ?? fallback, splitPath(key).at(-1));
      const setting = { path: `skills.config.${key}`, skill, description, value, set: own !== undefined };
      if (!found.has(key)) found.set(key, setting);
    }
  }
  return [...found.values()];
}
