// Which plugins run: the enable list, the disable list, and the two settings that choose one of many.
import type { Config } from "../core/config/config.ts";
import { apiProblem } from "../core/plugin.ts";
import type { FoundPlugin } from "./discovery.ts";

/** `selected` by memory.provider or context.engine; `built in` for bundled backends and platforms. */
export type PluginStatus = "enabled" | "disabled" | "not enabled" | "selected" | "built in";

const BUILT_IN_ENGINES: readonly string[] = ["", "compressor", "lossless"];

function names(plugin: FoundPlugin): string[] {
  return [plugin.manifest.name, plugin.key, plugin.key.split("/").at(-1) ?? plugin.key];
}

function listed(plugin: FoundPlugin, list: unknown): boolean {
  if (!Array.isArray(list)) return false;
  return names(plugin).some((name) => list.includes(name));
}

export function isBuiltInEngine(name: string): boolean {
  return BUILT_IN_ENGINES.includes(name.trim());
}

/** The name that config.yaml gives, when it is not one of ours. */
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
  if ((kind === "memory" || kind === "exclusive") && memory) return names(plugin).includes(memory);
  const engine = chosenEngine(config);
  return kind === "context-engine" && engine !== undefined && names(plugin).includes(engine);
}

export function pluginStatus(plugin: FoundPlugin, config: Config): PluginStatus {
  const { enabled, disabled } = config.plugins;
  if (listed(plugin, disabled)) return "disabled";
  if (isSelected(plugin, config)) return "selected";
  const { kind } = plugin.manifest;
  if (kind === "memory" || kind === "exclusive") return "not enabled";
  if (listed(plugin, enabled)) return "enabled";
  return plugin.source === "bundled" && (kind === "backend" || kind === "platform") ? "built in" : "not enabled";
}

export function runs(status: PluginStatus): boolean {
  return status === "enabled" || status === "selected" || status === "built in";
}

/** True when the configuration asks for no plugin at all: then nothing is looked for. */
export function wantsNoPlugins(config: Config): boolean {
  return config.plugins.enabled.length === 0 && !chosenEngine(config) && !chosenMemory(config);
}

/** Why a plugin cannot run, as far as its manifest tells. */
export function manifestProblem(plugin: FoundPlugin): string | undefined {
  if (plugin.manifest.problems.includes("the manifest is not a map"))
    return "plugin.yaml cannot be read: it is not a map";
  return apiProblem(plugin.manifest.api);
}
