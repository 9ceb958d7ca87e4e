// What a call cost: the best known price times the tokens of each bucket, with where the price came from.
import type { Cost, Usage } from "../core/usage.ts";
import type { Endpoint } from "./endpoint.ts";
import { hostAllowed, hostOf, hostsOf } from "./key-hosts.ts";
import { listPrices, PRICING_VERSION } from "./pricing-table.ts";
import type { Prices } from "./settings.ts";

export interface KnownPrices {
  readonly prices: Prices;
  /** `user_override`, `provider_models_api`, `official_docs_snapshot`. */
  readonly source: string;
  readonly version?: string;
}

const UNKNOWN: Cost = { usd: null, status: "unknown", source: "none" };

/** Dollars for the use; null when a used bucket has no price. */
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

/** The price that applies: the person's own, the one the endpoint lists, the makers' list. */
export function pricesFor(
  endpoint: Endpoint,
  known: { readonly override?: Prices | undefined; readonly listed?: Prices | undefined },
): KnownPrices | undefined {
  if (known.override) return { prices: known.override, source: "user_override" };
  if (known.listed) return { prices: known.listed, source: "provider_models_api" };
  const host = hostOf(endpoint.baseUrl);
  if (host === undefined || !hostAllowed(host, hostsOf(endpoint.spec))) return undefined;
  const listed = listPrices(endpoint.spec.id, endpoint.model);
  return listed ? { prices: listed, source: "official_docs_snapshot", version: PRICING_VERSION } : undefined;
}

/** The cost of one call. Local servers and the offline model cost nothing. */
export function costOf(endpoint: Endpoint, usage: Usage, known: KnownPrices | undefined): Cost {
  if (known === undefined) {
    const free = endpoint.transport === "offline" || endpoint.spec.local === true;
    return free ? { usd: 0, status: "included", source: "none" } : UNKNOWN;
  }
  const usd = dollars(usage, known.prices);
  if (usd === null) return UNKNOWN;
  return {
    usd,
    status: "estimated",
    source: known.source,
    ...(known.version ? { pricingVersion: known.version } : {}),
  };
}
