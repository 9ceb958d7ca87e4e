// Skills as surfaces use them: slash commands, skills loaded before the first message, the list for the prompt.

import { prepareInput } from "../app/prepare-input.ts";
import type { Services } from "../app/services.ts";
import type { SlashCommand } from "../core/command.ts";
import type { ConversationOptions } from "../core/conversation.ts";
import { nobody } from "../core/human.ts";
import { type ContentPart, type Message, textOf } from "../core/message.ts";
import type { SkillEntry, SkillRequest } from "../core/skill.ts";
import type { Tool, ToolBox } from "../core/tool.ts";

const SKILL_TOOLS = ["skills_list", "skill_view", "skill_manage"];

/** Where the conversation takes place: chats never collect secrets, and have lists of skills of their own. */
function surfaceOf(options: Pick<ConversationOptions, "platform">): { platform: string; local: boolean } {
  const platform = options.platform ?? "cli";
  return { platform, local: platform === "cli" };
}

export async function skillToolsFor(services: Services, options: ConversationOptions): Promise<Tool[]> {
  const [{ skillTools }, service] = await Promise.all([import("./skill-tools.ts"), services.skills.open()]);
  return skillTools(service.port(surfaceOf(options)));
}

/** For the system prompt of a new session; empty when the conversation has no skill tools. */
export async function skillsIndexFor(
  services: Services,
  options: ConversationOptions,
  toolbox: ToolBox,
): Promise<string> {
  const toolNames = toolbox.schemas.map((schema) => schema.name);
  if (options.ignoreRules === true || !toolNames.some((name) => SKILL_TOOLS.includes(name))) return "";
  const toolsets = [...new Set(toolNames.map((name) => toolbox.find(name)?.toolset ?? ""))];
  const service = await services.skills.open();
  return service.index({ toolNames, toolsets, platform: surfaceOf(options).platform });
}

export interface Opened {
  readonly sessionId: string;
  readonly conversationId: string;
  readonly messages: readonly Message[];
}

/** The text of the skills that were asked for and that this conversation has not loaded yet; empty when none. */
export async function preloadFor(
  services: Services,
  options: ConversationOptions,
  opened: Opened,
): Promise<{ text: string; notes: readonly string[] }> {
  const users = opened.messages.filter((message) => message.role === "user").map((message) => textOf(message.content));
  const loaded = (name: string) => users.some((text) => text.includes(`[The user loaded the skill "${name}"`));
  const names = (options.skills ?? []).filter((name) => !loaded(name));
  if (names.length === 0) return { text: "", notes: [] };
  const service = await services.skills.open();
  return service.preload(names, {
    conversationId: opened.conversationId,
    sessionId: opened.sessionId,
    human: options.human ?? nobody,
    signal: new AbortController().signal,
    ...surfaceOf(options),
  });
}

/** Puts a text before what the person sent. */
export function withText(text: string, input: string | readonly ContentPart[]): string | readonly ContentPart[] {
  if (text === "") return input;
  return typeof input === "string" ? `${text}\n\n${input}` : [{ type: "text", text }, ...input];
}

function commandFor(services: Services, name: string, skill: SkillEntry): SlashCommand {
  return {
    name,
    ...(name.includes("-") ? { aliases: [name.replaceAll("-", "_")] } : {}),
    args: "[what to do]",
    summary: skill.description,
    run: async (args, context) => {
      const platform = context.source === "cli" ? {} : { platform: context.source };
      const input = await prepareInput(services, args, context.opened);
      const request: SkillRequest = {
        conversationId: context.conversation.conversationId,
        sessionId: context.conversation.sessionId,
        human: context.human ?? nobody,
        signal: new AbortController().signal,
        ...surfaceOf(platform),
      };
      const service = await services.skills.open();
      const activation = await service.activate(skill.name, request, input.text);
      if (!activation.ok) return { type: "text", text: `${activation.error}. ${activation.hint}` };
      return { type: "send", text: activation.text, when: "now", prepared: { untrusted: input.untrusted } };
    },
  };
}

/** One slash command per skill. Callers try them after all others, so that no skill takes a command's name. */
export async function skillCommands(services: Services, platform?: string): Promise<SlashCommand[]> {
  const service = await services.skills.open();
  const skills = await service.commands(platform ? { platform } : {});
  return [...skills].map(([name, skill]) => commandFor(services, name, skill));
}
