// What `hermes plugins` does: list, switch on and off, install, update, remove.

import { commandEnvironment } from "../app/command-environment.ts";
import { openSettings } from "../config/api.ts";
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
  requireOwn,
  updatePlugin,
} from "./install.ts";
import { PluginCache } from "./plugin-cache.ts";
import { PluginHost } from "./plugin-host.ts";
import type { PluginRow } from "./plugin-rows.ts";

export interface PluginActions {
  list(): Promise<readonly PluginRow[]>;
  /** What the program itself brings, as a plugin's row. */
  builtins(): Promise<PluginRow>;
  /** Imports every plugin that runs, so that times and problems are those of now. */
  check(notice: (text: string) => void): Promise<readonly PluginRow[]>;
  enable(name: string): Promise<string>;
  disable(name: string): Promise<string>;
  /** The steps in words; nothing happens yet. Throws when it is clear already that they would fail. */
  plan(source: string): readonly string[];
  install(
    source: string,
    options: { force: boolean },
  ): Promise<Installed & { readonly missingEnv: readonly PluginVariable[] }>;
  /** Throws when the plugin is unknown or not ours to remove; its key. */
  removable(name: string): Promise<string>;
  update(name: string): Promise<string>;
  remove(name: string): Promise<string>;
  /** Stores a variable that a plugin asks for in `.env`. */
  setVariable(name: string, value: string): Promise<void>;
}

async function openHost(home: Home, notice: (text: string) => void): Promise<PluginHost> {
  const { config } = await openSettings(home).load();
  const models = () => Promise.reject(new UserError("models are not open here"));
  return PluginHost.open({ home, config, parts: { models, notice } });
}

async function find(home: Home, word: string): Promise<FoundPlugin> {
  const found = await discoverPlugins(home, PluginCache.open(home.path));
  const plugins = [...found.values()];
  const byName = plugins.filter((plugin) => plugin.key === word || plugin.manifest.name === word);
  const [only, second] = byName;
  if (only && !second) return only;
  const guess = nearest(word, [...found.keys()]);
  throw new UserError(
    second
      ? `several plugins are called "${word}"`
      : `there is no plugin "${word}"${guess ? `; did you mean "${guess}"?` : ""}`,
    {
      hint: second ? `Use one of: ${byName.map((plugin) => plugin.key).join(", ")}` : "See: hermes plugins list",
      exitCode: 2,
    },
  );
}

/** Both lists are kept sorted, and a plugin stands in at most one of them. */
async function move(settings: Settings, plugin: FoundPlugin, to: "enabled" | "disabled" | null): Promise<void> {
  const { config } = await settings.load();
  const names = [plugin.key, plugin.manifest.name];
  for (const list of ["enabled", "disabled"] as const) {
    const before = config.plugins[list] as readonly string[];
    const kept = before.filter((name) => !names.includes(name));
    const after = list === to ? [...kept, plugin.key].sort() : kept;
    if (JSON.stringify(after) !== JSON.stringify(before)) await settings.set(`plugins.${list}`, JSON.stringify(after));
  }
}

function refuseSelected(plugin: FoundPlugin): void {
  const { kind, name } = plugin.manifest;
  if (kind === "memory" || kind === "exclusive")
    throw new UserError(`${name} is a memory provider: one is chosen, not enabled`, {
      hint: `Choose it with: hermes memory setup ${name}`,
    });
}

export function openPlugins(home: Home): PluginActions {
  const settings = openSettings(home);
  const environment = async () => commandEnvironment(home, (await settings.load()).config);
  return {
    list: async () => {
      const host = await openHost(home, () => undefined);
      const rows = host.rows();
      await host.close();
      return rows;
    },
    builtins: async () => (await import("./builtin-row.ts")).builtinRow(home),
    check: async (notice) => {
      const host = await openHost(home, notice);
      await host.loadAll();
      const rows = host.rows();
      await host.close();
      return rows;
    },
    enable: async (word) => {
      const plugin = await find(home, word);
      refuseSelected(plugin);
      await move(settings, plugin, "enabled");
      return plugin.key;
    },
    disable: async (word) => {
      const plugin = await find(home, word);
      await move(settings, plugin, "disabled");
      return plugin.key;
    },
    plan: (source) => describeInstall(parseInstallSource(source, home), home),
    install: async (source, options) => {
      const env = await environment();
      const installed = await installPlugin(parseInstallSource(source, home), home, { ...options, env });
      const { requiresEnv } = installed.plugin.manifest;
      return { ...installed, missingEnv: requiresEnv.filter(({ name }) => !home.env[name]) };
    },
    update: async (word) => updatePlugin(await find(home, word), home, await environment()),
    removable: async (word) => {
      const plugin = await find(home, word);
      requireOwn(plugin, home, "removed");
      return plugin.key;
    },
    remove: async (word) => {
      const plugin = await find(home, word);
      await removePlugin(plugin, home, await environment());
      await move(settings, plugin, null);
      return plugin.key;
    },
    setVariable: async (name, value) => {
      const { setEnvValue } = await import("../config/env-write.ts");
      await setEnvValue(home, name, value);
    },
  };
}
