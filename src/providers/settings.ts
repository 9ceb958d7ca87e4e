// The part of the configuration that concerns models, as typed data. The raw keys are those of config.yaml.
import type { Json, JsonObject } from "../core/message.ts";
import type { TransportName } from "../core/provider.ts";

/** An endpoint that the person named under `providers:` or `custom_providers:`. */
export interface CustomEndpoint {
  readonly name: string;
  /** `name` in lower case with dashes: what `custom:<slug>` and the key pool use. */
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
  /** The plugin that brings it; absent for what the person wrote down. */
  readonly plugin?: string | undefined;
}

export interface ModelOverride {
  readonly contextLength?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly staleTimeoutMs?: number | undefined;
}

/** A model named with where to reach it: an alias, a fallback, an auxiliary task. Empty text means "not said". */
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

export interface AuxiliarySettings extends ModelChoice {
  readonly timeoutMs?: number | undefined;
  readonly contextLength?: number | undefined;
  readonly extraBody?: JsonObject | undefined;
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
  /** The longest that a primary may keep silent when a fallback stands by, retries included. */
  readonly primaryMs: number;
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
  /** How long a primary that refused for rate or money is left alone. */
  readonly holdMs: number;
  /** True when the person set the first-token or inter-token limit: then local servers get it too. */
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

export interface BudgetCaps {
  readonly dailyUsd?: number | undefined;
  readonly sessionUsd?: number | undefined;
  readonly jobUsd?: number | undefined;
}

export interface ProviderSettings {
  readonly model: ModelChoice;
  readonly contextLength?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly ollamaNumCtx?: number | undefined;
  readonly prices?: Prices | undefined;
  readonly aliases: { readonly [name: string]: ModelChoice };
  readonly endpoints: readonly CustomEndpoint[];
  readonly fallbacks: readonly ModelChoice[];
  readonly poolStrategies: { readonly [provider: string]: string };
  readonly routing?: JsonObject | undefined;
  readonly openrouter: {
    readonly responseCache: boolean;
    readonly ttlSeconds: number;
    readonly minCodingScore: number;
  };
  readonly maxRetries: number;
  readonly time: TimeLimits;
  readonly budget: BudgetCaps;
  readonly auxiliary: { readonly [task: string]: AuxiliarySettings };
  readonly cacheTtl: "5m" | "1h";
}

type Env = { readonly [name: string]: string | undefined };

function mapOf(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** The first of the keys that holds non-blank text (or a number, as YAML reads some names). */
function text(map: JsonObject, ...keys: readonly string[]): string {
  for (const key of keys) {
    const value = map[key];
    if (typeof value === "string" && value.trim() !== "") return value.trim();
    if (typeof value === "number") return String(value);
  }
  return "";
}

function positive(map: JsonObject, ...keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const value = Number(map[key] ?? Number.NaN);
    if (Number.isFinite(value) && value > 0) return value;
  }
  return undefined;
}

/** Zero is a cap too: nothing may be spent. Empty text is none. */
function cap(value: Json | undefined): number | undefined {
  const number =
    typeof value === "number" ? value : typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
  return Number.isFinite(number) && number >= 0 ? number : undefined;
}

function seconds(map: JsonObject, ...keys: readonly string[]): number | undefined {
  const value = positive(map, ...keys);
  return value === undefined ? undefined : Math.round(value * 1000);
}

/** Leaves out what is undefined, as exact optional properties want it. */
function defined<T extends object>(value: { [K in keyof T]?: T[K] | undefined }): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Partial<T>;
}

const TRANSPORTS: { readonly [word: string]: TransportName } = {
  chat_completions: "chat_completions",
  openai: "chat_completions",
  openai_chat: "chat_completions",
  anthropic_messages: "anthropic_messages",
  anthropic: "anthropic_messages",
  codex_responses: "codex_responses",
  responses: "codex_responses",
  openai_responses: "codex_responses",
};

function transportOf(map: JsonObject): { transport?: TransportName | undefined } {
  const found = TRANSPORTS[text(map, "api_mode", "apiMode", "transport").toLowerCase()];
  return found ? { transport: found } : {};
}

