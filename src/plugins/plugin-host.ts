// The host of plugins: knows what each brings from its manifest and last run, imports its code at first use.
import { createHash } from "node:crypto";
import type { SlashCommand } from "../core/command.ts";
import type { Config } from "../core/config/config.ts";
import type { ContextEngine } from "../core/context.ts";
import type { Home } from "../core/home.ts";
import type { MemoryProvider } from "../core/memory.ts";
import type { JsonObject } from "../core/message.ts";
import type { Platform } from "../core/platform.ts";
import type { EngineOptions, NamedProvider, PluginCliCommand, PluginModelProvider, Seam } from "../core/plugin.ts";
import type { Registry } from "../core/tool-registry.ts";
import type { WebProvider } from "../core/web.ts";
import { discoverPlugins, type FoundPlugin } from "./discovery.ts";
import { PluginErrorGuard } from "./error-guard.ts";
import type { HookRunner } from "./hooks/hook-runner.ts";
import { describe, lazyCommand, lazyTool } from "./lazy-plugin.ts";
import { PluginCache, type Registrations } from "./plugin-cache.ts";
import type { PluginParts } from "./plugin-context.ts";
import { type PluginRow, pluginRow } from "./plugin-rows.ts";
import { chosenEngine, isBuiltInEngine, manifestProblem, pluginStatus, runs } from "./plugin-status.ts";
import { registerCommand, registerTools } from "./registrar.ts";
import { type Collected, emptyCollection } from "./registrations.ts";

const LOAD_MS = 10_000;
const CLOSE_MS = 2_000;

interface Active {
  readonly plugin: FoundPlugin;
  readonly config: JsonObject;
  readonly stamp: string;
  known: Registrations | undefined;
  problem: string | undefined;
  /** Milliseconds for import and `register`; of an earlier run until the code is loaded. */
  ms: number | undefined;
  loading: Promise<Collected | undefined> | undefined;
  collected: Collected | undefined;
}

export interface HostOptions {
  readonly home: Home;
  readonly config: Config;
  readonly parts: PluginParts;
}

