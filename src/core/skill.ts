// Skills: instructions in a SKILL.md that the agent loads as a user message when a task needs them.
import type { Human } from "./human.ts";
import type { JsonObject } from "./message.ts";

/** When a skill is listed in the prompt: all `requires` entries are available and none of the `fallback` entries. */
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

/** A problem in a SKILL.md with its line and a hint. */
export interface SkillProblem {
  readonly file: string;
  readonly line: number;
  readonly message: string;
  readonly hint: string;
}

/** The parsed front matter of a SKILL.md, independent of the notation of its fields. */
export interface SkillHeader {
  /** Undefined when missing: the name of the folder is used. */
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

/** A folder of skills. When several roots have a skill of the same name, lists use the first. */
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

/** The inputs of the prompt's index. */
export interface SkillView {
  readonly toolNames: readonly string[];
  readonly toolsets: readonly string[];
  readonly platform?: string | undefined;
}

/** The conversation that loads a skill. */
export interface SkillRequest {
  readonly conversationId: string;
  readonly sessionId: string;
  readonly human: Human;
  readonly signal: AbortSignal;
  readonly platform?: string | undefined;
  /** True when the turn has read untrusted text. */
  readonly tainted?: boolean | undefined;
  /** Secrets are requested in a local terminal only; other surfaces show how to set them. */
  readonly local: boolean;
}

export type SkillActivation =
  | { readonly ok: true; readonly name: string; readonly text: string; readonly notes: readonly string[] }
  | { readonly ok: false; readonly error: string; readonly hint: string };

/** A change by the agent that the guard quarantined; not active until the user approves it. */
export interface QuarantinedSkill {
  readonly id: string;
  readonly name: string;
  readonly action: string;
  readonly at: string;
  readonly sessionId: string;
  readonly verdict: "caution" | "dangerous";
  readonly findings: readonly string[];
}

/** The skills of a home. */
export interface Skills {
  /** Every skill that is enabled and supports this system, and the problems of broken ones. */
  list(options?: { readonly platform?: string | undefined; readonly everything?: boolean }): Promise<SkillListing>;
  /** The text for the system prompt; empty without skills. */
  index(view: SkillView): Promise<string>;
  /** The user message that loads a skill; `instruction` is the user's request. */
  activate(name: string, request: SkillRequest, instruction?: string): Promise<SkillActivation>;
  /** One user message for several skills; throws UserError when one does not exist. */
  preload(names: readonly string[], request: SkillRequest): Promise<{ text: string; notes: readonly string[] }>;
  /** `/name` → skill, for dynamic slash commands and gateways. */
  commands(options?: { readonly platform?: string | undefined }): Promise<ReadonlyMap<string, SkillEntry>>;
  /** Variables that loaded skills pass to a conversation's commands. */
  passthrough(conversationId: string): { readonly [name: string]: string };
  /** Files with credentials that the loaded skills declared and that exist. */
  credentialFiles(conversationId: string): readonly string[];
  /** Reads the skills again and returns the differences since the last call. */
  reload(): Promise<{ added: readonly string[]; removed: readonly string[]; total: number }>;
  quarantined(): Promise<readonly QuarantinedSkill[]>;
  /** The files of a quarantined change: path → text, null for a removal. */
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

/** The slash command of a skill: lower-case letters, digits and single hyphens; empty when none remain. */
export function skillCommandName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[\s_]+/g, "-")
    .replaceAll(/[^a-z0-9-]/g, "")
    .replaceAll(/-+/g, "-")
    .replaceAll(/^-|-$/g, "");
}

/** True when the conversation's tools meet the conditions of a skill, or when the tools are unknown. */
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
