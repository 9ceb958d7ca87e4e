// The result of skill_view: a skill with its metadata and file list, or one of its files.
import { readFile } from "node:fs/promises";
import { basename, dirname, extname, relative } from "node:path";
import type { JsonObject } from "../core/message.ts";
import type { SkillRequest } from "../core/skill.ts";
import { isPathInside } from "../lib/path-inside.ts";
import { settingsBlock } from "./activation.ts";
import type { Catalog } from "./catalog.ts";
import { type Loaded, loadSkill, readHeader, skillName } from "./load.ts";
import { locate } from "./locate.ts";
import { runsOn } from "./parse.ts";
import { insideSkill, isText, linkedFiles } from "./skill-files.ts";
import type { SkillHost } from "./skill-host.ts";

export interface Answer {
  readonly ok: boolean;
  readonly fields: JsonObject;
  /** The loaded skill, for the usage counters. */
  readonly used?: string | undefined;
  readonly credentialFiles?: readonly string[] | undefined;
}

export interface Library {
  readonly host: SkillHost;
  readonly catalog: Catalog;
  /** Known plugin skills of a namespace, by name; undefined for an unknown namespace. */
  plugin(namespace: string): ReadonlyMap<string, string> | undefined;
}

const failure = (error: string, extra: JsonObject = {}): Answer => ({
  ok: false,
  fields: { success: false, error, ...extra },
});

async function viewFile(name: string, dir: string, filePath: string): Promise<Answer> {
  const inside = insideSkill(dir, filePath);
  if (!inside.ok) return failure(inside.error);
  let bytes: Buffer;
  try {
    bytes = await readFile(inside.path);
  } catch {
    return failure(`${filePath} is not in the skill "${name}"`, { available_files: linkedFiles(dir) });
  }
  const fields = { success: true, name, file: filePath, file_type: extname(filePath) };
  if (!isText(bytes))
    return { ok: true, fields: { ...fields, is_binary: true, content: `binary file, ${bytes.length} bytes` } };
  return { ok: true, fields: { ...fields, content: bytes.toString("utf8") } };
}

function optional(loaded: Loaded): JsonObject {
  const { header, setup } = loaded;
  const help = setup.missing.map((variable) => variable.help).find((text) => text !== undefined) ?? header.setupHelp;
  return {
    ...(setup.needed && help ? { setup_help: help } : {}),
    ...(setup.note ? { setup_note: setup.note } : {}),
    ...(setup.gatewayHint ? { gateway_setup_hint: setup.gatewayHint } : {}),
    ...(header.compatibility ? { compatibility: header.compatibility } : {}),
    ...(header.metadata ? { metadata: header.metadata } : {}),
  };
}

function mainFields(library: Library, loaded: Loaded): JsonObject {
  const { host, catalog } = library;
  const { header, setup, linked } = loaded;
  const root = catalog.roots().find((candidate) => isPathInside(loaded.file, candidate.path));
  const settings = settingsBlock(host, header.settings);
  return {
    success: true,
    name: loaded.name,
    description: header.description,
    tags: [...header.tags],
    related_skills: [...header.relatedSkills],
    content: settings === "" ? loaded.content : `${loaded.content.trimEnd()}\n\n${settings}`,
    path: root ? relative(root.path, loaded.file) : loaded.file,
    skill_dir: loaded.dir,
    linked_files: Object.keys(linked).length > 0 ? (linked as JsonObject) : null,
    usage_hint:
      Object.keys(linked).length > 0
        ? `Read a file with skill_view(name="${loaded.name}", file_path="references/…"); run scripts from ${loaded.dir}.`
        : null,
    required_environment_variables: header.variables.map((variable) => ({
      name: variable.name,
      prompt: variable.prompt,
      ...(variable.help ? { help: variable.help } : {}),
      ...(variable.requiredFor ? { required_for: variable.requiredFor } : {}),
    })),
    required_commands: [...header.commands],
    missing_required_environment_variables: setup.missing.map((variable) => variable.name),
    missing_credential_files: [...setup.missingFiles],
    missing_required_commands: [...setup.missingCommands],
    setup_needed: setup.needed,
    setup_skipped: setup.skipped,
    readiness_status: setup.needed ? "setup_needed" : "available",
    ...optional(loaded),
  };
}