function choice(map: JsonObject, path: string): ModelChoice {
  return {
    path,
    provider: text(map, "provider"),
    model: text(map, "default", "model", "name"),
    baseUrl: text(map, "base_url", "baseUrl", "url", "api"),
    apiKey: text(map, "api_key", "apiKey"),
    keyVar: text(map, "key_env", "api_key_env", "keyEnv", "apiKeyEnv"),
    ...transportOf(map),
  };
}

function modelOverrides(value: Json | undefined): { [id: string]: ModelOverride } {
  const overrides: { [id: string]: ModelOverride } = {};
  for (const [id, raw] of Object.entries(mapOf(value))) {
    const map = mapOf(raw);
    overrides[id] = defined<ModelOverride>({
      contextLength: positive(map, "context_length"),
      timeoutMs: seconds(map, "timeout_seconds"),
      staleTimeoutMs: seconds(map, "stale_timeout_seconds"),
    });
  }
  return overrides;
}

/** Lower case, anything but letters, digits, dots and underscores becomes a dash. */
export function slugOf(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .replace(/^-+|-+$/g, "");
}

function endpoint(name: string, raw: JsonObject, path: string): CustomEndpoint {
  const shown = text(raw, "name") || name;
  const models = raw.models;
  const listed = Array.isArray(models) ? models.find((id): id is string => typeof id === "string") : undefined;
  return {
    name: shown,
    path,
    slug: slugOf(name || shown),
    baseUrl: text(raw, "base_url", "baseUrl", "url", "api"),
    apiKey: text(raw, "api_key", "apiKey"),
    keyVar: text(raw, "key_env", "api_key_env", "keyEnv", "apiKeyEnv"),
    ...transportOf(raw),
    model: text(raw, "model", "default_model", "defaultModel") || listed || "",
    models: modelOverrides(models),
    ...defined<CustomEndpoint>({
      contextLength: positive(raw, "context_length", "contextLength"),
      requestTimeoutMs: seconds(raw, "request_timeout_seconds"),
      staleTimeoutMs: seconds(raw, "stale_timeout_seconds"),
      plugin: text(raw, "plugin") || undefined,
    }),
  };
}

function endpointsOf(raw: JsonObject): CustomEndpoint[] {
  const found: CustomEndpoint[] = [];
  for (const [name, value] of Object.entries(mapOf(raw.providers)))
    found.push(endpoint(name, mapOf(value), `providers.${name}`));
  for (const [index, value] of listOf(raw.custom_providers).entries())
    found.push(endpoint("", mapOf(value), `custom_providers.${index}`));
  return found.filter((entry) => entry.slug !== "");
}

function aliasesOf(raw: JsonObject, model: JsonObject): { [name: string]: ModelChoice } {
  const aliases: { [name: string]: ModelChoice } = {};
  for (const [name, value] of Object.entries(mapOf(model.aliases))) {
    if (typeof value !== "string") continue;
    const slash = value.indexOf("/");
    const head = slash > 0 ? value.slice(0, slash) : "";
    aliases[name.toLowerCase()] = choice({ provider: head, model: value.slice(slash + 1) }, `model.aliases.${name}`);
  }
  for (const [name, value] of Object.entries(mapOf(raw.model_aliases))) {
    const map = typeof value === "string" ? { model: value } : mapOf(value);
    aliases[name.toLowerCase()] = choice(map, `model_aliases.${name}`);
  }
  return aliases;
}

function fallbacksOf(raw: JsonObject): ModelChoice[] {
  const modern = listOf(raw.fallback_providers);
  const legacy = raw.fallback_model;
  const entries = modern.length > 0 ? modern : Array.isArray(legacy) ? legacy : legacy === undefined ? [] : [legacy];
  const name = modern.length > 0 ? "fallback_providers" : "fallback_model";
  const path = (index: number) => (name === "fallback_model" && !Array.isArray(legacy) ? name : `${name}.${index}`);
  return entries
    .map((entry, index) => choice(mapOf(entry), path(index)))
    .filter((entry) => entry.provider !== "" && entry.model !== "");
}

