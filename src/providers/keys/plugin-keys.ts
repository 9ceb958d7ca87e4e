// The keys of endpoints that plugins provide.
import type { VariableKey } from "../endpoint.ts";
import type { CustomEndpoint } from "../settings.ts";
import { isUsableKey } from "./key-check.ts";
import { isLocalUrl } from "./key-hosts.ts";

export interface KeyLocations {
  readonly env: { readonly [name: string]: string | undefined };
  readonly pooled?: ReadonlySet<string> | undefined;
  readonly suppressed?: { readonly [provider: string]: readonly string[] };
}

/** The key in the variable that the plugin names. */
export function pluginKeys(named: CustomEndpoint, sources: KeyLocations): VariableKey[] {
  if (!named.plugin || named.keyVar === "") return [];
  const value = sources.env[named.keyVar];
  const suppressed = sources.suppressed?.[`custom:${named.slug}`]?.includes(`env:${named.keyVar}`);
  return isUsableKey(value, isLocalUrl(named.baseUrl)) && !suppressed
    ? [{ variable: named.keyVar, value: value.trim() }]
    : [];
}

/** True when the endpoint has a key, or needs none. */
export function endpointReady(named: CustomEndpoint, sources: KeyLocations): boolean {
  if (!named.plugin || named.keyVar === "") return true;
  return pluginKeys(named, sources).length > 0 || (sources.pooled?.has(`custom:${named.slug}`) ?? false);
}