function banner(namespace: string, siblings: readonly string[]): string {
  const others = siblings.length > 0 ? ` Its other skills: ${siblings.join(", ")}.` : "";
  return `[This skill belongs to the plugin "${namespace}".${others}]\n\n`;
}

/** Undefined when no plugin has this namespace: the name is then looked up as a path. */
async function viewPluginSkill(library: Library, name: string, request: SkillRequest): Promise<Answer | undefined> {
  const [namespace = "", bare = ""] = name.split(":", 2);
  if (!/^[A-Za-z0-9_-]+$/.test(namespace)) return failure(`"${namespace}" is not a plugin's name`);
  const skills = library.plugin(namespace);
  if (!skills) return undefined;
  const file = skills.get(bare);
  if (!file)
    return failure(`the plugin "${namespace}" has no skill "${bare}"`, { available_skills: [...skills.keys()] });
  const siblings = [...skills.keys()].filter((other) => other !== bare).map((other) => `${namespace}:${other}`);
  try {
    const loaded = await loadSkill(library.host, { file, dir: dirname(file) }, request, "skill_view");
    const fields = {
      success: true,
      name,
      content: banner(namespace, siblings) + loaded.content,
      description: loaded.header.description,
      linked_files: null,
      skill_dir: loaded.dir,
      readiness_status: loaded.setup.needed ? "setup_needed" : "available",
    };
    return { ok: true, fields };
  } catch {
    return failure(`the file of "${name}" does not exist: ${file}`);
  }
}

/** A name that finds exactly this skill: its folder, or its file for a skill of one file. */
function spelling(file: string): string {
  return basename(file) === "SKILL.md" ? dirname(file) : file;
}

/** Finds the skill with this name; a failure lists similar names. */
export async function resolveSkill(
  library: Library,
  name: string,
  platform: string | undefined,
): Promise<{ readonly file: string; readonly dir: string } | Answer> {
  const located = await locate(library.catalog, name.replace(":", "/"));
  if (located.kind === "ambiguous")
    return failure(`several skills are called "${name}"; use one of these paths as the name`, {
      matches: located.matches.map((file) => spelling(file)),
    });
  if (located.kind === "none") {
    const hint = located.names.length > 0 ? "Use skills_list to see them all." : "No skills are installed.";
    return failure(`there is no skill "${name}"`, { available_skills: [...located.names], hint });
  }
  const { header } = await readHeader(located.file);
  const real = skillName(header, located);
  if (!runsOn(header.platforms, library.host.system))
    return failure(`the skill "${real}" is for ${header.platforms.join(", ")}, not for this system`, {
      readiness_status: "unsupported",
    });
  if (library.host.settings().disabled(platform).has(real))
    return failure(`the skill "${real}" is disabled; the user can enable it with: hermes skills config`);
  return located;
}

export async function viewSkill(
  library: Library,
  args: { readonly name: string; readonly filePath?: string | undefined },
  request: SkillRequest,
): Promise<Answer> {
  if (args.name.includes(":")) {
    const answer = await viewPluginSkill(library, args.name, request);
    if (answer) return answer;
  }
  const skill = await resolveSkill(library, args.name, request.platform);
  if ("fields" in skill) return skill;
  if (args.filePath !== undefined && args.filePath !== "") return viewFile(args.name, skill.dir, args.filePath);
  const loaded = await loadSkill(library.host, skill, request, "skill_view");
  return {
    ok: true,
    fields: mainFields(library, loaded),
    used: loaded.name,
    credentialFiles: loaded.setup.presentFiles,
  };
}
