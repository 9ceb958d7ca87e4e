// Model providers of plugins, as named endpoints of the configuration: for conversations and for commands that open none.
import type { Config } from "../core/config/config.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import type { PluginModelProvider } from "../core/plugin.ts";
import { CATALOG, providerByAlias, providerById } from "../providers/catalog.ts";
import { hostAllowed, hostOf, hostsOf } from "../providers/keys/key-hosts.ts";
import { wantsNoPlugins } from "./plugin-status.ts";

/** Why the row cannot be used. A plugin may not ask for a key that was made for somebody else's host. */
function problemOf({ name, baseUrl, keyVar }: PluginModelProvider): string | undefined {
  const builtIn = providerById(name) ?? providerByAlias(name);
  if (builtIn) return `"${name}" is the built-in ${builtIn.label}; it needs another name`;
  const host = hostOf(baseUrl);
  if (!host) return `"${baseUrl}" is not an http(s) address`;
  const owners = CATALOG.filter((spec) => keyVar !== undefined && spec.keyVars?.includes(keyVar));
  if (owners.length === 0 || owners.some((spec) => hostAllowed(host, hostsOf(spec)))) return undefined;
  return `${keyVar} belongs to ${owners[0]?.label} and is not sent to ${host}; it needs a variable of its own`;
}

function endpointOf(row: PluginModelProvider): object {
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

/** The person's own endpoints go first; of two plugins with the same name the first does. */
export function addModelProviders(
  config: Config,
  rows: readonly PluginModelProvider[],
  notice: (text: string) => void,
): Config {
  const fromPlugin: { [name: string]: object } = {};
  for (const row of rows) {
    const problem = fromPlugin[row.name] ? `"${row.name}" is brought by another plugin already` : problemOf(row);
    if (problem) notice(`Plugin ${row.plugin}: model provider left out: ${problem}`);
    else fromPlugin[row.name] = endpointOf(row);
  }
  return { ...config, providers: { ...fromPlugin, ...config.providers } } as Config;
}

/** The same for a command that has no plugins open. */
export async function withPluginModels(
  home: Home,
  config: Config,
  notice: (text: string) => void = () => undefined,
): Promise<Config> {
  if (wantsNoPlugins(config)) return config;
  const { PluginHost } = await import("./plugin-host.ts");
  const models = () => Promise.reject(new UserError("models are not open yet"));
  const host = await PluginHost.open({ home, config, parts: { models, notice } });
  try {
    return addModelProviders(config, await host.modelProviders(), notice);
  } finally {
    await host.close();
  }
}
