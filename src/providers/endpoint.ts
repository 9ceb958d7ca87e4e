// A model that can be called: its address, dialect and keys.
import type { JsonObject } from "../core/message.ts";
import type { ModelIdentity, TransportName } from "../core/model/provider.ts";
import type { ProviderSpec } from "./provider-spec.ts";

/** A key found in a variable; `variable` names it for the pool and for messages. */
export interface VariableKey {
  readonly variable: string;
  readonly value: string;
}

/** The only keys that may be sent to the host of this endpoint. */
export interface EndpointKeys {
  /** Set by the user for this endpoint, as an argument or in the configuration. Used instead of the pool. */
  readonly fixed?: string | undefined;
  /** The list in auth.json; null when there is none, or its keys may not be sent to this host. */
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

export function modelIdentity(endpoint: Endpoint): ModelIdentity {
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
