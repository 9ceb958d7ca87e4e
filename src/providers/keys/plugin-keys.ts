// Endpoints that plugins bring: where their keys come from, and whether they can be called.
import type { VariableKey } from "../endpoint.ts";
import type { CustomEndpoint } from "../settings.ts";
import { isUsableKey } from "./key-check.ts";
import { isLocalUrl } from "./key-hosts.ts";

export interface KeyLocations {
  readonly env: { readonly [name: string]: string | undefined };
  readonly pooled?: ReadonlySet<string> | undefined;
  readonly suppressed?: { readonly [provider: string]: readonly string[] };
}

/** A plugin names its variable as the catalog does: one of the places where a key may come from. */
export function pluginKeys(named: CustomEndpoint, places: KeyLocations): VariableKey[] {
  if (!named.plugin || named.keyVar === "") return [];
  const value = places.env[named.keyVar];
  const suppressed = places.suppressed?.[`custom:${named.slug}`]?.includes(`env:${named.keyVar}`);
  return isUsableKey(value, isLocalUrl(named.baseUrl)) && !suppressed
    ? [{ variable: named.keyVar, value: value.trim() }]
    : [];
}

/** True when the endpoint has a key, or wants none. */
export function endpointReady(named: CustomEndpoint, places: KeyLocations): boolean {
  if (!named.plugin || named.keyVar === "") return true;
  return pluginKeys(named, places).length > 0 || (places.pooled?.has(`custom:${named.slug}`) ?? false);
}
