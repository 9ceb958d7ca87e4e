// Settings of models, providers and spending limits.
import {
  accepted,
  anyOf,
  choice,
  decimal,
  flag,
  freeMap,
  items,
  type Json,
  list,
  named,
  orEmpty,
  secret,
  section,
  text,
  unset,
  whole,
} from "./fields.ts";

export const API_MODES = ["chat_completions", "codex_responses", "anthropic_messages", "bedrock_converse"] as const;

const SIZE = { min: 1 };

export interface FallbackEntry {
  readonly provider: string;
  readonly model: string;
  readonly [key: string]: Json;
}

/** An endpoint that the user defined. Several field names mean the same, because older files use them. */
const endpoint = section("A custom endpoint", {
  name: unset(text("", "Name shown in pickers")),
  api: unset(text("", "Base URL of the endpoint")),
  url: unset(text("", "Same as api")),
  base_url: unset(text("", "Same as api")),
  api_key: unset(secret("Key sent to the endpoint; prefer key_env")),
  key_env: unset(text("", "Name of the environment variable that holds the key")),
  api_key_env: unset(text("", "Same as key_env")),
  api_mode: unset(choice([...API_MODES, ""], "", "Wire dialect of the endpoint")),
  transport: unset(choice([...API_MODES, ""], "", "Same as api_mode")),
  model: unset(text("", "Same as default_model")),
  default_model: unset(text("", "Model used when none is named")),
  models: unset(
    anyOf<readonly Json[] | { readonly [model: string]: Json }>(
      ["list", "map"],
      [],
      "Models offered; as a map, each may set context_length, timeout_seconds and stale_timeout_seconds",
    ),
  ),
  context_length: unset(whole(0, "Context window in tokens", SIZE)),
  rate_limit_delay: accepted(unset(decimal(0, "Seconds between two requests"))),
  request_timeout_seconds: unset(decimal(0, "Deadline of one request in seconds")),
  stale_timeout_seconds: unset(decimal(0, "Seconds without a byte before a request counts as stalled")),
});

export const modelKeys = {
  model: section("The main model; a plain text value means model.default", {
    default: text("", "Model id; empty picks a local server or the offline model"),
    model: unset(text("", "Same as default, from older files")),
    name: unset(text("", "Same as default, from older files")),
    provider: text("auto", "Provider id, custom provider name, or auto"),
    base_url: text("", "Base URL instead of the provider's own"),
    api_key: secret("Key for base_url; provider keys belong in .env"),
    api_mode: choice([...API_MODES, ""], "", "Wire dialect; empty lets the provider decide"),
    context_length: unset(whole(0, "Context window in tokens, when the detected one is wrong", SIZE)),
    max_tokens: unset(whole(0, "Maximum tokens of one answer", SIZE)),
    key_env: unset(text("", "Variable that holds the key for base_url")),
    turn_timeout_seconds: unset(decimal(0, "Deadline of a whole turn with its retries and fallbacks; 1800 if unset")),
    first_token_timeout_seconds: unset(decimal(0, "Longest wait for the start of an answer; 180 if unset")),
    inter_token_timeout_seconds: unset(decimal(0, "Longest silence within an answer; 120 if unset")),
    fallback_after_seconds: unset(decimal(0, "Longest silence of the main model when a fallback exists; 25 if unset")),
    pricing: freeMap("Your own prices in US dollars per million tokens: input, output, cache_read, cache_write"),
    ollama_num_ctx: unset(whole(0, "Context size asked of Ollama", SIZE)),
    openai_runtime: accepted(unset(choice(["auto", "codex_app_server"], "auto", "How OpenAI models are run"))),
    aliases: named("Short names: alias → provider/model", text("", "provider/model")),
  }),
  model_aliases: named(
    "Short names for models; they win over built-in short names",
    section("An alias", {
      model: text("", "Model id"),
      provider: text("", "Provider id"),
      base_url: text("", "Base URL"),
    }),
    { open: true },
  ),
  providers: named("Your own endpoints, by id", endpoint),
  custom_providers: unset(items("Older form of providers: a list of endpoints with name and base_url")),
  fallback_providers: items<FallbackEntry>("Models to fall back to, in order: maps with provider and model"),
  fallback_model: unset(
    anyOf<Json>(["map", "list"], null, "Older form of fallback_providers: one map or a list of them"),
  ),
  credential_pool_strategies: named(
    "How several keys of one provider are used, by provider id",
    choice(["fill_first", "round_robin", "least_used", "random"], "fill_first", "Strategy"),
  ),
  provider_routing: section("Routing among the hosts behind OpenRouter", {
    sort: unset(choice(["price", "throughput", "latency"], "price", "Order of preference")),
    only: unset(list([], "Only these hosts")),
    ignore: unset(list([], "Never these hosts")),
    order: unset(list([], "These hosts first, in this order")),
    require_parameters: unset(flag(false, "Only hosts that support every parameter of the request")),
    data_collection: unset(choice(["allow", "deny"], "allow", "Whether hosts may keep the data")),
  }),
  budget: section("Hard spending limits, checked before each call; empty means no limit", {
    daily_usd: orEmpty(decimal(0, "Maximum US dollars per calendar day over all sessions")),
    session_usd: orEmpty(decimal(0, "Maximum US dollars per session")),
    job_usd: orEmpty(decimal(0, "Maximum US dollars per run of a scheduled job")),
  }),
  prompt_caching: section("Prompt caching", {
    cache_ttl: choice(["5m", "1h"], "5m", "How long Anthropic keeps a cached prefix"),
  }),
  openrouter: section("OpenRouter", {
    response_cache: flag(true, "Let OpenRouter answer repeated requests from its cache"),
    response_cache_ttl: whole(300, "Seconds that a cached answer is kept", { min: 1, max: 86400 }),
    min_coding_score: decimal(0.65, "Lowest coding score the pareto-code router may pick", { min: 0, max: 1 }),
  }),
  bedrock: accepted(
    section("Amazon Bedrock", {
      region: text("", "AWS region; empty uses AWS_REGION, then us-east-1"),
      discovery: section("Model discovery", {
        enabled: flag(true, "List the models of the account"),
        provider_filter: list([], "Only models of these vendors"),
        refresh_interval: whole(3600, "Seconds between two listings"),
      }),
      guardrail: section("Guardrail applied to each call", {
        guardrail_identifier: text("", "Guardrail id; empty for none"),
        guardrail_version: text("", "Guardrail version"),
        stream_processing_mode: choice(["async", "sync"], "async", "When streamed text is checked"),
        trace: choice(["enabled", "disabled", "enabled_full"], "disabled", "Guardrail trace in answers"),
      }),
    }),
  ),
  model_catalog: accepted(
    section("The published list of models", {
      enabled: flag(true, "Fetch the list"),
      url: text("https://hermes-agent.nousresearch.com/docs/api/model-catalog.json", "Where the list is"),
      ttl_hours: whole(24, "Hours before the list is fetched again"),
      providers: named("Other lists, by provider id", section("A list", { url: text("", "Where it is") })),
    }),
  ),
  honcho: accepted(freeMap("Settings passed to the Honcho memory provider")),
} as const;
