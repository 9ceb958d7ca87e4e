// Converts registrations to data for the cache, and cached data to tools and commands whose code is loaded on first use.
import type { TSchema } from "typebox";
import type { SlashCommand } from "../core/chat/command.ts";
import type { JsonObject } from "../core/message.ts";
import { type Tool, toolError } from "../core/tool/tool.ts";
import type { CachedCommand, CachedTool, Registrations } from "./plugin-cache.ts";
import type { Collected } from "./registrations.ts";

function describeTool({ tool, override }: Collected["tools"][number]): CachedTool {
  const { overlap, repeatable, maxResultChars, timeoutMs, mutates } = tool;
  return {
    name: tool.name,
    toolset: tool.toolset,
    description: tool.description,
    parameters: JSON.parse(JSON.stringify(tool.parameters)) as JsonObject,
    override,
    checks: tool.available !== undefined,
    overlap,
    repeatable,
    maxResultChars: maxResultChars === Number.POSITIVE_INFINITY ? null : maxResultChars,
    timeoutMs,
    mutates,
  };
}

function describeCommand(command: SlashCommand): CachedCommand {
  const { name, summary, args, aliases, whileBusy } = command;
  return { name, summary, args, aliases, whileBusy };
}

export function describeRegistrations(collected: Collected): Registrations {
  return {
    tools: collected.tools.map(describeTool),
    hooks: [...new Set(collected.hooks.map((hook) => hook.name))],
    commands: collected.commands.map(describeCommand),
    cliCommands: collected.cliCommands.map(({ name, summary }) => ({ name, summary: summary ?? "" })),
    contextEngines: [...collected.contextEngines.keys()],
    memoryProviders: [...collected.memoryProviders.keys()],
    modelProviders: collected.modelProviders,
    webProviders: collected.webProviders.map((provider) => provider.name),
    skills: collected.skills,
    skillRoots: collected.skillRoots,
    providers: [
      ...collected.providers.map(({ kind, provider }) => `${kind}:${provider.name}`),
      ...collected.platforms.map(({ name }) => `platform:${name}`),
    ],
  };
}

/** Loads the code of a plugin; undefined when that failed, which the host reports. */
export type LoadCode = () => Promise<Collected | undefined>;

/** A tool whose code is imported on its first call. */
export function lazyTool(known: CachedTool, load: LoadCode, owner: string): Tool {
  const loadTool = async (): Promise<Tool | undefined> =>
    (await load())?.tools.find(({ tool }) => tool.name === known.name)?.tool;
  const missing = `${known.name} is not available: plugin ${owner} could not be loaded.`;
  const { overlap, maxResultChars, repeatable, timeoutMs, mutates } = known;
  return {
    name: known.name,
    toolset: known.toolset,
    description: known.description,
    parameters: known.parameters as unknown as TSchema,
    // Only the code knows which paths a call uses, so the tool runs alone.
    overlap: overlap === "paths" ? "alone" : overlap,
    repeatable,
    maxResultChars: maxResultChars === null ? Number.POSITIVE_INFINITY : maxResultChars,
    timeoutMs,
    mutates,
    ...(known.checks
      ? { available: async () => (await (await loadTool())?.available?.()) ?? { ok: false as const, reason: missing } }
      : {}),
    run: async (args, context) => {
      const tool = await loadTool();
      return tool ? tool.run(args, context) : toolError(missing);
    },
  };
}

export function lazyCommand(known: CachedCommand, load: LoadCode, owner: string): SlashCommand {
  return {
    ...known,
    run: async (args, context) => {
      const command = (await load())?.commands.find(({ name }) => name === known.name);
      if (command) return command.run(args, context);
      return { type: "text", text: `/${known.name} is not available: plugin ${owner} could not be loaded.` };
    },
  };
}