function timeOf(model: JsonObject, env: Env): TimeLimits {
  const from = (name: string) => seconds({ value: env[name] }, "value");
  const first = seconds(model, "first_token_timeout_seconds") ?? from("HERMES_STREAM_STALE_TIMEOUT");
  const inter = seconds(model, "inter_token_timeout_seconds") ?? from("HERMES_STREAM_READ_TIMEOUT");
  return {
    ...DEFAULT_TIME_LIMITS,
    ...defined<TimeLimits>({
      turnMs: seconds(model, "turn_timeout_seconds") ?? from("HERMES_API_TIMEOUT"),
      firstTokenMs: first,
      interTokenMs: inter,
      primaryMs: seconds(model, "fallback_after_seconds"),
    }),
    explicit: first !== undefined || inter !== undefined,
  };
}

function auxiliaryOf(raw: JsonObject): { [task: string]: AuxiliarySettings } {
  const tasks: { [task: string]: AuxiliarySettings } = {};
  for (const [task, value] of Object.entries(mapOf(raw.auxiliary))) {
    const map = mapOf(value);
    const extraBody = mapOf(map.extra_body);
    tasks[task] = {
      ...choice(map, `auxiliary.${task}`),
      ...defined<AuxiliarySettings>({
        timeoutMs: seconds(map, "timeout"),
        contextLength: positive(map, "context_length"),
        extraBody: Object.keys(extraBody).length > 0 ? extraBody : undefined,
      }),
    };
  }
  return tasks;
}

function pricesOf(model: JsonObject): Prices | undefined {
  const map = mapOf(model.pricing);
  const input = Number(map.input ?? Number.NaN);
  const output = Number(map.output ?? Number.NaN);
  if (!(input >= 0 && output >= 0)) return undefined;
  return {
    input,
    output,
    ...defined<Prices>({ cacheRead: positive(map, "cache_read"), cacheWrite: positive(map, "cache_write") }),
  };
}

function openrouterOf(raw: JsonObject, env: Env): ProviderSettings["openrouter"] {
  const map = mapOf(raw.openrouter);
  const switchedOff = /^(0|false|no|off)$/i.test(env.HERMES_OPENROUTER_CACHE ?? "");
  const ttl = Number(env.HERMES_OPENROUTER_CACHE_TTL ?? map.response_cache_ttl ?? 300);
  const score = Number(map.min_coding_score ?? 0.65);
  return {
    responseCache: map.response_cache !== false && !switchedOff,
    ttlSeconds: Number.isFinite(ttl) ? Math.min(86_400, Math.max(1, Math.round(ttl))) : 300,
    minCodingScore: Number.isFinite(score) ? score : 0.65,
  };
}

/** Reads the model-related keys of a loaded configuration. Unknown and malformed values fall back to defaults. */
export function readProviderSettings(raw: JsonObject, env: Env = {}): ProviderSettings {
  const model = typeof raw.model === "string" ? { default: raw.model } : mapOf(raw.model);
  const budget = mapOf(raw.budget);
  const routing = mapOf(raw.provider_routing);
  const strategies = Object.entries(mapOf(raw.credential_pool_strategies));
  return {
    model: choice(model, "model"),
    aliases: aliasesOf(raw, model),
    endpoints: endpointsOf(raw),
    fallbacks: fallbacksOf(raw),
    poolStrategies: Object.fromEntries(strategies.map(([id, value]) => [id, String(value)])),
    openrouter: openrouterOf(raw, env),
    maxRetries: Math.max(1, Math.floor(positive(mapOf(raw.agent), "api_max_retries") ?? 3)),
    time: timeOf(model, env),
    budget: defined<BudgetCaps>({
      dailyUsd: cap(budget.daily_usd),
      sessionUsd: cap(budget.session_usd),
      jobUsd: cap(budget.job_usd),
    }),
    auxiliary: auxiliaryOf(raw),
    cacheTtl: mapOf(raw.prompt_caching).cache_ttl === "1h" ? "1h" : "5m",
    ...defined<ProviderSettings>({
      contextLength: positive(model, "context_length"),
      maxOutputTokens: positive(model, "max_tokens"),
      ollamaNumCtx: positive(model, "ollama_num_ctx"),
      prices: pricesOf(model),
      routing: Object.keys(routing).length > 0 ? routing : undefined,
    }),
  };
}
