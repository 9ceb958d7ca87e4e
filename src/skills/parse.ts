// Parses SKILL.md: every field of the format, in each of its notations.
import type { JsonObject } from "../core/message.ts";
import type { SkillConditions, SkillCredentialFile, SkillHeader, SkillSetting, SkillVariable } from "../core/skill.ts";
import { isRecord } from "../lib/json/is-record.ts";
import { parseFrontMatter } from "./front-matter.ts";

export const MAX_NAME = 64;
export const MAX_DESCRIPTION = 1024;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

type Fields = { readonly [key: string]: unknown };

export interface Mistake {
  readonly line: number;
  readonly message: string;
  readonly hint: string;
}

export interface ParsedSkill {
  readonly header: SkillHeader;
  readonly body: string;
  readonly mistakes: readonly Mistake[];
}

function mapping(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function text(value: unknown): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : value.trim();
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** A list, `[a, b]` as text, or `a, b`. */
function words(value: unknown): string[] {
  if (Array.isArray(value)) return value.map((item) => text(item) ?? "").filter((item) => item !== "");
  const whole = text(value);
  if (whole === undefined) return [];
  return whole
    .replace(/^\[(.*)\]$/, "$1")
    .split(",")
    .map((item) => item.trim().replace(/^(["'])(.*)\1$/, "$2"))
    .filter((item) => item !== "");
}

function entries(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

function variableFrom(entry: unknown): SkillVariable | undefined {
  const fields = mapping(entry);
  const name = text(entry) ?? text(fields.name) ?? text(fields.env_var);
  if (name === undefined || !ENV_NAME.test(name)) return undefined;
  const help = text(fields.help) ?? text(fields.provider_url) ?? text(fields.url);
  const requiredFor = text(fields.required_for);
  return {
    name,
    prompt: text(fields.prompt) ?? `Enter value for ${name}`,
    help,
    requiredFor,
    optional: fields.optional === true,
  };
}

/** Explicit entries, then secrets that the setup collects, then names of the older field; each name once. */
function variables(fields: Fields): SkillVariable[] {
  const found = new Map<string, SkillVariable>();
  const sources = [
    ...entries(fields.required_environment_variables),
    ...entries(mapping(fields.setup).collect_secrets),
    ...words(mapping(fields.prerequisites).env_vars),
  ];
  for (const source of sources) {
    const variable = variableFrom(source);
    if (variable && !found.has(variable.name)) found.set(variable.name, variable);
  }
  return [...found.values()];
}

function settings(value: unknown): SkillSetting[] {
  const found = new Map<string, SkillSetting>();
  for (const entry of entries(value)) {
    const fields = mapping(entry);
    const key = text(fields.key);
    const description = text(fields.description);
    if (key === undefined || description === undefined || found.has(key)) continue;
    const fallback = fields.default;
    const plain = ["string", "number", "boolean"].includes(typeof fallback);
    found.set(key, {
      key,
      description,
      prompt: text(fields.prompt) ?? description,
      default: plain ? (fallback as string | number | boolean) : undefined,
    });
  }
  return [...found.values()];
}

function credentialFiles(value: unknown): SkillCredentialFile[] {
  return entries(value).flatMap((entry) => {
    const fields = mapping(entry);
    const path = text(entry) ?? text(fields.path) ?? text(fields.name);
    const description = text(fields.description);
    return path === undefined ? [] : [{ path, description }];
  });
}

function conditions(hermes: Fields): SkillConditions {
  return {
    requires_toolsets: words(hermes.requires_toolsets),
    requires_tools: words(hermes.requires_tools),
    fallback_for_toolsets: words(hermes.fallback_for_toolsets),
    fallback_for_tools: words(hermes.fallback_for_tools),
  };
}

/** The first line of the body that is neither empty nor a heading. */
function firstSentence(body: string): string {
  const line = body.split("\n").find((candidate) => candidate.trim() !== "" && !candidate.trimStart().startsWith("#"));
  return line?.trim() ?? "";
}

/** The line of a top-level field, for messages. */
function findLine(source: string, field: string): number {
  const at = source.split("\n").findIndex((line) => line.startsWith(`${field}:`));
  return at < 0 ? 1 : at + 1;
}

function findMistakes(source: string, fields: Fields, body: string): Mistake[] {
  const found: Mistake[] = [];
  const name = text(fields.name);
  const description = text(fields.description);
  if (name === undefined)
    found.push({ line: 1, message: "`name` is missing", hint: "Add `name:` with the folder's name." });
  else if (name.length > MAX_NAME)
    found.push({
      line: findLine(source, "name"),
      message: `\`name\` has ${name.length} characters`,
      hint: `Use at most ${MAX_NAME}.`,
    });
  if (description === undefined)
    found.push({
      line: 1,
      message: "`description` is missing",
      hint: "Add `description:` with one sentence that says when to use the skill.",
    });
  else if (description.length > MAX_DESCRIPTION)
    found.push({
      line: findLine(source, "description"),
      message: `\`description\` has ${description.length} characters`,
      hint: `Use at most ${MAX_DESCRIPTION}.`,
    });
  if (body.trim() === "")
    found.push({ line: 1, message: "there are no instructions", hint: "Write what to do below the front matter." });
  for (const platform of words(fields.platforms))
    if (!["macos", "linux", "windows", "darwin", "win32"].includes(platform.toLowerCase()))
      found.push({
        line: findLine(source, "platforms"),
        message: `unknown platform "${platform}"`,
        hint: "Use macos, linux or windows.",
      });
  return found;
}

/** Never throws: a file with mistakes gives a skill with the fields that could be read. */
export async function parseSkill(source: string): Promise<ParsedSkill> {
  const { fields, body, mistakes } = await parseFrontMatter(source);
  const metadata = mapping(fields.metadata);
  const hermes = mapping(metadata.hermes);
  const tags = words(hermes.tags);
  const related = words(hermes.related_skills);
  const name = text(fields.name);
  const setupHelp = text(mapping(fields.setup).help);
  const header: SkillHeader = {
    name: name?.slice(0, MAX_NAME),
    description: (text(fields.description) ?? firstSentence(body)).slice(0, MAX_DESCRIPTION),
    version: text(fields.version),
    author: text(fields.author),
    license: text(fields.license),
    compatibility: text(fields.compatibility),
    dependencies: words(fields.dependencies),
    // agentskills.io separates them by spaces, others use commas.
    allowedTools: words(fields["allowed-tools"]).flatMap((item) => item.split(/\s+(?![^(]*\))/)),
    platforms: words(fields.platforms).map((word) => word.toLowerCase()),
    tags: tags.length > 0 ? tags : words(fields.tags),
    relatedSkills: related.length > 0 ? related : words(fields.related_skills),
    conditions: conditions(hermes),
    settings: settings(hermes.config),
    variables: variables(fields),
    credentialFiles: credentialFiles(fields.required_credential_files),
    commands: words(mapping(fields.prerequisites).commands),
    setupHelp,
    metadata: Object.keys(metadata).length > 0 ? (metadata as JsonObject) : undefined,
  };
  return { header, body, mistakes: mistakes.length > 0 ? mistakes : findMistakes(source, fields, body) };
}

const SYSTEM_NAMES: { readonly [platform: string]: string } = { macos: "darwin", windows: "win32" };

/** True when a skill supports this operating system (`process.platform`). */
export function runsOn(platforms: readonly string[], system: string): boolean {
  return platforms.length === 0 || platforms.some((name) => system.startsWith(SYSTEM_NAMES[name] ?? name));
}
