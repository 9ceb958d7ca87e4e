// Which endpoints failed lately. Side calls use it so that they do not wait for a model that the conversation has left.
import type { FailureKind } from "../../core/failure.ts";
import { rememberNewest } from "../../lib/remember-newest.ts";
import type { Endpoint } from "../endpoint.ts";

const DOWN_MS = 300_000;
const MAX_ENDPOINTS = 100;

/** Failures of the service. Others, such as a refused request, say nothing about the next call. */
const OUTAGES: ReadonlySet<FailureKind> = new Set([
  "auth",
  "billing",
  "rate_limit",
  "overloaded",
  "server_error",
  "timeout",
]);

function key({ provider, baseUrl, model }: Endpoint): string {
  return `${provider} ${baseUrl} ${model}`;
}

/** Shared by all clients of a home. */
export class EndpointHealth {
  readonly #downUntil = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  failed(endpoint: Endpoint, kind: FailureKind): void {
    if (OUTAGES.has(kind)) rememberNewest(this.#downUntil, key(endpoint), this.#now() + DOWN_MS, MAX_ENDPOINTS);
  }

  answered(endpoint: Endpoint): void {
    this.#downUntil.delete(key(endpoint));
  }

  /** True for five minutes after an outage, unless the endpoint has answered since. */
  isDown(endpoint: Endpoint): boolean {
    return (this.#downUntil.get(key(endpoint)) ?? 0) > this.#now();
  }
}
