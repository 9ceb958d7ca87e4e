// A model that can be called: where it is, how it speaks, and which keys may be shown to it.
import type { JsonObject } from "../core/message.ts";
import type { ModelIdentity, TransportName } from "../core/provider.ts";
import type { ProviderSpec } from "./provider-spec.ts";

/** A key found in a variable; `variable` names it for the pool and for messages. */
export interface VariableKey {
  readonly variable: string;
  readonly value: string;
}

/** The keys that may be sent to this endpoint's host; nothing else ever is. */
export interface EndpointKeys {
  /** Given by the person for this very endpoint: argument or configuration. Wins over the pool. */
  readonly fixed?: string | undefined;
  /** The list in auth.json, null when its keys may not go to this host (or there is none). */
  readonly pool: string | null;
  readonly variables: readonly VariableKey[];
  /** True when the server may be called without any key. */
  readonly optional: boolean;
}

export interface Endpoint {
  /** Catalog id, `custom`, or `custom:<slug>` for a named one. */
  readonly provider: string;
  readonly label: string;
  readonly spec: ProviderSpec;
  readonly model: string;
  readonly transport: TransportName;
  readonly baseUrl: string;
  readonly keys: EndpointKeys;
  readonly headers: { readonly [name: string]: string };
  readonly extraBody: JsonObject;
  /** On this machine or network. */
  readonly local: boolean;
  readonly contextLength?: number | undefined;
  /** Total time for one call, when the configuration sets one for this endpoint or model. */
  readonly timeoutMs?: number | undefined;
  readonly staleTimeoutMs?: number | undefined;
}

export function identityOf(endpoint: Endpoint): ModelIdentity {
  return {
    provider: endpoint.provider,
    model: endpoint.model,
    baseUrl: endpoint.baseUrl,
    transport: endpoint.transport,
  };
}

/** True when two endpoints would send the same request to the same place. */
export function sameModel(a: Endpoint, b: Endpoint): boolean {
  return (
    a.model === b.model &&
    (a.provider === b.provider ? a.baseUrl === b.baseUrl : a.baseUrl === b.baseUrl && a.baseUrl !== "")
  );
}
