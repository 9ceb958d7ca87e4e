// Adds the model providers of plugins to the configuration, as named endpoints.
import type { Config } from "../core/config/config.ts";
import type { PluginModelProvider } from "../core/plugin.ts";

function endpoint(row: PluginModelProvider): object {
  return {
    name: row.label ?? row.name,
    base_url: row.baseUrl,
    plugin: row.plugin,
    ...(row.apiMode ? { api_mode: row.apiMode } : {}),
    ...(row.keyVar ? { key_env: row.keyVar } : {}),
    ...(row.model ? { model: row.model } : {}),
    ...(row.contextLength ? { context_length: row.contextLength } : {}),
  };
}

export interface AddModelProvidersOptions {
  /** Why a provider cannot be used; undefined when it can. */
  problem(row: PluginModelProvider): string | undefined;
  notice(text: string): void;
}

/** Endpoints in config.yaml take precedence; of two plugins with the same provider name, the first one wins. */
export function addModelProviders(
  config: Config,
  rows: readonly PluginModelProvider[],
  options: AddModelProvidersOptions,
): Config {
  const fromPlugins: { [name: string]: object } = {};
  for (const row of rows) {
    const problem = fromPlugins[row.name] ? `another plugin already provides "${row.name}"` : options.problem(row);
    if (problem) options.notice(`Plugin ${row.plugin}: model provider ignored: ${problem}`);
    else fromPlugins[row.name] = endpoint(row);
  }
  return { ...config, providers: { ...fromPlugins, ...config.providers } } as Config;
}
