// Fills in the optional members of context engines and memory providers.
import type { CompressOutcome, ContextEngine, EngineUsage } from "../core/context.ts";
import type { MemoryProvider } from "../core/memory.ts";
import type { Message } from "../core/message.ts";
import type { PluginContextEngine, PluginMemoryProvider } from "../core/plugin.ts";

const DEFAULT_THRESHOLD = 0.5;

function toOutcome(value: readonly Message[] | CompressOutcome, name: string): CompressOutcome {
  if (!Array.isArray(value)) return value as CompressOutcome;
  return { messages: value as readonly Message[], method: name, modelCalls: 0 };
}

/** Counters that the plugin does not have are kept here. */
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
    const outcome = toOutcome(await this.#engine.compress(messages, options), this.name);
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

export function adaptMemory(provider: PluginMemoryProvider): MemoryProvider {
  const nothing = async () => undefined;
  const optional = {
    getConfigSchema: provider.getConfigSchema?.bind(provider),
    saveConfig: provider.saveConfig?.bind(provider),
    writes: provider.writes?.bind(provider),
    onTurnStart: provider.onTurnStart?.bind(provider),
    onSessionEnd: provider.onSessionEnd?.bind(provider),
    onSessionSwitch: provider.onSessionSwitch?.bind(provider),
    onPreCompress: provider.onPreCompress?.bind(provider),
    onMemoryWrite: provider.onMemoryWrite?.bind(provider),
    onDelegation: provider.onDelegation?.bind(provider),
  };
  return {
    name: provider.name,
    isAvailable: () => provider.isAvailable?.() ?? true,
    initialize: (init) => provider.initialize?.(init) ?? nothing(),
    systemPromptBlock: () => provider.systemPromptBlock?.() ?? "",
    prefetch: async (query, sessionId) => (await provider.prefetch?.(query, sessionId)) ?? "",
    queuePrefetch: (query, sessionId) => provider.queuePrefetch?.(query, sessionId),
    syncTurn: (user, assistant, sessionId) => provider.syncTurn?.(user, assistant, sessionId),
    getToolSchemas: () => provider.getToolSchemas?.() ?? [],
    handleToolCall: async (name, args) =>
      (await provider.handleToolCall?.(name, args)) ?? JSON.stringify({ error: `Unknown tool: ${name}` }),
    shutdown: () => provider.shutdown?.() ?? nothing(),
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value)) as Partial<MemoryProvider>),
  };
}
