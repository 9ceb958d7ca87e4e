// Builds the system prompt of a new session from the home, the machine and the tools of the conversation.
import { release, type } from "node:os";
import { hasProjectFiles } from "../context/prompt/project-files.ts";
import { buildSystemPrompt } from "../context/prompt/prompt.ts";
import { toolUseReminder } from "../context/prompt/tool-use.ts";
import type { ConversationOptions } from "../core/conversation.ts";
import type { Memory } from "../core/memory.ts";
import type { ToolBox } from "../core/tool/tool.ts";
import { OWN, type Provenance } from "../core/trust.ts";
import { skillsIndexFor } from "../skills/preload.ts";
import type { Services } from "./services.ts";

export interface PromptPart {
  readonly name: string;
  readonly tokens: number;
}

export interface PromptSources {
  readonly toolbox: ToolBox;
  readonly memory: Memory;
  readonly model: string;
  readonly cwd: string;
  sessionId(): string;
  /** Filled with the tokens of each part, for display. */
  readonly parts: PromptPart[];
}

const SYSTEMS: { readonly [type: string]: string } = { Darwin: "macOS", Windows_NT: "Windows" };

/** Instructions of a project that somebody else wrote are untrusted text in the prompt. */
export async function promptTrust(services: Services, options: ConversationOptions, cwd: string): Promise<Provenance> {
  if (options.ignoreRules === true || options.noProjectFiles === true || !(await hasProjectFiles(cwd))) return OWN;
  const origin = await services.projects.foreignOrigin(cwd);
  return origin === undefined ? OWN : { trust: "untrusted", origin: `the instructions of ${origin}` };
}

/** Called once per session; the text is stored with the session and not built again. */
export async function systemPromptFor(
  services: Services,
  options: ConversationOptions,
  sources: PromptSources,
): Promise<string> {
  const { home, config, scan } = services;
  const shell = home.env.SHELL?.split("/").at(-1);
  const [memory, skillsIndex] = await Promise.all([
    sources.memory.snapshot(),
    skillsIndexFor(services.skills, options, sources.toolbox),
  ]);
  const { text, parts } = await buildSystemPrompt({
    home: home.path,
    toolNames: [...sources.toolbox.schemas.map((schema) => schema.name), ...(sources.toolbox.searched ?? [])],
    toolUse: toolUseReminder(config.agent.tool_use_enforcement, sources.model),
    memory,
    skillsIndex,
    environment: { os: `${SYSTEMS[type()] ?? type()} ${release()}`, cwd: sources.cwd, shell },
    now: new Date(),
    timeZone: config.timezone || undefined,
    sessionId: options.passSessionId ? sources.sessionId() : undefined,
    extra: options.instructions || undefined,
    scan,
    contextFiles: options.ignoreRules !== true,
    projectFiles: options.noProjectFiles !== true,
  });
  sources.parts.splice(0, sources.parts.length, ...parts);
  return text;
}
