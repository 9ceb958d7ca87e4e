// Headers and body fields that model gateways get beyond the dialect: attribution, response cache, routing.
import type { JsonObject } from "../core/message.ts";
import type { ProviderSettings } from "./settings.ts";

/** Gateways list the programs that call them by these. */
export const ATTRIBUTION = { "HTTP-Referer": "https://hermes-agent.nousresearch.com", "X-Title": "Hermes Agent" };

const DEFAULT_TTL_SECONDS = 300;
const MAX_TTL_SECONDS = 86_400;

/** Headers and body fields that only OpenRouter knows. */
export function openRouterExtras(
  endpoint: { model: string },
  { config }: ProviderSettings,
  env: { readonly [name: string]: string | undefined },
): { headers: Record<string, string>; extraBody: JsonObject } {
  const { openrouter, provider_routing: routing } = config;
  const cacheDisabled = /^(0|false|no|off)$/i.test(env.HERMES_OPENROUTER_CACHE ?? "");
  const ttl = Math.round(Number(env.HERMES_OPENROUTER_CACHE_TTL ?? openrouter.response_cache_ttl));
  const ttlSeconds = Number.isFinite(ttl) ? Math.min(MAX_TTL_SECONDS, Math.max(1, ttl)) : DEFAULT_TTL_SECONDS;
  const routed = Object.values(routing).some((value) => value !== undefined);
  return {
    headers: {
      ...ATTRIBUTION,
      ...(openrouter.response_cache && !cacheDisabled
        ? { "X-OpenRouter-Cache": "true", "X-OpenRouter-Cache-TTL": String(ttlSeconds) }
        : {}),
    },
    extraBody: {
      ...(routed ? { provider: routing } : {}),
      ...(endpoint.model === "openrouter/pareto-code"
        ? { plugins: [{ id: "pareto-router", min_coding_score: openrouter.min_coding_score }] }
        : {}),
    },
  };
}
