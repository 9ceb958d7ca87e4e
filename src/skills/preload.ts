// Skills as surfaces use them: slash commands, skills loaded before the first message, the list for the prompt.

import type { SlashCommand } from "../core/chat/command.ts";
import type { ConversationOptions, OpenedConversation } from "../core/conversation.ts";
import { absentHuman } from "../core/human.ts";
import { contentText, type Message } from "../core/message.ts";
import type { SkillEntry, SkillRequest, Skills } from "../core/skill.ts";
import type { Tool, ToolBox } from "../core/tool/tool.ts";
import type { SkillService } from "./skill-service.ts";

/** The skills of a home, opened when they are first needed. */
interface LazySkills<T extends Skills = Skills> {
  open(): Promise<T>;
}

/** Secrets are collected in the local terminal only; chat platforms have their own list of disabled skills. */
function describeSurface(options: Pick<ConversationOptions, "platform">): { platform: string; local: boolean } {
  const platform = options.platform ?? "cli";
  return { platform, local: platform === "cli" };
}

export async function skillToolsFor(skills: LazySkills<SkillService>, options: ConversationOptions): Promise<Tool[]> {
  const [{ skillTools }, service] = await Promise.all([import("./skill-tools.ts"), skills.open()]);
  return skillTools(service.port(describeSurface(options)));
}

/** For the system prompt of a new session; empty when the conversation has no skill tools. */
export async function skillsIndexFor(
  skills: LazySkills,
  options: ConversationOptions,
  toolbox: ToolBox,
): Promise<string> {
  const toolNames = [...toolbox.schemas.map((schema) => schema.name), ...(toolbox.searched ?? [])];
  const toolsets = [...new Set(toolNames.map((name) => toolbox.find(name)?.toolset ?? ""))];
  if (options.ignoreRules === true || !toolsets.includes("skills")) return "";
  const service = await skills.open();
  return service.index({ toolNames, toolsets, platform: describeSurface(options).platform });
}

export interface OpenedSession {
  readonly sessionId: string;
  readonly conversationId: string;
  readonly messages: readonly Message[];
}

/** The text of the requested skills that this conversation has not loaded yet; empty when there are none. */
export async function preloadFor(
  skills: LazySkills,
  options: ConversationOptions,
  opened: OpenedSession,
): Promise<{ text: string; notes: readonly string[] }> {
  const users = opened.messages
    .filter((message) => message.role === "user")
    .map((message) => contentText(message.content));
  const loaded = (name: string) => users.some((text) => text.includes(`[The user loaded the skill "${name}"`));
  const names = (options.skills ?? []).filter((name) => !loaded(name));
  if (names.length === 0) return { text: "", notes: [] };
  const service = await skills.open();
  return service.preload(names, {
    conversationId: opened.conversationId,
    sessionId: opened.sessionId,
    human: options.human ?? absentHuman,
    signal: new AbortController().signal,
    ...describeSurface(options),
  });
}

interface CommandDeps {
  readonly skills: LazySkills;
  /** Expands `@` references in the arguments of a command. */
  prepareInput(
    text: string,
    opened: OpenedConversation,
  ): Promise<{ readonly text: string; readonly untrusted: boolean }>;
}

function commandFor({ skills, prepareInput }: CommandDeps, name: string, skill: SkillEntry): SlashCommand {
  return {
    name,
    aliases: name.includes("-") ? [name.replaceAll("-", "_")] : undefined,
    args: "[what to do]",
    summary: skill.description,
    run: async (args, context) => {
      const platform = context.source === "cli" ? {} : { platform: context.source };
      const input = await prepareInput(args, context.opened);
      const request: SkillRequest = {
        conversationId: context.conversation.conversationId,
        sessionId: context.conversation.sessionId,
        human: context.human ?? absentHuman,
        signal: new AbortController().signal,
        ...describeSurface(platform),
      };
      const service = await skills.open();
      const activation = await service.activate(skill.name, request, input.text);
      if (!activation.ok) return { type: "text", text: `${activation.error}. ${activation.hint}` };
      return { type: "send", text: activation.text, when: "now", prepared: { untrusted: input.untrusted } };
    },
  };
}

/** One slash command per skill. Callers try them after all others, so that a skill cannot replace a command. */
export async function skillCommands(deps: CommandDeps, platform?: string): Promise<SlashCommand[]> {
  const service = await deps.skills.open();
  const found = await service.commands({ platform: platform || undefined });
  return [...found].map(([name, skill]) => commandFor(deps, name, skill));
}
