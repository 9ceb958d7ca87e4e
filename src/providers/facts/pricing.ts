// The cost of a call: the best known price times the tokens of each kind, and the source of the price.
import { ASSUMED_PRICE, type Cost, type Usage } from "../../core/store/usage.ts";
import type { Endpoint } from "../endpoint.ts";
import { hostAllowed, isLoopback, parseHost, providerHosts } from "../keys/key-hosts.ts";
import type { Prices } from "../settings.ts";
import { assumedPrices, listedPrice } from "./pricing-table.ts";

export interface KnownPrices {
  readonly prices: Prices;
  /** `user_override`, `provider_models_api`, `official_docs_snapshot`, `third_party_snapshot`. */
  readonly source: string;
  readonly version?: string | undefined;
}

/** Dollars for the usage; null when a kind of token that was used has no price. */
export function dollars(usage: Usage, prices: Prices): number | null {
  let total = usage.input * prices.input + usage.output * prices.output;
  for (const bucket of ["cacheRead", "cacheWrite"] as const) {
    if (usage[bucket] === 0) continue;
    const price = prices[bucket];
    if (price === undefined) return null;
    total += usage[bucket] * price;
  }
  return total / 1_000_000;
}

/** The price that applies: set by the user, listed by the endpoint, or listed by the maker. */
export function pricesFor(
  endpoint: Endpoint,
  known: { readonly override?: Prices | undefined; readonly listed?: Prices | undefined },
): KnownPrices | undefined {
  if (known.override) return { prices: known.override, source: "user_override" };
  if (known.listed) return { prices: known.listed, source: "provider_models_api" };
  const host = parseHost(endpoint.baseUrl);
  if (host === undefined || !hostAllowed(host, providerHosts(endpoint.spec))) return undefined;
  const listed = listedPrice(endpoint.spec.id, endpoint.model);
  if (!listed) return undefined;
  const source = listed.thirdParty ? "third_party_snapshot" : "official_docs_snapshot";
  return { prices: listed.prices, source, version: listed.read };
}

/** Calls of the offline model and of servers on this machine cost nothing. */
function isFree(endpoint: Endpoint): boolean {
  if (endpoint.transport === "offline" || endpoint.spec.local === true) return true;
  const custom = endpoint.provider === "custom" || endpoint.provider.startsWith("custom:");
  return custom && isLoopback(endpoint.baseUrl);
}

/**
 * The cost of one call. Where a price is not known, a high one is assumed: a call is never counted as free because its
 * price is unknown.
 */
export function calculateCost(endpoint: Endpoint, usage: Usage, known: KnownPrices | undefined): Cost {
  if (known === undefined && isFree(endpoint)) return { usd: 0, status: "included", source: "none" };
  const usd = known === undefined ? null : dollars(usage, known.prices);
  if (known === undefined || usd === null) {
    const prices = known === undefined ? assumedPrices(endpoint.model) : withCachePrices(known.prices);
    return { usd: dollars(usage, prices), status: "estimated", source: ASSUMED_PRICE };
  }
  return {
    usd,
    status: "estimated",
    source: known.source,
    pricingVersion: known.version,
  };
}

function withCachePrices({ input, output, cacheRead = input, cacheWrite = input * 1.25 }: Prices): Prices {
  return { input, output, cacheRead, cacheWrite };
}
