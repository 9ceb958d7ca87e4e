// Checks the requirements of a skill: variables, credential files, programs. Asks for missing secrets.
import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import type { SkillHeader, SkillRequest, SkillVariable } from "../core/skill.ts";
import { isPathInside } from "../lib/path-inside.ts";
import type { SkillHost } from "./skill-host.ts";

export interface SetupReport {
  readonly missing: readonly SkillVariable[];
  readonly missingFiles: readonly string[];
  readonly presentFiles: readonly string[];
  readonly missingCommands: readonly string[];
  /** Secrets of Hermes itself, which skills do not get. */
  readonly refused: readonly string[];
  /** The user was asked and entered nothing. */
  readonly skipped: boolean;
  readonly needed: boolean;
  /** What is missing and how to supply it, for the model and the user. */
  readonly note?: string | undefined;
  readonly gatewayHint?: string | undefined;
}

function question(skill: string, variable: SkillVariable): string {
  const why = variable.requiredFor ? ` for ${variable.requiredFor}` : "";
  const help = variable.help ? `\n  ${variable.help}` : "";
  return `The skill "${skill}" needs ${variable.name}${why}.${help}\n  ${variable.prompt} (empty to skip): `;
}

async function askFor(
  host: SkillHost,
  skill: string,
  variable: SkillVariable,
  request: SkillRequest,
): Promise<string | undefined> {
  const answer = (await request.human.secret(question(skill, variable), request.signal))?.trim();
  if (!answer) return undefined;
  await host.storeVariable(variable.name, answer);
  return answer;
}

/** The path of the file inside the home; undefined for paths outside it. */
export function credentialPath(home: string, path: string): string | undefined {
  if (isAbsolute(path) || path.split(/[/\\]/).includes("..")) return undefined;
  const full = resolve(home, path);
  if (!existsSync(full)) return full;
  return isPathInside(realpathSync(full), realpathSync(home)) ? full : undefined;
}

function checkFiles(home: string, header: SkillHeader): { missing: string[]; present: string[] } {
  const missing: string[] = [];
  const present: string[] = [];
  for (const { path } of header.credentialFiles) {
    const full = credentialPath(home, path);
    if (full !== undefined && existsSync(full)) present.push(full);
    else missing.push(path);
  }
  return { missing, present };
}

function setupNote(
  header: SkillHeader,
  missing: readonly SkillVariable[],
  files: readonly string[],
): string | undefined {
  const parts = [...missing.map((variable) => `env $${variable.name}`), ...files.map((file) => `file ${file}`)];
  if (parts.length === 0) return undefined;
  const helps = [...missing.map((variable) => variable.help), header.setupHelp].filter((help) => help !== undefined);
  const help = helps.length > 0 ? ` ${[...new Set(helps)].join(" ")}` : "";
  return `Setup is needed before all of this skill works: missing ${parts.join(", ")}.${help}`;
}

async function findMissingCommands(host: SkillHost, names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(names.map((name) => host.hasCommand(name)));
  return names.filter((_, index) => !found[index]);
}

/** Asks for missing secrets in a local terminal only. Available variables are passed to the conversation's commands. */
export async function setUp(
  host: SkillHost,
  skill: { readonly name: string; readonly header: SkillHeader },
  request: SkillRequest,
): Promise<SetupReport> {
  const { header } = skill;
  const missing: SkillVariable[] = [];
  const refused: string[] = [];
  const mayAsk = request.local && request.human.present;
  let skipped = false;
  for (const variable of header.variables) {
    let value = await host.variable(variable.name);
    if (!value && !variable.optional && mayAsk && !skipped) {
      value = await askFor(host, skill.name, variable, request);
      skipped = value === undefined;
    }
    if (value) {
      if (!host.declare(request.conversationId, variable.name, value)) refused.push(variable.name);
    } else if (!variable.optional) missing.push(variable);
  }
  const files = checkFiles(host.home, header);
  const note = setupNote(header, missing, files.missing);
  const hint =
    missing.length > 0 && !request.local
      ? `Secrets are not collected in chats. On the machine, run: hermes config set ${missing[0]?.name ?? ""} VALUE, or a line in ${join(host.home, ".env")}.`
      : undefined;
  return {
    missing,
    missingFiles: files.missing,
    presentFiles: files.present,
    missingCommands: await findMissingCommands(host, header.commands),
    refused,
    skipped,
    needed: note !== undefined,
    note,
    gatewayHint: hint,
  };
}
