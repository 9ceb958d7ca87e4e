// What a plugin registered, as data that can be kept, and the other way round: tools and commands whose code comes later.
import type { TSchema } from "typebox";
import type { SlashCommand } from "../core/command.ts";
import type { JsonObject } from "../core/message.ts";
import { type Tool, toolError } from "../core/tool.ts";
import type { CachedCommand, CachedTool, Registrations } from "./plugin-cache.ts";
import type { Collected } from "./registrations.ts";

function knownTool({ tool, override }: Collected["tools"][number]): CachedTool {
  const { overlap, repeatable, maxResultChars, timeoutMs, mutates } = tool;
  return {
    name: tool.name,
    toolset: tool.toolset,
    description: tool.description,
    parameters: JSON.parse(JSON.stringify(tool.parameters)) as JsonObject,
    override,
    checks: tool.available !== undefined,
    ...(overlap ? { overlap } : {}),
    ...(repeatable ? { repeatable } : {}),
    ...(maxResultChars === undefined
      ? {}
      : { maxResultChars: Number.isFinite(maxResultChars) ? maxResultChars : null }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(mutates === undefined ? {} : { mutates }),
  };
}

function knownCommand(command: SlashCommand): CachedCommand {
  const { name, summary, args, aliases, whileBusy } = command;
  return {
    name,
    summary,
    ...(args ? { args } : {}),
    ...(aliases ? { aliases } : {}),
    ...(whileBusy ? { whileBusy } : {}),
  };
}

export function describe(collected: Collected): Registrations {
  return {
    tools: collected.tools.map(knownTool),
    hooks: [...new Set(collected.hooks.map((hook) => hook.name))],
    commands: collected.commands.map(knownCommand),
    cliCommands: collected.cliCommands.map(({ name, summary }) => ({ name, summary: summary ?? "" })),
    contextEngines: [...collected.contextEngines.keys()],
    memoryProviders: [...collected.memoryProviders.keys()],
    modelProviders: collected.modelProviders,
    webProviders: collected.webProviders.map((provider) => provider.name),
    skills: collected.skills,
    skillRoots: collected.skillRoots,
    providers: [
      ...collected.providers.map(({ seam, provider }) => `${seam}:${provider.name}`),
      ...collected.platforms.map(({ name }) => `platform:${name}`),
    ],
  };
}

/** The plugin's code; undefined when it cannot be loaded (and the person has been told). */
export type LoadCode = () => Promise<Collected | undefined>;

/** A tool that is complete to the model; its code is imported at the first call. */
export function lazyTool(known: CachedTool, load: LoadCode, owner: string): Tool {
  const real = async (): Promise<Tool | undefined> =>
    (await load())?.tools.find(({ tool }) => tool.name === known.name)?.tool;
  const missing = `${known.name} is not available: plugin ${owner} could not be loaded.`;
  const { overlap, maxResultChars, repeatable, timeoutMs, mutates } = known;
  return {
    name: known.name,
    toolset: known.toolset,
    description: known.description,
    parameters: known.parameters as unknown as TSchema,
    // Which paths a call touches only its code knows: until then it runs alone.
    ...(overlap ? { overlap: overlap === "paths" ? "alone" : overlap } : {}),
    ...(repeatable ? { repeatable } : {}),
    ...(maxResultChars === undefined ? {} : { maxResultChars: maxResultChars ?? Number.POSITIVE_INFINITY }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(mutates === undefined ? {} : { mutates }),
    ...(known.checks
      ? { available: async () => (await (await real())?.available?.()) ?? { ok: false as const, reason: missing } }
      : {}),
    run: async (args, context) => {
      const tool = await real();
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
