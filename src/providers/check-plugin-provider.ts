// Checks a model provider that a plugin registers.
import type { PluginModelProvider } from "../core/plugin.ts";
import { CATALOG, providerByAlias, providerById } from "./catalog.ts";
import { hostAllowed, parseHost, providerHosts } from "./keys/key-hosts.ts";

/** Why it cannot be used; undefined when it can. A plugin may not ask for a key that belongs to another host. */
export function pluginProviderProblem({ name, baseUrl, keyVar }: PluginModelProvider): string | undefined {
  const builtIn = providerById(name) ?? providerByAlias(name);
  if (builtIn) return `"${name}" is the built-in ${builtIn.label}; choose another name`;
  const host = parseHost(baseUrl);
  if (!host) return `"${baseUrl}" is not an http(s) address`;
  const owners = CATALOG.filter((spec) => keyVar !== undefined && spec.keyVars?.includes(keyVar));
  if (owners.length === 0 || owners.some((spec) => hostAllowed(host, providerHosts(spec)))) return undefined;
  return `${keyVar} belongs to ${owners[0]?.label} and is not sent to ${host}; use another variable`;
}
