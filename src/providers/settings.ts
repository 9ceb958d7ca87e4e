// The models that a configuration names, in the form in which they are resolved to endpoints.
import type { Config } from "../core/config/config.ts";
import type { TransportName } from "../core/model/provider.ts";
import { isRecord } from "../lib/json/is-record.ts";

/** The sections of the configuration that concern models. */
export type ModelConfig = Pick<
  Config,
  | "agent"
  | "auxiliary"
  | "budget"
  | "credential_pool_strategies"
  | "fallback_providers"
  | "model"
  | "model_aliases"
  | "openrouter"
  | "prompt_caching"
  | "provider_routing"
  | "providers"
>;

/** An endpoint that the user named under `providers:`. */
export interface CustomEndpoint {
  readonly name: string;
  /** The id in lower case with dashes, as in `custom:<slug>` and in the key pool. */
  readonly slug: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly keyVar: string;
  /** Its section in config.yaml, for messages. */
  readonly path?: string | undefined;
  readonly transport?: TransportName | undefined;
  readonly model: string;
  readonly contextLength?: number | undefined;
  readonly models: { readonly [id: string]: ModelOverride };
  readonly requestTimeoutMs?: number | undefined;
  readonly staleTimeoutMs?: number | undefined;
  /** The plugin that provides it; undefined for endpoints in config.yaml. */
  readonly plugin?: string | undefined;
}

export interface ModelOverride {
  readonly contextLength?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly staleTimeoutMs?: number | undefined;
}

/** A model and where to reach it: the main model, an alias, a fallback. Empty text means "not set". */
export interface ModelChoice {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly keyVar: string;
  /** Its section in config.yaml, for messages. */
  readonly path?: string | undefined;
  readonly transport?: TransportName | undefined;
}

/** US dollars per million tokens. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

export interface TimeLimits {
  /** For one turn with all its calls, retries and fallbacks. */
  readonly turnMs: number;
  readonly firstTokenMs: number;
  readonly interTokenMs: number;
  /** The longest silence of a primary model that has a fallback, retries included. */
  readonly primaryMs: number;
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
  /** How long a primary model is not used after it refused for rate or credit. */
  readonly holdMs: number;
  /** The user set the first-token or inter-token limit: it then applies to local servers too. */
  readonly explicit: boolean;
}

export const DEFAULT_TIME_LIMITS: TimeLimits = {
  turnMs: 1_800_000,
  firstTokenMs: 180_000,
  interTokenMs: 120_000,
  primaryMs: 25_000,
  backoffBaseMs: 2_000,
  backoffMaxMs: 60_000,
  holdMs: 60_000,
  explicit: false,
};

export interface ProviderSettings {
  /** For everything that needs no conversion. */
  readonly config: ModelConfig;
  readonly model: ModelChoice;
  readonly maxOutputTokens?: number | undefined;
  readonly prices?: Prices | undefined;
  readonly aliases: { readonly [name: string]: ModelChoice };
  readonly endpoints: readonly CustomEndpoint[];
  readonly fallbacks: readonly ModelChoice[];
  readonly maxRetries: number;
  readonly time: TimeLimits;
}

type Env = { readonly [name: string]: string | undefined };

/** The first text that is not blank. YAML reads some names as numbers. */
function firstText(...values: readonly unknown[]): string {
  for (const value of values) {
    if (typeof value === "string" && value.trim() !== "") return value.trim();
    if (typeof value === "number") return String(value);
  }
  return "";
}

function positive(value: unknown): number | undefined {
  const number = Number(value ?? Number.NaN);
  return Number.isFinite(number) && number > 0 ? number : undefined;
}

function toMs(seconds: unknown): number | undefined {
  const value = positive(seconds);
  return value === undefined ? undefined : Math.round(value * 1000);
}

const TRANSPORTS = new Map<string, TransportName>([
  ["chat_completions", "chat_completions"],
  ["openai", "chat_completions"],
  ["openai_chat", "chat_completions"],
  ["anthropic_messages", "anthropic_messages"],
  ["anthropic", "anthropic_messages"],
  ["codex_responses", "codex_responses"],
  ["responses", "codex_responses"],
  ["openai_responses", "codex_responses"],
]);

/** The transport of an `api_mode`; undefined when the provider decides. */
export function findTransport(...modes: readonly unknown[]): TransportName | undefined {
  return TRANSPORTS.get(firstText(...modes).toLowerCase());
}

/** An entry whose keys the schema leaves free: an alias or a fallback. */
function readChoice(entry: unknown, path: string): ModelChoice {
  const map = isRecord(entry) ? entry : {};
  return {
    path,
    provider: firstText(map.provider),
    model: firstText(map.model),
    baseUrl: firstText(map.base_url, map.baseUrl, map.url, map.api),
    apiKey: firstText(map.api_key, map.apiKey),
    keyVar: firstText(map.key_env, map.api_key_env, map.keyEnv, map.apiKeyEnv),
    transport: findTransport(map.api_mode, map.apiMode, map.transport),
  };
}

