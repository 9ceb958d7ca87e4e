// A skill: instructions in a SKILL.md that the agent loads as a user message when a task needs them.
import type { Human } from "./human.ts";
import type { JsonObject } from "./message.ts";

/** When a skill shows up in the prompt: hidden unless all `requires` are there and none of the `fallback` ones is. */
export interface SkillConditions {
  readonly requires_toolsets: readonly string[];
  readonly requires_tools: readonly string[];
  readonly fallback_for_toolsets: readonly string[];
  readonly fallback_for_tools: readonly string[];
}

/** A setting that a skill reads from `skills.config` in config.yaml. */
export interface SkillSetting {
  readonly key: string;
  readonly description: string;
  readonly prompt: string;
  readonly default?: string | number | boolean | undefined;
}

/** A variable that a skill needs in the environment of its commands. */
export interface SkillVariable {
  readonly name: string;
  readonly prompt: string;
  readonly help?: string | undefined;
  readonly requiredFor?: string | undefined;
  readonly optional: boolean;
}

/** A file with credentials, relative to the home directory. */
export interface SkillCredentialFile {
  readonly path: string;
  readonly description?: string | undefined;
}

/** Something wrong in a SKILL.md, with the line it is in and what to do about it. */
export interface SkillProblem {
  readonly file: string;
  readonly line: number;
  readonly message: string;
  readonly hint: string;
}

/** The front matter of a SKILL.md, normalised. */
export interface SkillHeader {
  /** Undefined when the file has none: the name of its folder is used. */
  readonly name?: string | undefined;
  readonly description: string;
  readonly version?: string | undefined;
  readonly author?: string | undefined;
  readonly license?: string | undefined;
  readonly compatibility?: string | undefined;
  readonly dependencies: readonly string[];
  readonly allowedTools: readonly string[];
  /** `macos`, `linux`, `windows`; empty means everywhere. */
  readonly platforms: readonly string[];
  readonly tags: readonly string[];
  readonly relatedSkills: readonly string[];
  readonly conditions: SkillConditions;
  readonly settings: readonly SkillSetting[];
  readonly variables: readonly SkillVariable[];
  readonly credentialFiles: readonly SkillCredentialFile[];
  readonly commands: readonly string[];
  readonly setupHelp?: string | undefined;
  readonly metadata?: JsonObject | undefined;
}

/** A folder that holds skills. The first root that has a name wins in lists. */
export interface SkillRoot {
  readonly path: string;
  readonly kind: "home" | "external" | "plugin";
}

/** One skill as lists show it. */
export interface SkillEntry {
  readonly name: string;
  readonly description: string;
  /** The folders between root and skill, joined by `/`. */
  readonly category: string;
  /** The name of the skill's own folder. */
  readonly folder: string;
  readonly dir: string;
  readonly file: string;
  readonly root: SkillRoot;
  readonly platforms: readonly string[];
  readonly conditions: SkillConditions;
}

export interface SkillListing {
  readonly skills: readonly SkillEntry[];
  readonly problems: readonly SkillProblem[];
  readonly categories: ReadonlyMap<string, string>;
}

/** What the prompt's index depends on. */
export interface SkillView {
  readonly toolNames: readonly string[];
  readonly toolsets: readonly string[];
  readonly platform?: string | undefined;
}

/** Who loads a skill, and for which conversation. */
export interface SkillRequest {
  readonly conversationId: string;
  readonly sessionId: string;
  readonly human: Human;
  readonly signal: AbortSignal;
  readonly platform?: string | undefined;
  /** Text from outside was read in this turn. */
  readonly tainted?: boolean | undefined;
  /** Secrets are asked for at a local terminal only; elsewhere the user is shown how to set them. */
  readonly local: boolean;
}

export type SkillActivation =
  | { readonly ok: true; readonly name: string; readonly text: string; readonly notes: readonly string[] }
  | { readonly ok: false; readonly error: string; readonly hint: string };

/** A change by the agent that the guard stopped: not loaded until a user approves it. */
export interface QuarantinedSkill {
  readonly id: string;
  readonly name: string;
  readonly action: string;
  readonly at: string;
  readonly sessionId: string;
  readonly verdict: "caution" | "dangerous";
  readonly findings: readonly string[];
}

/** The skills of a home, as every surface holds them. */
export interface Skills {
  /** Every skill that is enabled here and runs on this system; broken ones with their problems. */
  list(options?: { readonly platform?: string | undefined; readonly everything?: boolean }): Promise<SkillListing>;
  /** The text for the system prompt; empty without skills. */
  index(view: SkillView): Promise<string>;
  /** The user message that loads a skill; `instruction` is the user's request. */
  activate(name: string, request: SkillRequest, instruction?: string): Promise<SkillActivation>;
  /** One user message for several skills; throws UserError when one does not exist. */
  preload(names: readonly string[], request: SkillRequest): Promise<{ text: string; notes: readonly string[] }>;
  /** `/name` → skill, for dynamic slash commands and gateways. */
  commands(options?: { readonly platform?: string | undefined }): Promise<ReadonlyMap<string, SkillEntry>>;
  /** Variables that the skills loaded in a conversation may pass to its commands. */
  passthrough(conversationId: string): { readonly [name: string]: string };
  /** Files with credentials that the loaded skills declared and that exist. */
  credentialFiles(conversationId: string): readonly string[];
  /** Reads the skills again and returns what changed. */
  reload(): Promise<{ added: readonly string[]; removed: readonly string[]; total: number }>;
  quarantined(): Promise<readonly QuarantinedSkill[]>;
  /** What a quarantined change would write: path → text, null for a removal. */
  quarantinedFiles(id: string): Promise<{ readonly [path: string]: string | null }>;
  /** Applies a quarantined change that the user has reviewed. */
  approve(id: string): Promise<{ readonly name: string; readonly dir: string }>;
  reject(id: string): Promise<void>;
}

export const NO_CONDITIONS: SkillConditions = {
  requires_toolsets: [],
  requires_tools: [],
  fallback_for_toolsets: [],
  fallback_for_tools: [],
};

/** The name of the slash command: lower case letters, digits and single hyphens; may be empty. */
export function skillCommandName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[\s_]+/g, "-")
    .replaceAll(/[^a-z0-9-]/g, "")
    .replaceAll(/-+/g, "-")
    .replaceAll(/^-|-$/g, "");
}

/** Whether the conversation's tools let a skill show up. With no tool information everything shows. */
export function skillShows(conditions: SkillConditions, view: Pick<SkillView, "toolNames" | "toolsets">): boolean {
  if (view.toolNames.length === 0 && view.toolsets.length === 0) return true;
  const tools = new Set(view.toolNames);
  const sets = new Set(view.toolsets);
  return (
    conditions.requires_tools.every((name) => tools.has(name)) &&
    conditions.requires_toolsets.every((name) => sets.has(name)) &&
    !conditions.fallback_for_tools.some((name) => tools.has(name)) &&
    !conditions.fallback_for_toolsets.some((name) => sets.has(name))
  );
}
