// Runs the plugins of a home. What each registers is known from its manifest and its last run; its code is imported on first use.
import { createHash } from "node:crypto";
import type { SlashCommand } from "../core/chat/command.ts";
import type { Platform } from "../core/chat/platform.ts";
import type { Config } from "../core/config/config.ts";
import type { ContextEngine } from "../core/context.ts";
import type { Home } from "../core/home.ts";
import type { MemoryProvider } from "../core/memory.ts";
import type { JsonObject } from "../core/message.ts";
import type {
  EngineOptions,
  NamedProvider,
  PluginCliCommand,
  PluginModelProvider,
  ProviderKind,
} from "../core/plugin.ts";
import type { Registry } from "../core/tool/tool-registry.ts";
import type { WebProvider } from "../core/tool/web.ts";
import { withTimeout } from "../lib/async/with-timeout.ts";
import { errorMessage } from "../lib/error-message.ts";
import { isRecord } from "../lib/json/is-record.ts";
import { discoverPlugins, type FoundPlugin } from "./discovery.ts";
import { PluginErrorGuard } from "./error-guard.ts";
import type { HookRunner } from "./hooks/hook-runner.ts";
import { describeRegistrations, lazyCommand, lazyTool } from "./lazy-plugin.ts";
import { PluginCache, type Registrations } from "./plugin-cache.ts";
import type { PluginServices } from "./plugin-context.ts";
import { type PluginRow, pluginRow } from "./plugin-rows.ts";
import { chosenEngine, isBuiltInEngine, manifestProblem, pluginStatus, runs } from "./plugin-status.ts";
import { registerCommand, registerTools } from "./registrar.ts";
import { type Collected, emptyCollection } from "./registrations.ts";

const LOAD_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 2_000;

interface ActivePlugin {
  readonly plugin: FoundPlugin;
  readonly config: JsonObject;
  readonly stamp: string;
  known: Registrations | undefined;
  problem: string | undefined;
  /** Milliseconds for import and `register`; from an earlier run until the code is loaded. */
  ms: number | undefined;
  loading: Promise<Collected | undefined> | undefined;
  collected: Collected | undefined;
}

export interface HostOptions {
  readonly home: Home;
  readonly config: Config;
  readonly services: PluginServices;
}

function withLimit<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  return withTimeout(work, ms, () => {
    throw new Error(`it did not finish ${what} within ${ms / 1000} s`);
  });
}

/** The key that v0.14 uses for the settings of a plugin, when it is not the name of the plugin. */
const LEGACY_KEYS: { readonly [name: string]: string } = { holographic: "hermes-memory-store" };

function readPluginSettings(config: Config, plugin: FoundPlugin): JsonObject {
  const { name } = plugin.manifest;
  const entries = config.plugins.entries as { readonly [name: string]: unknown };
  const legacy = (config.plugins as { readonly [key: string]: unknown })[LEGACY_KEYS[name] ?? ""];
  const found = entries[plugin.key] ?? entries[name] ?? legacy;
  return isRecord(found) ? (found as JsonObject) : {};
}

/** Settings may hold secrets: only their digest is stored. */
function digestSettings(settings: JsonObject): string {
  if (Object.keys(settings).length === 0) return "none";
  return createHash("sha256").update(JSON.stringify(settings)).digest("hex").slice(0, 16);
}

export class PluginHost {
  readonly #options: HostOptions;
  readonly #cache: PluginCache;
  readonly #found: ReadonlyMap<string, FoundPlugin>;
  readonly #active: readonly ActivePlugin[];
  /** Keys of notices that were shown and of tools that were registered. */
  readonly #done = new Set<string>();
  readonly #errorGuard = new PluginErrorGuard((plugin, reason) => this.#services.notice(`Plugin ${plugin}: ${reason}`));
  #services: PluginServices;

  private constructor(options: HostOptions, cache: PluginCache, found: ReadonlyMap<string, FoundPlugin>) {
    this.#options = options;
    this.#services = options.services;
    this.#cache = cache;
    this.#found = found;
    this.#active = this.#activate();
  }

