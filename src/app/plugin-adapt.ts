// What plugins may leave out, filled in: tools, commands, context engines and memory providers in their full form.
import type { TSchema } from "typebox";
import type { CommandAnswer, SlashCommand } from "../core/command.ts";
import type { CompressOutcome, ContextEngine, EngineUsage } from "../core/context.ts";
import type { MemoryProvider } from "../core/memory.ts";
import type { JsonObject, Message } from "../core/message.ts";
import type { HandlerTool, PluginContextEngine, PluginMemoryProvider, PluginSlashCommand } from "../core/plugin.ts";
import type { Tool, ToolResult } from "../core/tool.ts";

const COMMAND_MS = 30_000;
const DEFAULT_THRESHOLD = 0.5;

type GivenTool = (Omit<Tool, "toolset"> & { readonly toolset?: string }) | HandlerTool;

function resultOf(value: unknown): ToolResult {
  if (typeof value === "string") return { content: value };
  if (value !== null && typeof value === "object" && "content" in value) return value as ToolResult;
  return { content: JSON.stringify(value ?? null) };
}

/** Throws when the tool cannot be used; the text is for the plugin's author. */
export function adaptTool(given: GivenTool, plugin: string): Tool {
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

export function adaptCommand(given: PluginSlashCommand, plugin: string): SlashCommand {
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
      const answer = await within(Promise.resolve(given.run(args, context)), COMMAND_MS, `/${name}`);
      return answer !== null && typeof answer === "object" ? answer : { type: "text", text: answer ?? "" };
    },
  };
}

function outcomeOf(value: readonly Message[] | CompressOutcome, name: string): CompressOutcome {
  if (!Array.isArray(value)) return value as CompressOutcome;
  return { messages: value as readonly Message[], method: name, modelCalls: 0 };
}

/** Counters that the plugin keeps itself are read from it; the others are kept here. */
class AdaptedEngine implements ContextEngine {
  readonly #engine: PluginContextEngine;
  #usage: EngineUsage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  #contextLength: number;
  #passes = 0;

  constructor(engine: PluginContextEngine, contextLength: number) {
    this.#engine = engine;
    this.#contextLength = contextLength;
  }
  get name() {
    return this.#engine.name;
  }
  get lastPromptTokens() {
    return this.#engine.lastPromptTokens ?? this.#usage.promptTokens;
  }
  get lastCompletionTokens() {
    return this.#engine.lastCompletionTokens ?? this.#usage.completionTokens;
  }
  get lastTotalTokens() {
    return this.#engine.lastTotalTokens ?? this.#usage.totalTokens;
  }
  get contextLength() {
    return this.#engine.contextLength || this.#contextLength;
  }
  get thresholdTokens() {
    return this.#engine.thresholdTokens || Math.floor(this.contextLength * DEFAULT_THRESHOLD);
  }
  get compressionCount() {
    return this.#engine.compressionCount ?? this.#passes;
  }
  updateFromResponse(usage: EngineUsage): void {
    this.#usage = usage;
    this.#engine.updateFromResponse?.(usage);
  }
  shouldCompress(promptTokens?: number): boolean {
    if (this.#engine.shouldCompress) return this.#engine.shouldCompress(promptTokens);
    return (promptTokens ?? this.lastPromptTokens) >= this.thresholdTokens;
  }
  async compress(...[messages, options]: Parameters<ContextEngine["compress"]>): Promise<CompressOutcome> {
    const outcome = outcomeOf(await this.#engine.compress(messages, options), this.name);
    this.#passes += 1;
    return outcome;
  }
  shouldCompressPreflight(messages: readonly Message[]): boolean {
    return this.#engine.shouldCompressPreflight?.(messages) ?? false;
  }
  hasContentToCompress(messages: readonly Message[]): boolean {
    return this.#engine.hasContentToCompress?.(messages) ?? messages.length > 2;
  }
  async onSessionStart(...args: Parameters<NonNullable<ContextEngine["onSessionStart"]>>): Promise<void> {
    await this.#engine.onSessionStart?.(...args);
  }
  async onSessionEnd(...args: Parameters<NonNullable<ContextEngine["onSessionEnd"]>>): Promise<void> {
    await this.#engine.onSessionEnd?.(...args);
  }
  onSessionReset(): void {
    this.#usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
    this.#engine.onSessionReset?.();
  }
  updateModel(model: string, contextLength: number): void {
    this.#contextLength = contextLength;
    this.#engine.updateModel?.(model, contextLength);
  }
  getToolSchemas() {
    return this.#engine.getToolSchemas?.() ?? [];
  }
  async handleToolCall(...args: Parameters<NonNullable<ContextEngine["handleToolCall"]>>): Promise<string> {
    return (await this.#engine.handleToolCall?.(...args)) ?? JSON.stringify({ error: `Unknown tool: ${args[0]}` });
  }
  getStatus() {
    if (this.#engine.getStatus) return this.#engine.getStatus();
    const { lastPromptTokens, thresholdTokens, contextLength, compressionCount } = this;
    const usagePercent = contextLength > 0 ? Math.min(100, (lastPromptTokens / contextLength) * 100) : 0;
    return { lastPromptTokens, thresholdTokens, contextLength, compressionCount, usagePercent };
  }
}

export function adaptEngine(engine: PluginContextEngine, contextLength: number): ContextEngine {
  return new AdaptedEngine(engine, contextLength);
}

export function adaptMemory(given: PluginMemoryProvider): MemoryProvider {
  const nothing = async () => undefined;
  const optional = {
    getConfigSchema: given.getConfigSchema?.bind(given),
    saveConfig: given.saveConfig?.bind(given),
    writes: given.writes?.bind(given),
    onTurnStart: given.onTurnStart?.bind(given),
    onSessionEnd: given.onSessionEnd?.bind(given),
    onSessionSwitch: given.onSessionSwitch?.bind(given),
    onPreCompress: given.onPreCompress?.bind(given),
    onMemoryWrite: given.onMemoryWrite?.bind(given),
    onDelegation: given.onDelegation?.bind(given),
  };
  return {
    name: given.name,
    isAvailable: () => given.isAvailable?.() ?? true,
    initialize: (init) => given.initialize?.(init) ?? nothing(),
    systemPromptBlock: () => given.systemPromptBlock?.() ?? "",
    prefetch: async (query, sessionId) => (await given.prefetch?.(query, sessionId)) ?? "",
    queuePrefetch: (query, sessionId) => given.queuePrefetch?.(query, sessionId),
    syncTurn: (user, assistant, sessionId) => given.syncTurn?.(user, assistant, sessionId),
    getToolSchemas: () => given.getToolSchemas?.() ?? [],
    handleToolCall: async (name, args) =>
      (await given.handleToolCall?.(name, args)) ?? JSON.stringify({ error: `Unknown tool: ${name}` }),
    shutdown: () => given.shutdown?.() ?? nothing(),
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value)) as Partial<MemoryProvider>),
  };
}