function readModel({ model }: ModelConfig): ModelChoice {
  return {
    path: "model",
    provider: firstText(model.provider),
    model: firstText(model.default),
    baseUrl: firstText(model.base_url),
    apiKey: firstText(model.api_key),
    keyVar: firstText(model.key_env),
    transport: findTransport(model.api_mode),
  };
}

function readOverrides(models: unknown): { [id: string]: ModelOverride } {
  const overrides: { [id: string]: ModelOverride } = {};
  for (const [id, value] of isRecord(models) ? Object.entries(models) : []) {
    const map = isRecord(value) ? value : {};
    overrides[id] = {
      contextLength: positive(map.context_length),
      timeoutMs: toMs(map.timeout_seconds),
      staleTimeoutMs: toMs(map.stale_timeout_seconds),
    };
  }
  return overrides;
}

/** Lower case; everything but letters, digits, dots and underscores becomes a dash. */
export function toSlug(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .replace(/^-+|-+$/g, "");
}

type EndpointConfig = Config["providers"][string] & { readonly plugin?: string | undefined };

function readEndpoint(id: string, entry: EndpointConfig): CustomEndpoint {
  const { models } = entry;
  const listed = Array.isArray(models) ? models.find((model) => typeof model === "string") : undefined;
  return {
    name: firstText(entry.name, id),
    slug: toSlug(id),
    path: `providers.${id}`,
    baseUrl: firstText(entry.base_url, entry.url, entry.api),
    apiKey: firstText(entry.api_key),
    keyVar: firstText(entry.key_env, entry.api_key_env),
    transport: findTransport(entry.api_mode, entry.transport),
    model: firstText(entry.model, entry.default_model, listed),
    models: readOverrides(models),
    contextLength: positive(entry.context_length),
    requestTimeoutMs: toMs(entry.request_timeout_seconds),
    staleTimeoutMs: toMs(entry.stale_timeout_seconds),
    plugin: entry.plugin,
  };
}

function readAliases({ model, model_aliases }: ModelConfig): { [name: string]: ModelChoice } {
  const aliases: { [name: string]: ModelChoice } = {};
  for (const [name, value] of Object.entries(model.aliases)) {
    const slash = value.indexOf("/");
    const entry = { provider: value.slice(0, Math.max(0, slash)), model: value.slice(slash + 1) };
    aliases[name.toLowerCase()] = readChoice(entry, `model.aliases.${name}`);
  }
  for (const [name, value] of Object.entries<unknown>(model_aliases)) {
    const entry = typeof value === "string" ? { model: value } : value;
    aliases[name.toLowerCase()] = readChoice(entry, `model_aliases.${name}`);
  }
  return aliases;
}

function readTimeLimits({ model }: ModelConfig, env: Env): TimeLimits {
  const first = toMs(model.first_token_timeout_seconds) ?? toMs(env.HERMES_STREAM_STALE_TIMEOUT);
  const inter = toMs(model.inter_token_timeout_seconds) ?? toMs(env.HERMES_STREAM_READ_TIMEOUT);
  const defaults = DEFAULT_TIME_LIMITS;
  return {
    ...defaults,
    turnMs: toMs(model.turn_timeout_seconds) ?? toMs(env.HERMES_API_TIMEOUT) ?? defaults.turnMs,
    firstTokenMs: first ?? defaults.firstTokenMs,
    interTokenMs: inter ?? defaults.interTokenMs,
    primaryMs: toMs(model.fallback_after_seconds) ?? defaults.primaryMs,
    explicit: first !== undefined || inter !== undefined,
  };
}

function readPrices({ model: { pricing } }: ModelConfig): Prices | undefined {
  const input = Number(pricing.input ?? Number.NaN);
  const output = Number(pricing.output ?? Number.NaN);
  if (!(input >= 0 && output >= 0)) return undefined;
  return { input, output, cacheRead: positive(pricing.cache_read), cacheWrite: positive(pricing.cache_write) };
}

/** `config` is the effective configuration, checked and with its defaults. */
export function readProviderSettings(config: ModelConfig, env: Env = {}): ProviderSettings {
  return {
    config,
    model: readModel(config),
    maxOutputTokens: config.model.max_tokens,
    prices: readPrices(config),
    aliases: readAliases(config),
    endpoints: Object.entries(config.providers)
      .map(([id, entry]) => readEndpoint(id, entry))
      .filter((endpoint) => endpoint.slug !== ""),
    fallbacks: config.fallback_providers
      .map((entry, index) => readChoice(entry, `fallback_providers.${index}`))
      .filter((entry) => entry.provider !== "" && entry.model !== ""),
    maxRetries: Math.max(1, config.agent.api_max_retries),
    time: readTimeLimits(config, env),
  };
}