  /** Looks for manifests; imports nothing. */
  static async open(options: HostOptions): Promise<PluginHost> {
    const cache = PluginCache.open(options.home.path);
    return new PluginHost(options, cache, await discoverPlugins(options.home, cache));
  }

  /** In the order of `plugins.enabled`, then the selected ones. */
  #activate(): ActivePlugin[] {
    const { config } = this.#options;
    const order = config.plugins.enabled as readonly string[];
    const positions = new Map(order.map((name, at) => [name, at]));
    const rank = ({ key, manifest }: FoundPlugin) => positions.get(key) ?? positions.get(manifest.name) ?? order.length;
    return [...this.#found.values()]
      .filter((plugin) => runs(pluginStatus(plugin, config)))
      .sort((a, b) => rank(a) - rank(b))
      .map((plugin) => {
        const settings = readPluginSettings(config, plugin);
        const stamp = `${plugin.stamp}+${digestSettings(settings)}`;
        const cached = this.#cache.registrations(plugin.dir, stamp);
        return {
          plugin,
          config: settings,
          stamp,
          known:
            plugin.entry === null && plugin.manifest.modelProviders.length > 0
              ? describeRegistrations(emptyCollection())
              : cached?.registrations,
          problem: manifestProblem(plugin),
          ms: cached?.ms,
          loading: undefined,
          collected: undefined,
        };
      });
  }

  /** Adds services that are opened after the host. */
  provide(services: Partial<PluginServices>): void {
    this.#services = { ...this.#services, ...services };
  }

  /** Adds one hook source per plugin, in order; the code of a plugin is loaded when its hook first runs. */
  listen(runner: HookRunner): void {
    for (const active of this.#active) {
      if (active.problem) continue;
      runner.add({
        owner: `plugin ${active.plugin.manifest.name}`,
        get names() {
          return active.known?.hooks ?? [];
        },
        listeners: async (name) => (await this.#load(active))?.hooks.filter((hook) => hook.name === name) ?? [],
      });
    }
  }

  /** Imports the plugins that are new or changed, so that the registrations of every plugin are known. */
  async settle(): Promise<void> {
    for (const active of this.#active) {
      if (active.problem) this.#reportProblem(active, active.problem);
      else if (!active.known) await this.#load(active);
    }
    this.#reportUnusedEngines();
    await this.#cache.save();
  }

  /** Imports the code of every plugin that runs. */
  async loadAll(): Promise<void> {
    for (const active of this.#active) {
      if (active.problem) this.#reportProblem(active, active.problem);
      else if (active.plugin.entry) await this.#load(active);
    }
    this.#reportUnusedEngines();
  }

  /** Shows a notice once per key. */
  #noticeOnce(key: string, text: string): void {
    if (this.#done.has(key)) return;
    this.#done.add(key);
    this.#services.notice(text);
  }

  #reportProblem({ plugin }: ActivePlugin, problem: string): void {
    this.#noticeOnce(`problem:${plugin.dir}`, `Plugin ${plugin.manifest.name} is not loaded: ${problem}`);
  }

