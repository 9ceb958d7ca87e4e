// Actions of `hermes skills` on the skills of this home: list, enable, configure, reset, review quarantined changes.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../core/config/config.ts";
import { UserError } from "../core/failure.ts";
import type { Settings } from "../core/settings.ts";
import type { QuarantinedSkill, SkillProblem, SkillSetting, Skills } from "../core/skill.ts";
import { getAt, splitPath } from "../lib/json/tree-path.ts";
import { nearest } from "../lib/nearest.ts";
import { type ResetOutcome, readManifest, resetBundled } from "./bundled-sync.ts";
import { declaredSettings } from "./declared-settings.ts";
import { HubLock } from "./hub/lock.ts";
import { parseSkill } from "./parse.ts";

export interface SkillRow {
  readonly name: string;
  readonly category: string;
  readonly description: string;
  /** `hub`, `builtin`, `local`, `external` or `plugin`. */
  readonly source: string;
  readonly trust: string;
  readonly enabled: boolean;
  readonly dir: string;
  /** For skills from a hub. */
  readonly identifier?: string | undefined;
}

export interface OwnSkills {
  readonly skills: readonly SkillRow[];
  readonly problems: readonly SkillProblem[];
  /** Changes by the agent that wait for approval. */
  readonly waiting: readonly QuarantinedSkill[];
}

export interface SettingValue extends SkillSetting {
  readonly skill: string;
  readonly value: unknown;
}

export interface OwnSkillActions {
  list(platform?: string): Promise<OwnSkills>;
  /** Settings that skills declare, with their values. */
  settings(skill?: string): Promise<readonly SettingValue[]>;
  set(key: string, text: string): Promise<void>;
  switch(skill: string, on: boolean, platform?: string): Promise<void>;
  reset(name: string, restore: boolean): Promise<ResetOutcome>;
  waitingFiles(id: string): Promise<{ readonly [path: string]: string | null }>;
  approve(id: string): Promise<string>;
  reject(id: string): Promise<void>;
}

export interface OwnSkillsDeps {
  /** Path of the home. */
  readonly home: string;
  /** The folder of bundled skills; null when this installation has none. */
  readonly bundled: string | null;
  readonly settings: Pick<Settings, "load" | "set">;
  /** Opens the skills; every action closes them again. */
  open(): Promise<{ skills(): Promise<Skills>; close(): Promise<void> }>;
}

async function withSkills<T>(deps: OwnSkillsDeps, work: (skills: Skills) => Promise<T>): Promise<T> {
  const app = await deps.open();
  try {
    return await work(await app.skills());
  } finally {
    await app.close();
  }
}

async function readDisabled(deps: OwnSkillsDeps, platform: string | undefined): Promise<readonly string[]> {
  const { config } = await deps.settings.load();
  const byPlatform = config.skills.platform_disabled as { readonly [name: string]: readonly string[] | undefined };
  return (platform === undefined ? undefined : byPlatform[platform]) ?? (config.skills.disabled as readonly string[]);
}

async function list(deps: OwnSkillsDeps, skills: Skills, platform?: string): Promise<OwnSkills> {
  const [{ skills: all, problems }, waiting] = await Promise.all([
    skills.list({ everything: true }),
    skills.quarantined(),
  ]);
  const skillsDir = join(deps.home, "skills");
  const bundled = readManifest(skillsDir);
  const installed = await new HubLock(skillsDir).read();
  const disabled = new Set(await readDisabled(deps, platform));
  const rows = all.map((skill): SkillRow => {
    const atHome = skill.root.kind === "home";
    const entry = atHome ? installed.get(skill.folder) : undefined;
    const builtin = atHome && bundled.has(skill.folder);
    return {
      name: skill.name,
      category: skill.category,
      description: skill.description,
      source: entry ? "hub" : builtin ? "builtin" : atHome ? "local" : skill.root.kind,
      trust: entry ? entry.trust_level : builtin ? "builtin" : "own",
      enabled: !disabled.has(skill.name),
      dir: skill.dir,
      identifier: entry?.identifier,
    };
  });
  return { skills: rows, problems, waiting };
}

async function listSettings(deps: OwnSkillsDeps, skills: Skills, wanted?: string): Promise<SettingValue[]> {
  const { config } = await deps.settings.load();
  const { skills: all } = await skills.list({ everything: true });
  const chosen = wanted === undefined ? all : all.filter((skill) => skill.name === wanted || skill.folder === wanted);
  if (wanted !== undefined && chosen.length === 0)
    throw unknownSkill(
      wanted,
      all.map((skill) => skill.name),
    );
  const found: SettingValue[] = [];
  for (const skill of chosen) {
    const { header } = await parseSkill(await readFile(skill.file, "utf8"));
    for (const setting of header.settings)
      found.push({ ...setting, skill: skill.name, value: getAt(config.skills.config, splitPath(setting.key)) });
  }
  return found;
}

function unknownSkill(name: string, names: readonly string[]): UserError {
  const guess = nearest(name, names);
  return new UserError(`there is no skill "${name}"${guess ? `; did you mean ${guess}?` : ""}`, {
    hint: "See: hermes skills list",
  });
}

async function switchSkill(deps: OwnSkillsDeps, name: string, on: boolean, platform?: string): Promise<void> {
  const { skills } = await withSkills(deps, (service) => service.list({ everything: true }));
  const names = skills.map((skill) => skill.name);
  if (!names.includes(name)) throw unknownSkill(name, names);
  const before = await readDisabled(deps, platform);
  const after = on ? before.filter((other) => other !== name) : [...new Set([...before, name])];
  const key = platform === undefined ? "skills.disabled" : `skills.platform_disabled.${platform}`;
  await deps.settings.set(key, JSON.stringify(after));
}

export type DeclaredSettings = Awaited<ReturnType<typeof declaredSettings>>;

/** Settings that the enabled skills of a home declare. Reads the files only, so it needs no open program. */
export function homeSkillSettings(home: string, skills: Config["skills"]): Promise<DeclaredSettings> {
  return declaredSettings([join(home, "skills")], skills.config, skills.disabled);
}

export function ownSkillActions(deps: OwnSkillsDeps): OwnSkillActions {
  return {
    list: (platform) => withSkills(deps, (skills) => list(deps, skills, platform)),
    settings: (skill) => withSkills(deps, (skills) => listSettings(deps, skills, skill)),
    set: async (key, text) => void (await deps.settings.set(`skills.config.${key}`, text)),
    switch: (skill, on, platform) => switchSkill(deps, skill, on, platform),
    reset: async (name, restore) => {
      if (deps.bundled === null) throw new UserError("this installation has no bundled skills");
      return resetBundled(deps.home, deps.bundled, name, { restore });
    },
    waitingFiles: (id) => withSkills(deps, (skills) => skills.quarantinedFiles(id)),
    approve: async (id) => (await withSkills(deps, (skills) => skills.approve(id))).name,
    reject: (id) => withSkills(deps, (skills) => skills.reject(id)),
  };
}
