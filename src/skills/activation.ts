// Builds the user message that loads a skill. Skills are not part of the system prompt, so the cached prefix is kept.
import { join } from "node:path";
import type { SkillSetting } from "../core/skill.ts";
import type { SetupReport } from "./setup.ts";
import type { SkillHost } from "./skill-host.ts";

export interface LoadedSkill {
  readonly name: string;
  readonly dir: string;
  /** The whole text of SKILL.md, preprocessed. */
  readonly content: string;
  readonly settings: readonly SkillSetting[];
  readonly setup: SetupReport;
  readonly linked: { readonly [folder: string]: readonly string[] };
}

/** The effective value: the user's setting or the declared default, with `~` and `${}` expanded. */
export function settingValue(host: SkillHost, setting: SkillSetting): string {
  const set = host.settings().value(setting.key);
  const blank = set === undefined || set === null || set === "";
  const value = blank ? setting.default : set;
  if (value === undefined || value === "") return "(not set)";
  return typeof value === "object" ? JSON.stringify(value) : host.expand(String(value));
}

export function settingsBlock(host: SkillHost, settings: readonly SkillSetting[]): string {
  if (settings.length === 0) return "";
  const lines = settings.map((setting) => `  ${setting.key} = ${settingValue(host, setting)}`);
  return `[Skill config (from ${join(host.home, "config.yaml")}):\n${lines.join("\n")}\n]`;
}

function filesBlock(skill: LoadedSkill): string {
  const files = Object.values(skill.linked).flat();
  if (files.length === 0) return "";
  const lines = files.map((file) => `- ${file} -> ${join(skill.dir, file)}`);
  return `[This skill has supporting files:]\n${lines.join("\n")}\nRead one with skill_view(name="${skill.name}", file_path="…"), or run a script by its absolute path.`;
}

function setupBlock(setup: SetupReport): string {
  const notes = [setup.note, setup.gatewayHint].filter((note) => note !== undefined);
  if (setup.missingCommands.length > 0) notes.push(`Not installed here: ${setup.missingCommands.join(", ")}.`);
  return notes.length > 0 ? `[Skill setup: ${notes.join(" ")}]` : "";
}

/** `why` is the note at the top: the user typed a command, or the skill was preloaded. */
export function activationText(
  host: SkillHost,
  skill: LoadedSkill,
  why: "command" | "preload",
  instruction = "",
): string {
  const header =
    why === "command"
      ? `[The user called the skill "${skill.name}". Follow its instructions; they are loaded below.]`
      : `[The user loaded the skill "${skill.name}" for this session. Follow its instructions whenever they apply.]`;
  return [
    header,
    skill.content.trim(),
    `[Skill directory: ${skill.dir}]\nRelative paths in this skill start there.`,
    settingsBlock(host, skill.settings),
    setupBlock(skill.setup),
    filesBlock(skill),
    instruction === "" ? "" : `The user's instruction with the skill: ${instruction}`,
  ]
    .filter((block) => block !== "")
    .join("\n\n");
}
