// The door for tools and slash commands: what is registered is completed, checked and entered. Built-ins use it too.
// It is loaded at every start, so the rest of a plugin's context stays in files of its own.
import type { TSchema } from "typebox";
import type { CommandAnswer, SlashCommand } from "../core/command.ts";
import type { JsonObject } from "../core/message.ts";
import type { HandlerTool, PluginContext, PluginSlashCommand } from "../core/plugin.ts";
import type { Tool, ToolResult } from "../core/tool.ts";
import type { Registry } from "../core/tool-registry.ts";
import type { Collected } from "./registrations.ts";

const COMMAND_MS = 30_000;

type GivenTool = (Omit<Tool, "toolset"> & { readonly toolset?: string | undefined }) | HandlerTool;

function resultOf(value: unknown): ToolResult {
  if (typeof value === "string") return { content: value };
  if (value !== null && typeof value === "object" && "content" in value) return value as ToolResult;
  return { content: JSON.stringify(value ?? null) };
}

/** Throws when the tool cannot be used; the text is for the plugin's author. */
function adaptTool(given: GivenTool, plugin: string): Tool {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(given.name ?? ""))
    throw new Error(`a tool needs a name of up to 64 letters, digits, _ and -; found ${JSON.stringify(given.name)}`);
  if ("handler" in given) {
    const check = given.check_fn;
    return {
      name: given.name,
      toolset: given.toolset ?? plugin,
      description: given.description ?? given.schema?.description ?? "",
      parameters: (given.schema?.parameters ?? { type: "object", properties: {} }) as unknown as TSchema,
      ...(check
        ? {
            available: () =>
              check() ? { ok: true as const } : { ok: false as const, reason: `${plugin} says it is not ready` },
          }
        : {}),
      run: async (args, context) => resultOf(await given.handler(args as JsonObject, context)),
    };
  }
  if (typeof given.run !== "function") throw new Error(`tool ${given.name} has no run function`);
  if (given.parameters === null || typeof given.parameters !== "object")
    throw new Error(`tool ${given.name} has no parameters; Type.Object({}) means none`);
  const run = given.run.bind(given);
  return {
    ...given,
    toolset: given.toolset ?? plugin,
    description: given.description ?? "",
    run: async (args, context) => resultOf(await run(args, context)),
  };
}

/** Lower case, without the slash, dashes for blanks. */
export function commandName(name: string): string {
  return name.trim().replace(/^\//, "").toLowerCase().replaceAll(/\s+/g, "-");
}

async function within<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not answer within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A plugin's command has half a minute; `patient` ones are the program's own. */
function adaptCommand(given: PluginSlashCommand, plugin: string, untimed = false): SlashCommand {
  const name = commandName(given.name ?? "");
  if (!/^[a-z][\w-]*$/.test(name)) throw new Error(`"${given.name}" is no name for a slash command`);
  if (typeof given.run !== "function") throw new Error(`/${name} has no run function`);
  return {
    name,
    summary: given.summary ?? `From ${plugin}`,
    ...(given.args ? { args: given.args } : {}),
    ...(given.aliases ? { aliases: given.aliases.map(commandName) } : {}),
    ...(given.whileBusy ? { whileBusy: true } : {}),
    run: async (args, context): Promise<CommandAnswer> => {
      const work = Promise.resolve(given.run(args, context));
      const answer = await (untimed ? work : within(work, COMMAND_MS, `/${name}`));
      return answer !== null && typeof answer === "object" ? answer : { type: "text", text: answer ?? "" };
    },
  };
}

/** The part of a plugin's context that the program's own parts use. */
export type Registrar = Pick<PluginContext, "registerTool" | "registerCommand">;
export type RegisteredItems = Pick<Collected, "tools" | "commands">;

export interface RegistrarOwner {
  /** Stands in messages. */
  readonly name: string;
  /** Its slash commands may take as long as they need: the program's own. */
  readonly untimed?: boolean | undefined;
}

export function createRegistrar(who: RegistrarOwner, into: RegisteredItems): Registrar {
  const { name, untimed = false } = who;
  return {
    registerTool: (tool, options) =>
      void into.tools.push({ tool: adaptTool(tool, name), override: options?.override === true }),
    registerCommand: (command) => void into.commands.push(adaptCommand(command, name, untimed)),
  };
}

/** Puts what was collected into the registry. `refused` hears of every name that stays with its owner. */
export function registerTools(
  registry: Registry,
  owner: string,
  tools: Collected["tools"],
  refused: (reason: string) => void,
): void {
  for (const { tool, override } of tools) {
    const outcome = registry.register(tool, { owner, override });
    if (!outcome.ok) refused(outcome.reason);
  }
}

/** The command with those of its names that are free; undefined when its first one is taken. */
export function registerCommand(taken: Set<string>, command: SlashCommand): SlashCommand | undefined {
  if (taken.has(command.name)) return undefined;
  taken.add(command.name);
  const { aliases, ...rest } = command;
  const free = (aliases ?? []).filter((alias) => !taken.has(alias));
  for (const alias of free) taken.add(alias);
  return free.length > 0 ? { ...rest, aliases: free } : rest;
}
