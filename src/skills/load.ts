// Loads one skill: reads it, runs its setup, fills in placeholders. Used by the tool, slash commands and preloading.
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { SkillHeader, SkillRequest } from "../core/skill.ts";
import type { LoadedSkill } from "./activation.ts";
import { parseSkill } from "./parse.ts";
import { preprocess } from "./preprocess.ts";
import { setUp } from "./setup.ts";
import { linkedFiles } from "./skill-files.ts";
import type { SkillHost } from "./skill-host.ts";

export interface Loaded extends LoadedSkill {
  readonly file: string;
  readonly header: SkillHeader;
}

export async function readHeader(file: string): Promise<{ source: string; header: SkillHeader }> {
  const source = await readFile(file, "utf8");
  const { header } = await parseSkill(source);
  return { source, header };
}

export function skillName(header: SkillHeader, skill: { readonly dir: string; readonly file: string }): string {
  if (header.name !== undefined) return header.name;
  return basename(skill.file) === "SKILL.md" ? basename(skill.dir) : basename(skill.file, ".md");
}

export async function loadSkill(
  host: SkillHost,
  skill: { readonly file: string; readonly dir: string },
  request: SkillRequest,
  toolName: string,
): Promise<Loaded> {
  const { source, header } = await readHeader(skill.file);
  const name = skillName(header, skill);
  const setup = await setUp(host, { name, header }, request);
  const { sessionId, human, signal } = request;
  const content = await preprocess(host, source, {
    dir: skill.dir,
    sessionId,
    gate: { sessionId, toolName, human, signal, tainted: request.tainted ?? false },
  });
  return {
    name,
    dir: skill.dir,
    file: skill.file,
    content,
    header,
    settings: header.settings,
    setup,
    linked: linkedFiles(skill.dir),
  };
}
