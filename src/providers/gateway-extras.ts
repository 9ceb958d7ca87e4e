// What gateways get with every request beyond the dialect: attribution, response cache, routing.
import type { JsonObject } from "../core/message.ts";
import type { ProviderSettings } from "./settings.ts";

/** Gateways list the programs that call them by these. */
export const ATTRIBUTION = { "HTTP-Referer": "https://hermes-agent.nousresearch.com", "X-Title": "Hermes Agent" };

/** Headers and body fields that only OpenRouter knows. */
export function openRouterExtras(
  endpoint: { model: string },
  settings: ProviderSettings,
): { headers: Record<string, string>; extraBody: JsonObject } {
  const { openrouter, routing } = settings;
  return {
    headers: {
      ...ATTRIBUTION,
      ...(openrouter.responseCache
        ? { "X-OpenRouter-Cache": "true", "X-OpenRouter-Cache-TTL": String(openrouter.ttlSeconds) }
        : {}),
    },
    extraBody: {
      ...(routing ? { provider: routing } : {}),
      ...(endpoint.model === "openrouter/pareto-code"
        ? { plugins: [{ id: "pareto-router", min_coding_score: openrouter.minCodingScore }] }
        : {}),
    },
  };
}
