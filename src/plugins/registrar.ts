// Registers tools and slash commands of plugins and of the program itself: checks them and fills in defaults.
// Loaded at every start, so the rest of a plugin's context is in other files.
import type { TSchema } from "typebox";
import type { CommandAnswer, SlashCommand } from "../core/chat/command.ts";
import type { JsonObject } from "../core/message.ts";
import type { HandlerTool, PluginContext, PluginSlashCommand } from "../core/plugin.ts";
import type { Tool, ToolResult } from "../core/tool/tool.ts";
import type { Registry } from "../core/tool/tool-registry.ts";
import { withTimeout } from "../lib/async/with-timeout.ts";
import type { Collected } from "./registrations.ts";

const COMMAND_TIMEOUT_MS = 30_000;

function late(command: string): never {
  throw new Error(`/${command} did not answer within ${COMMAND_TIMEOUT_MS / 1000} s`);
}

type GivenTool = (Omit<Tool, "toolset"> & { readonly toolset?: string | undefined }) | HandlerTool;

function toToolResult(value: unknown): ToolResult {
  if (typeof value === "string") return { content: value };
  if (value !== null && typeof value === "object" && "content" in value) return value as ToolResult;
  return { content: JSON.stringify(value ?? null) };
}

/** Throws when the tool cannot be used; the message is for the plugin's author. */
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
              check()
                ? { ok: true as const }
                : { ok: false as const, reason: `${plugin} reports that it is not ready` },
          }
        : {}),
      run: async (args, context) => toToolResult(await given.handler(args as JsonObject, context)),
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
    run: async (args, context) => toToolResult(await run(args, context)),
  };
}

/** Lower case, without the slash, with dashes instead of spaces. */
export function commandName(name: string): string {
  return name.trim().replace(/^\//, "").toLowerCase().replaceAll(/\s+/g, "-");
}

/** Commands of plugins have a time limit; `untimed` is for those of the program itself. */
function adaptCommand(given: PluginSlashCommand, plugin: string, untimed = false): SlashCommand {
  const name = commandName(given.name ?? "");
  if (!/^[a-z][\w-]*$/.test(name)) throw new Error(`"${given.name}" is not a valid name for a slash command`);
  if (typeof given.run !== "function") throw new Error(`/${name} has no run function`);
  return {
    name,
    summary: given.summary ?? `From ${plugin}`,
    args: given.args || undefined,
    aliases: given.aliases?.map(commandName),
    whileBusy: given.whileBusy || undefined,
    run: async (args, context): Promise<CommandAnswer> => {
      const work = Promise.resolve(given.run(args, context));
      const answer = await (untimed ? work : withTimeout(work, COMMAND_TIMEOUT_MS, () => late(name)));
      return answer !== null && typeof answer === "object" ? answer : { type: "text", text: answer ?? "" };
    },
  };
}

/** The part of a plugin's context that the program uses for its own tools and commands. */
export type Registrar = Pick<PluginContext, "registerTool" | "registerCommand">;
export type RegisteredItems = Pick<Collected, "tools" | "commands">;

export interface RegistrarOwner {
  /** Used in messages. */
  readonly name: string;
  /** Its slash commands have no time limit. */
  readonly untimed?: boolean | undefined;
}

export function createRegistrar(owner: RegistrarOwner, into: RegisteredItems): Registrar {
  const { name, untimed = false } = owner;
  return {
    registerTool: (tool, options) =>
      void into.tools.push({ tool: adaptTool(tool, name), override: options?.override === true }),
    registerCommand: (command) => void into.commands.push(adaptCommand(command, name, untimed)),
  };
}

/** Adds tools to the registry. `refused` is called with the reason for each tool that was not added. */
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

/** The command without aliases that are taken; undefined when its name is taken. */
export function registerCommand(taken: Set<string>, command: SlashCommand): SlashCommand | undefined {
  if (taken.has(command.name)) return undefined;
  taken.add(command.name);
  const { aliases, ...rest } = command;
  const free = (aliases ?? []).filter((alias) => !taken.has(alias));
  for (const alias of free) taken.add(alias);
  return free.length > 0 ? { ...rest, aliases: free } : rest;
}
