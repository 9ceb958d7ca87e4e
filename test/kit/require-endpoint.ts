// Resolves an endpoint and throws when the configuration does not allow it.
import type { Endpoint } from "../../src/providers/endpoint.ts";
import { type ModelSelection, type ResolveContext, resolveEndpoint } from "../../src/providers/resolve.ts";

export function requireEndpoint(selection: ModelSelection, context: ResolveContext): Endpoint {
  const resolution = resolveEndpoint(selection, context);
  if (resolution.ok) return resolution.endpoint;
  throw new Error(resolution.failure.message);
}
