// What `hermes plugins` does: list, enable, disable, install, update and remove plugins.
import type { Config } from "../core/config/config.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import type { PluginVariable } from "../core/plugin.ts";
import type { Settings } from "../core/settings.ts";
import { nearest } from "../lib/nearest.ts";
import { discoverPlugins, type FoundPlugin } from "./discovery.ts";
import {
  describeInstall,
  type Installed,
  installPlugin,
  parseInstallSource,
  removePlugin,
  requireRemovable,
  updatePlugin,
} from "./install.ts";
import { PluginCache } from "./plugin-cache.ts";
import type { PluginHost } from "./plugin-host.ts";
import type { PluginRow } from "./plugin-rows.ts";

export type { PluginRow };

export interface PluginActions {
  list(): Promise<readonly PluginRow[]>;
  /** The tools, commands and providers of the program itself, as the row of a plugin. */
  builtins(): Promise<PluginRow>;
  /** Imports every plugin that runs, so that load times and problems are current. */
  check(notice: (text: string) => void): Promise<readonly PluginRow[]>;
  enable(name: string): Promise<string>;
  disable(name: string): Promise<string>;
  /** Describes the steps of an installation without taking them. Throws when they would certainly fail. */
  plan(source: string): readonly string[];
  install(
    source: string,
    options: { force: boolean },
  ): Promise<Installed & { readonly missingEnv: readonly PluginVariable[] }>;
  /** The key of the plugin. Throws when it is unknown or must not be removed. */
  removable(name: string): Promise<string>;
  update(name: string): Promise<string>;
  remove(name: string): Promise<string>;
  /** Stores a variable that a plugin needs in `.env`. */
  setVariable(name: string, value: string): Promise<void>;
}

/** What the actions need from the program. */
export interface PluginActionsDeps {
  readonly home: Home;
  readonly settings: Pick<Settings, "load" | "set" | "setEnv">;
  openHost(config: Config, notice: (text: string) => void): Promise<PluginHost>;
  /** The environment for `git` and `npm`, without secrets. */
  commandEnvironment(config: Config): { readonly [name: string]: string };
  builtins(): Promise<PluginRow>;
}

async function findPlugin(home: Home, name: string): Promise<FoundPlugin> {
  const found = await discoverPlugins(home, PluginCache.open(home.path));
  const plugins = [...found.values()];
  const byName = plugins.filter((plugin) => plugin.key === name || plugin.manifest.name === name);
  const [only, second] = byName;
  if (only && !second) return only;
  const guess = nearest(name, [...found.keys()]);
  throw new UserError(
    second
      ? `several plugins have the name "${name}"`
      : `there is no plugin "${name}"${guess ? `; did you mean "${guess}"?` : ""}`,
    {
      hint: second ? `Use one of: ${byName.map((plugin) => plugin.key).join(", ")}` : "See: hermes plugins list",
      exitCode: 2,
    },
  );
}

/** Moves a plugin to one of the two lists, or to none. The lists stay sorted. */
async function moveToList(
  settings: PluginActionsDeps["settings"],
  plugin: FoundPlugin,
  to: "enabled" | "disabled" | null,
): Promise<void> {
  const { config } = await settings.load();
  const names = [plugin.key, plugin.manifest.name];
  for (const list of ["enabled", "disabled"] as const) {
    const before = config.plugins[list] as readonly string[];
    const others = before.filter((name) => !names.includes(name));
    const after = list === to ? [...others, plugin.key].sort() : others;
    if (JSON.stringify(after) !== JSON.stringify(before)) await settings.set(`plugins.${list}`, JSON.stringify(after));
  }
}

function refuseMemoryProvider(plugin: FoundPlugin): void {
  const { kind, name } = plugin.manifest;
  if (kind === "memory" || kind === "exclusive")
    throw new UserError(`${name} is a memory provider, and those are not enabled but chosen`, {
      hint: `Choose it with: hermes memory setup ${name}`,
    });
}

export function createPluginActions(deps: PluginActionsDeps): PluginActions {
  const { home, settings } = deps;
  const environment = async () => deps.commandEnvironment((await settings.load()).config);
  const openHost = async (notice: (text: string) => void) => deps.openHost((await settings.load()).config, notice);
  const find = (name: string) => findPlugin(home, name);
  return {
    list: async () => {
      const host = await openHost(() => undefined);
      const rows = host.rows();
      await host.close();
      return rows;
    },
    builtins: () => deps.builtins(),
    check: async (notice) => {
      const host = await openHost(notice);
      await host.loadAll();
      const rows = host.rows();
      await host.close();
      return rows;
    },
    enable: async (name) => {
      const plugin = await find(name);
      refuseMemoryProvider(plugin);
      await moveToList(settings, plugin, "enabled");
      return plugin.key;
    },
    disable: async (name) => {
      const plugin = await find(name);
      await moveToList(settings, plugin, "disabled");
      return plugin.key;
    },
    plan: (source) => describeInstall(parseInstallSource(source, home), home),
    install: async (source, options) => {
      const env = await environment();
      const installed = await installPlugin(parseInstallSource(source, home), home, { ...options, env });
      const { requiresEnv } = installed.plugin.manifest;
      return { ...installed, missingEnv: requiresEnv.filter((variable) => !home.env[variable.name]) };
    },
    update: async (name) => updatePlugin(await find(name), home, await environment()),
    removable: async (name) => {
      const plugin = await find(name);
      requireRemovable(plugin, home, "removed");
      return plugin.key;
    },
    remove: async (name) => {
      const plugin = await find(name);
      await removePlugin(plugin, home, await environment());
      await moveToList(settings, plugin, null);
      return plugin.key;
    },
    setVariable: (name, value) => settings.setEnv(name, value),
  };
}