  #load(active: ActivePlugin): Promise<Collected | undefined> {
    active.loading ??= this.#import(active);
    return active.loading;
  }

  async #import(active: ActivePlugin): Promise<Collected | undefined> {
    const { plugin, config } = active;
    const { home } = this.#options;
    const began = performance.now();
    const collected = emptyCollection();
    const work = async () => {
      const [{ importPlugin }, { createPluginContext }, runtime] = await Promise.all([
        import("./plugin-module.ts"),
        import("./plugin-context.ts"),
        this.#services.runtime(),
      ]);
      this.#errorGuard.watch(plugin.manifest.name, plugin.dir);
      const register = await importPlugin(plugin, home.path);
      const services = () => this.#services;
      await register(createPluginContext({ plugin, home, config, services, runtime }, collected));
    };
    try {
      await withLimit(work(), LOAD_TIMEOUT_MS, "loading");
    } catch (error) {
      active.problem = errorMessage(error);
      active.known = undefined;
      this.#reportProblem(active, active.problem);
      return undefined;
    }
    active.ms = Math.round((performance.now() - began) * 10) / 10;
    active.collected = collected;
    active.known = describeRegistrations(collected);
    for (const problem of collected.problems) this.#services.notice(`Plugin ${plugin.manifest.name}: ${problem}`);
    this.#cache.setRegistrations(plugin.dir, { stamp: active.stamp, registrations: active.known, ms: active.ms });
    return collected;
  }

  /** The plugin whose context engine is used: the configured one, else the first. */
  #engineOwner(): ActivePlugin | undefined {
    const candidates = this.#active.filter(({ known }) => known?.contextEngines.some((name) => !isBuiltInEngine(name)));
    const chosen = chosenEngine(this.#options.config);
    return candidates.find((active) => active.known?.contextEngines.includes(chosen ?? "")) ?? candidates[0];
  }

  #reportUnusedEngines(): void {
    const owner = this.#engineOwner();
    for (const { plugin, known } of this.#active) {
      const [engine] = known?.contextEngines ?? [];
      if (engine === undefined || plugin === owner?.plugin) continue;
      const first = owner?.known?.contextEngines[0];
      const reason = owner
        ? `only one can be registered, and "${first}" of ${owner.plugin.manifest.name} is`
        : "that name is built in";
      this.#noticeOnce(
        `engine:${plugin.dir}`,
        `Context engine "${engine}" of plugin ${plugin.manifest.name} was not registered: ${reason}.`,
      );
    }
  }

  /** Registers the tools of all plugins, each of them once. Call after `settle`. */
  registerTools(registry: Registry): void {
    for (const active of this.#active) {
      const owner = active.plugin.manifest.name;
      for (const known of active.known?.tools ?? []) {
        const key = `tool:${known.name}:${active.plugin.dir}`;
        if (this.#done.has(key)) continue;
        this.#done.add(key);
        const tool = lazyTool(known, () => this.#load(active), owner);
        registerTools(registry, `plugin ${owner}`, [{ tool, override: known.override }], (reason) =>
          this.#services.notice(`Plugin ${owner}: ${reason}`),
        );
      }
    }
  }

  /** Slash commands of plugins, without those whose name is taken. */
  commands(taken: readonly SlashCommand[]): SlashCommand[] {
    const names = new Set<string>();
    for (const command of taken) registerCommand(names, command);
    const found: SlashCommand[] = [];
    for (const active of this.#active) {
      const owner = active.plugin.manifest.name;
      for (const known of active.known?.commands ?? []) {
        const command = lazyCommand(known, () => this.#load(active), owner);
        const free = registerCommand(names, command);
        if (free) found.push(free);
        else
          this.#noticeOnce(
            `command:${known.name}:${active.plugin.dir}`,
            `Plugin ${owner}: /${known.name} is taken already`,
          );
      }
    }
    return found;
  }

  async #firstWith<T>(has: (known: Registrations) => boolean, get: (collected: Collected) => T | undefined) {
    for (const active of this.#active) {
      if (active.problem || !active.known || !has(active.known)) continue;
      const collected = await this.#load(active);
      const value = collected ? get(collected) : undefined;
      if (value !== undefined) return value;
    }
    return undefined;
  }

  /** Undefined when no plugin provides an engine of this name. */
  async contextEngine(name: string, options: EngineOptions): Promise<ContextEngine | undefined> {
    const owner = isBuiltInEngine(name) ? undefined : this.#engineOwner();
    const make = owner ? (await this.#load(owner))?.contextEngines.get(name) : undefined;
    if (!make) return undefined;
    const { adaptEngine } = await import("./adapt-plugin.ts");
    return adaptEngine(make(options), options.contextLength);
  }

  async memoryProvider(name: string): Promise<MemoryProvider | undefined> {
    const make = await this.#firstWith(
      (known) => known.memoryProviders.includes(name),
      (collected) => collected.memoryProviders.get(name),
    );
    if (!make) return undefined;
    const { adaptMemory } = await import("./adapt-plugin.ts");
    return adaptMemory(make());
  }

  cliCommand(name: string): Promise<PluginCliCommand | undefined> {
    return this.#firstWith(
      (known) => known.cliCommands.some((command) => command.name === name),
      (collected) => collected.cliCommands.find((command) => command.name === name),
    );
  }

  webSearchProvider(name: string): Promise<WebProvider | undefined> {
    return this.#firstWith(
      (known) => known.webProviders.includes(name),
      (collected) => collected.webProviders.findLast((provider) => provider.name === name),
    );
  }

  /** Chat platforms in the order of their plugins; of two with the same name, the first is used. */
  async platforms(): Promise<readonly Platform[]> {
    const found = new Map<string, Platform>();
    for (const active of this.#active) {
      if (active.problem || !active.known?.providers.some((id) => id.startsWith("platform:"))) continue;
      const { name: plugin } = active.plugin.manifest;
      for (const platform of (await this.#load(active))?.platforms ?? [])
        if (!found.has(platform.name)) found.set(platform.name, platform);
        else this.notice(`Plugin ${plugin}: another plugin already provides the platform ${platform.name}`);
    }
    return [...found.values()];
  }

  /** A browser, image, video or dashboard provider by name. */
  provider(kind: ProviderKind, name: string): Promise<NamedProvider | undefined> {
    const matches = (entry: Collected["providers"][number]) => entry.kind === kind && entry.provider.name === name;
    return this.#firstWith(
      (known) => known.providers.includes(`${kind}:${name}`),
      (collected) => collected.providers.findLast(matches)?.provider,
    );
  }

  /** Names of the providers of one kind. Loads no code. */
  providerNames(kind: "web" | ProviderKind): string[] {
    return this.#active.flatMap(({ known }) =>
      kind === "web"
        ? [...(known?.webProviders ?? [])]
        : (known?.providers ?? []).filter((id) => id.startsWith(`${kind}:`)).map((id) => id.slice(kind.length + 1)),
    );
  }

  get skills(): readonly { readonly name: string; readonly path: string; readonly description: string }[] {
    return this.#active.flatMap(({ known }) => known?.skills ?? []);
  }

  get skillRoots(): readonly string[] {
    return this.#active.flatMap(({ known }) => known?.skillRoots ?? []);
  }

  /** Model providers from manifests and from code. Plugins whose registrations are not known yet are loaded. */
  async modelProviders(): Promise<readonly PluginModelProvider[]> {
    const rows: PluginModelProvider[] = [];
    for (const active of this.#active) {
      if (!active.known && !active.problem) await this.#load(active);
      const { name: plugin, modelProviders } = active.plugin.manifest;
      const declared = active.problem ? [] : modelProviders;
      const known = new Map([...declared, ...(active.known?.modelProviders ?? [])].map((row) => [row.name, row]));
      rows.push(...[...known.values()].map((row) => ({ ...row, plugin })));
    }
    return rows;
  }

  /** Shows the user a notice, once. */
  notice(text: string): void {
    this.#noticeOnce(text, text);
  }

  /** Every plugin that was found, whether it runs or not. */
  rows(): PluginRow[] {
    return [...this.#found.values()].map((plugin) =>
      pluginRow(
        plugin,
        this.#options,
        this.#active.find((entry) => entry.plugin === plugin),
      ),
    );
  }

  async close(): Promise<void> {
    for (const { collected, plugin } of this.#active) {
      for (const closer of collected?.closers.toReversed() ?? []) {
        const work = (async () => closer())();
        await withLimit(work, CLOSE_TIMEOUT_MS, "closing").catch((error: unknown) => {
          this.#services.notice(`Plugin ${plugin.manifest.name} did not close cleanly: ${errorMessage(error)}`);
        });
      }
    }
    this.#errorGuard.stop();
    await this.#cache.save();
  }
}