async function within<T>(work: Promise<T>, ms: number, problem: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(problem)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Where v0.14 keeps the settings of a plugin, when that is not under its name. */
const OLDER_PLACES: { readonly [name: string]: string } = { holographic: "hermes-memory-store" };

function settingsOf(config: Config, plugin: FoundPlugin): JsonObject {
  const { name } = plugin.manifest;
  const entries = config.plugins.entries as { readonly [name: string]: unknown };
  const older = (config.plugins as { readonly [key: string]: unknown })[OLDER_PLACES[name] ?? ""];
  const found = entries[plugin.key] ?? entries[name] ?? older;
  return found !== null && typeof found === "object" && !Array.isArray(found) ? (found as JsonObject) : {};
}

/** Settings may hold secrets: only their digest is kept. */
function digestOf(settings: JsonObject): string {
  if (Object.keys(settings).length === 0) return "none";
  return createHash("sha256").update(JSON.stringify(settings)).digest("hex").slice(0, 16);
}

export class PluginHost {
  readonly #options: HostOptions;
  readonly #cache: PluginCache;
  readonly #found: ReadonlyMap<string, FoundPlugin>;
  readonly #active: readonly Active[];
  readonly #said = new Set<string>();
  readonly #stray = new PluginErrorGuard((plugin, reason) => this.#parts.notice(`Plugin ${plugin}: ${reason}`));
  #parts: PluginParts;

  private constructor(options: HostOptions, cache: PluginCache, found: ReadonlyMap<string, FoundPlugin>) {
    this.#options = options;
    this.#parts = options.parts;
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
  #activate(): Active[] {
    const { config } = this.#options;
    const order = config.plugins.enabled as readonly string[];
    const places = new Map(order.map((name, at) => [name, at]));
    const rank = ({ key, manifest }: FoundPlugin) => places.get(key) ?? places.get(manifest.name) ?? order.length;
    return [...this.#found.values()]
      .filter((plugin) => runs(pluginStatus(plugin, config)))
      .sort((a, b) => rank(a) - rank(b))
      .map((plugin) => {
        const settings = settingsOf(config, plugin);
        const stamp = `${plugin.stamp}+${digestOf(settings)}`;
        const cached = this.#cache.registrations(plugin.dir, stamp);
        return {
          plugin,
          config: settings,
          stamp,
          known:
            plugin.entry === null && plugin.manifest.modelProviders.length > 0
              ? describe(emptyCollection())
              : cached?.registrations,
          problem: manifestProblem(plugin),
          ms: cached?.ms,
          loading: undefined,
          collected: undefined,
        };
      });
  }

  /** Hands over what plugins may use once it is open. */
  provide(parts: Partial<PluginParts>): void {
    this.#parts = { ...this.#parts, ...parts };
  }

  /** One source for each plugin, in order; code that is needed is loaded when its hook first runs. */
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

  /** Makes sure that what every plugin registers is known: those that changed or are new are imported now. */
  async settle(): Promise<void> {
    for (const active of this.#active) {
      if (active.problem) this.#tell(active, active.problem);
      else if (!active.known) await this.#load(active);
    }
    this.#refuseEngines();
    await this.#cache.save();
  }

  /** Imports the code of everything that runs. */
  async loadAll(): Promise<void> {
    for (const active of this.#active) {
      if (active.problem) this.#tell(active, active.problem);
      else if (active.plugin.entry) await this.#load(active);
    }
    this.#refuseEngines();
  }

  /** Says it once, however often it comes up. */
  #once(key: string, text: string): void {
    if (this.#said.has(key)) return;
    this.#said.add(key);
    this.#parts.notice(text);
  }

  #tell({ plugin }: Active, problem: string): void {
    this.#once(`problem:${plugin.dir}`, `Plugin ${plugin.manifest.name} is left out: ${problem}`);
  }

  #load(active: Active): Promise<Collected | undefined> {
    active.loading ??= this.#import(active);
    return active.loading;
  }

  async #import(active: Active): Promise<Collected | undefined> {
    const { plugin, config } = active;
    const { home } = this.#options;
    const began = performance.now();
    const collected = emptyCollection();
    const work = async () => {
      const [{ importPlugin }, { pluginContext }] = await Promise.all([
        import("./plugin-module.ts"),
        import("./plugin-context.ts"),
      ]);
      this.#stray.watch(plugin.manifest.name, plugin.dir);
      const register = await importPlugin(plugin, home.path);
      await register(pluginContext({ plugin, home, config, parts: () => this.#parts }, collected));
    };
    try {
      await within(work(), LOAD_MS, `it did not finish loading within ${LOAD_MS / 1000} s`);
    } catch (error) {
      active.problem = error instanceof Error ? error.message : String(error);
      active.known = undefined;
      this.#tell(active, active.problem);
      return undefined;
    }
    active.ms = Math.round((performance.now() - began) * 10) / 10;
    active.collected = collected;
    active.known = describe(collected);
    for (const problem of collected.problems) this.#parts.notice(`Plugin ${plugin.manifest.name}: ${problem}`);
    this.#cache.keepRegistrations(plugin.dir, { stamp: active.stamp, registrations: active.known, ms: active.ms });
    return collected;
  }

  /** Who may bring the context engine: the one that the configuration names, else the first. */
  #engineOwner(): Active | undefined {
    const bringing = this.#active.filter(({ known }) => known?.contextEngines.some((name) => !isBuiltInEngine(name)));
    const chosen = chosenEngine(this.#options.config);
    return bringing.find((active) => active.known?.contextEngines.includes(chosen ?? "")) ?? bringing[0];
  }

  #refuseEngines(): void {
    const owner = this.#engineOwner();
    for (const { plugin, known } of this.#active) {
      const [engine] = known?.contextEngines ?? [];
      if (engine === undefined || plugin === owner?.plugin) continue;
      const first = owner?.known?.contextEngines[0];
      const reason = owner
        ? `"${first}" of ${owner.plugin.manifest.name} is registered, and only one can be`
        : "that name is built in";
      this.#once(
        `engine:${plugin.dir}`,
        `Context engine "${engine}" of plugin ${plugin.manifest.name} is refused: ${reason}.`,
      );
    }
  }

  /** Offers the tools of all plugins; call after `settle`. Each is offered once. */
  registerTools(registry: Registry): void {
    for (const active of this.#active) {
      const owner = active.plugin.manifest.name;
      for (const known of active.known?.tools ?? []) {
        const key = `tool:${known.name}:${active.plugin.dir}`;
        if (this.#said.has(key)) continue;
        this.#said.add(key);
        const tool = lazyTool(known, () => this.#load(active), owner);
        registerTools(registry, `plugin ${owner}`, [{ tool, override: known.override }], (reason) =>
          this.#parts.notice(`Plugin ${owner}: ${reason}`),
        );
      }
    }
  }

  /** Slash commands of plugins; a name that is taken already stays with its owner. */
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
          this.#once(`command:${known.name}:${active.plugin.dir}`, `Plugin ${owner}: /${known.name} is taken already`);
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

  /** Undefined when no plugin brings an engine of this name. */
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

  /** Chat platforms, in the order of their plugins; the first of a name is taken. */
  async platforms(): Promise<readonly Platform[]> {
    const found = new Map<string, Platform>();
    for (const active of this.#active) {
      if (active.problem || !active.known?.providers.some((id) => id.startsWith("platform:"))) continue;
      for (const platform of (await this.#load(active))?.platforms ?? [])
        if (!found.has(platform.name)) found.set(platform.name, platform);
        else this.notice(`Plugin ${active.plugin.manifest.name}: another plugin brings the platform ${platform.name}`);
    }
    return [...found.values()];
  }

  /** A browser, image, video or dashboard provider by name. */
  provider(seam: Seam, name: string): Promise<NamedProvider | undefined> {
    return this.#firstWith(
      (known) => known.providers.includes(`${seam}:${name}`),
      (collected) =>
        collected.providers.findLast((entry) => entry.seam === seam && entry.provider.name === name)?.provider,
    );
  }

  /** Names by sort, without loading code: `web`, and the seams. */
  providerNames(sort: "web" | Seam): string[] {
    return this.#active.flatMap(({ known }) =>
      sort === "web"
        ? [...(known?.webProviders ?? [])]
        : (known?.providers ?? []).filter((id) => id.startsWith(`${sort}:`)).map((id) => id.slice(sort.length + 1)),
    );
  }

  get skills(): readonly { readonly name: string; readonly path: string; readonly description: string }[] {
    return this.#active.flatMap(({ known }) => known?.skills ?? []);
  }

  get skillRoots(): readonly string[] {
    return this.#active.flatMap(({ known }) => known?.skillRoots ?? []);
  }

  /** Catalog rows, from manifests and from code; what is not known yet is loaded now. */
  async modelProviders(): Promise<readonly PluginModelProvider[]> {
    const rows: PluginModelProvider[] = [];
    for (const active of this.#active) {
      if (!active.known && !active.problem) await this.#load(active);
      const { name: plugin, modelProviders } = active.plugin.manifest;
      const written = active.problem ? [] : modelProviders;
      const known = new Map([...written, ...(active.known?.modelProviders ?? [])].map((row) => [row.name, row]));
      rows.push(...[...known.values()].map((row) => ({ ...row, plugin })));
    }
    return rows;
  }

  /** For the person. */
  notice(text: string): void {
    this.#once(text, text);
  }

  /** Every plugin that was found, running or not. */
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
        await within(work, CLOSE_MS, `it did not end within ${CLOSE_MS / 1000} s`).catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          this.#parts.notice(`Plugin ${plugin.manifest.name} did not close cleanly: ${reason}`);
        });
      }
    }
    this.#stray.stop();
    await this.#cache.save();
  }
}
