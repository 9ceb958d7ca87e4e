// Which plugins run: the enabled and disabled lists, and the settings that choose a memory provider and a context engine.
import type { Config } from "../core/config/config.ts";
import { apiProblem } from "../core/plugin.ts";
import type { FoundPlugin } from "./discovery.ts";

/** `selected` by memory.provider or context.engine; `built in` for bundled backends and platforms. */
export type PluginStatus = "enabled" | "disabled" | "not enabled" | "selected" | "built in";

const BUILT_IN_ENGINES: readonly string[] = ["", "compressor", "lossless"];

function pluginNames(plugin: FoundPlugin): string[] {
  return [plugin.manifest.name, plugin.key, plugin.key.split("/").at(-1) ?? plugin.key];
}

function isListed(plugin: FoundPlugin, list: unknown): boolean {
  if (!Array.isArray(list)) return false;
  return pluginNames(plugin).some((name) => list.includes(name));
}

export function isBuiltInEngine(name: string): boolean {
  return BUILT_IN_ENGINES.includes(name.trim());
}

/** The configured context engine, when it is not a built-in one. */
export function chosenEngine(config: Config): string | undefined {
  const engine = config.context.engine.trim();
  return isBuiltInEngine(engine) ? undefined : engine;
}

export function chosenMemory(config: Config): string | undefined {
  return config.memory.provider.trim() || undefined;
}

function isSelected(plugin: FoundPlugin, config: Config): boolean {
  const { kind } = plugin.manifest;
  const memory = chosenMemory(config);
  if ((kind === "memory" || kind === "exclusive") && memory) return pluginNames(plugin).includes(memory);
  const engine = chosenEngine(config);
  return kind === "context-engine" && engine !== undefined && pluginNames(plugin).includes(engine);
}

export function pluginStatus(plugin: FoundPlugin, config: Config): PluginStatus {
  const { enabled, disabled } = config.plugins;
  if (isListed(plugin, disabled)) return "disabled";
  if (isSelected(plugin, config)) return "selected";
  const { kind } = plugin.manifest;
  if (kind === "memory" || kind === "exclusive") return "not enabled";
  if (isListed(plugin, enabled)) return "enabled";
  return plugin.source === "bundled" && (kind === "backend" || kind === "platform") ? "built in" : "not enabled";
}

export function runs(status: PluginStatus): boolean {
  return status === "enabled" || status === "selected" || status === "built in";
}

/** True when the configuration enables no plugin, so that none need to be searched. */
export function wantsNoPlugins(config: Config): boolean {
  return config.plugins.enabled.length === 0 && !chosenEngine(config) && !chosenMemory(config);
}

/** Why a plugin cannot run according to its manifest. */
export function manifestProblem(plugin: FoundPlugin): string | undefined {
  if (plugin.manifest.problems.includes("the manifest is not a map"))
    return "plugin.yaml cannot be read: it is not a map";
  return apiProblem(plugin.manifest.api);
}
