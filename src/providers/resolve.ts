// From what the person asked for and configured to one endpoint: provider, model, URL, dialect, keys. Pure.
import { type Failure, UserError } from "../core/failure.ts";
import type { TransportName } from "../core/provider.ts";
import { apiMode } from "./api-mode.ts";
import { CATALOG, nearestProvider, providerByAlias, providerById } from "./catalog.ts";
import type { Endpoint, EndpointKeys, VariableKey } from "./endpoint.ts";
import { ATTRIBUTION, openRouterExtras } from "./gateway-extras.ts";
import {
  givenKey,
  type KeySources,
  keysByAddress,
  missingKey,
  notConfigured,
  placeOf,
  pooledAt,
  unusableAutoKey,
  variableKeys,
} from "./keys/endpoint-keys.ts";
import { hostOf, isLocalUrl, type Place, providerKeysMayGo, sameOrigin } from "./keys/key-hosts.ts";
import { endpointReady, pluginKeys } from "./keys/plugin-keys.ts";
import { nativeName } from "./native-name.ts";
import type { ProviderSpec } from "./provider-spec.ts";
import { type CustomEndpoint, type ModelChoice, type ProviderSettings, slugOf } from "./settings.ts";

/** Every field may be empty. What is given here beats the configuration. */
export interface ModelAsk {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly keyVar?: string | undefined;
  readonly transport?: TransportName | undefined;
  /** Where in config.yaml this was written, for messages. */
  readonly path?: string | undefined;
}

export interface ResolveContext extends KeySources {
  readonly settings: ProviderSettings;
  /** `active_provider` of auth.json. */
  readonly activeProvider?: string | null | undefined;
}

export type Resolution =
  | { readonly ok: true; readonly endpoint: Endpoint }
  /** `noProvider`: nothing says which provider to use, and no key is set. */
  | { readonly ok: false; readonly failure: Failure; readonly noProvider?: true | undefined };

function refuse(message: string, hint: string): Resolution {
  return { ok: false, failure: notConfigured(message, hint) };
}

/** The address of an alias, and the key written beside it. */
function keyedAddress({ baseUrl, apiKey, keyVar, path }: ModelChoice): ModelAsk {
  return {
    baseUrl,
    ...(apiKey ? { apiKey } : {}),
    ...(keyVar ? { keyVar } : {}),
    ...(path ? { path } : {}),
  };
}

function expandAlias(ask: ModelAsk, settings: ProviderSettings): ModelAsk {
  const alias: ModelChoice | undefined = settings.aliases[(ask.model ?? "").toLowerCase()];
  if (!alias) return ask;
  return {
    ...ask,
    model: alias.model,
    ...(ask.provider || alias.provider === "" ? {} : { provider: alias.provider }),
    ...(ask.baseUrl || alias.baseUrl === "" ? {} : keyedAddress(alias)),
  };
}

/** `anthropic:claude-…` and `custom:name:model`: a model that names its provider. Only whole ids count, so `qwen:7b` stays a model. */
function splitProvider(ask: ModelAsk, settings: ProviderSettings): ModelAsk {
  const model = ask.model ?? "";
  if (ask.provider || !model.includes(":")) return ask;
  for (const endpoint of settings.endpoints) {
    for (const prefix of [`custom:${endpoint.slug}:`, `${endpoint.slug}:`]) {
      if (model.startsWith(prefix))
        return { ...ask, provider: `custom:${endpoint.slug}`, model: model.slice(prefix.length) };
    }
  }
  const colon = model.indexOf(":");
  const spec = providerById(model.slice(0, colon));
  return spec ? { ...ask, provider: spec.id, model: model.slice(colon + 1) } : ask;
}

function findEndpoint(word: string, settings: ProviderSettings): CustomEndpoint | undefined {
  const slug = slugOf(word.replace(/^custom:/, ""));
  return settings.endpoints.find(
    (entry) => entry.baseUrl !== "" && (entry.slug === slug || slugOf(entry.name) === slug),
  );
}

/** What the word means: a catalog entry, an endpoint the person named, or nothing known. */
export function findProvider(
  word: string,
  settings: ProviderSettings,
): { spec: ProviderSpec; named?: CustomEndpoint | undefined } | undefined {
  const custom = providerById("custom");
  if (word.startsWith("custom:")) {
    const named = findEndpoint(word, settings);
    return named && custom ? { spec: custom, named } : undefined;
  }
  const exact = providerById(word);
  if (exact) return { spec: exact };
  const named = findEndpoint(word, settings);
  if (named && custom) return { spec: custom, named };
  const aliased = providerByAlias(word);
  return aliased ? { spec: aliased } : undefined;
}

function keyShape(key: string): string | undefined {
  if (key.startsWith("sk-ant-")) return "anthropic";
  return key.startsWith("sk-or-") ? "openrouter" : undefined;
}

function hasKey(spec: ProviderSpec, context: ResolveContext): boolean {
  return variableKeys(spec, context).length > 0 || (context.pooled?.has(spec.id) ?? false);
}

/** The provider that `auto` means, by what is there; undefined when nothing is configured. */
export function autoProvider(ask: ModelAsk, context: ResolveContext): string | undefined {
  if (ask.baseUrl) return "custom";
  if (ask.apiKey) return keyShape(ask.apiKey);
  const active = context.activeProvider ? findProvider(context.activeProvider, context.settings) : undefined;
  if (active && hasKey(active.spec, context)) return active.spec.id;
  const found = CATALOG.find((spec) => !spec.explicitOnly && !spec.local && hasKey(spec, context));
  if (found) return found.id;
  const named = context.settings.endpoints.filter((entry) => entry.baseUrl !== "");
  const own = named.filter((entry) => !entry.plugin);
  const candidates = own.length > 0 ? own : named.filter((entry) => endpointReady(entry, context));
  return candidates.length === 1 ? `custom:${candidates[0]?.slug}` : undefined;
}

/** Google and Kimi publish more than one address for the same key. */
function adjustUrl(spec: ProviderSpec, place: Place, key: VariableKey | undefined): Place {
  if (spec.id === "gemini" && /\/v1(beta)?\/?$/.test(place.url))
    return { ...place, url: `${place.url.replace(/\/$/, "")}/openai` };
  if (spec.id === "kimi-coding" && place.source === "catalog" && key?.value.startsWith("sk-kimi-"))
    return { ...place, url: "https://api.kimi.com/coding" };
  return place;
}

interface Draft {
  readonly provider: string;
  readonly label: string;
  readonly spec: ProviderSpec;
  readonly model: string;
  readonly url: string;
  readonly keys: EndpointKeys;
  readonly explicit?: TransportName | undefined;
  readonly overrides?: CustomEndpoint | undefined;
}

function finish(draft: Draft, { settings, env }: ResolveContext): Endpoint {
  const { spec, model, overrides } = draft;
  const baseUrl = draft.url.replace(/\/+$/, "");
  const local = spec.local === true || isLocalUrl(baseUrl);
  const isOpenRouter = hostOf(baseUrl) === "openrouter.ai";
  const attributed = spec.id === "ai-gateway" && hostOf(baseUrl) === hostOf(spec.baseUrl);
  const extras = isOpenRouter
    ? openRouterExtras({ model }, settings, env)
    : { headers: attributed ? ATTRIBUTION : {}, extraBody: {} };
  const perModel = overrides?.models[model];
  const contextLength = perModel?.contextLength ?? overrides?.contextLength;
  const timeoutMs = perModel?.timeoutMs ?? overrides?.requestTimeoutMs;
  const staleTimeoutMs = perModel?.staleTimeoutMs ?? overrides?.staleTimeoutMs;
  return {
    provider: draft.provider,
    label: draft.label,
    spec,
    model,
    transport: apiMode({ spec, model, baseUrl, local, ...(draft.explicit ? { explicit: draft.explicit } : {}) }),
    baseUrl,
    keys: draft.keys,
    ...extras,
    local,
    ...(contextLength === undefined ? {} : { contextLength }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(staleTimeoutMs === undefined ? {} : { staleTimeoutMs }),
  };
}

function resolveNamed(named: CustomEndpoint, spec: ProviderSpec, ask: ModelAsk, context: ResolveContext): Resolution {
  const model = ask.model || named.model;
  if (!hostOf(named.baseUrl))
    return refuse(
      `providers.${named.slug}: "${named.baseUrl}" is not an http(s) address`,
      `Correct providers.${named.slug}.base_url in config.yaml.`,
    );
  if (model === "")
    return refuse(`No model is named for "${named.name}"`, `Set providers.${named.slug}.model, or pass -m MODEL.`);
  const url = ask.baseUrl || named.baseUrl;
  const own = sameOrigin(url, named.baseUrl);
  const written = named.plugin ? { apiKey: named.apiKey, path: named.path } : named;
  const given = givenKey(ask, url, context) ?? (own ? givenKey(written, url, context) : undefined);
  if (given && "failure" in given) return { ok: false, failure: given.failure };
  if (!given && own && !endpointReady(named, context))
    return refuse(
      `No key for ${named.name}`,
      `Run \`hermes auth add ${named.slug}\`, or set ${named.keyVar} in the environment or in .env.`,
    );
  const pool = `custom:${named.slug}`;
  const variables = [...(own ? pluginKeys(named, context) : []), ...keysByAddress(url, context)];
  if (!given && variables.length === 0 && context.pooled?.has(pool) && !pooledAt(pool, url, context))
    return refuse(
      `The key of ${named.name} in auth.json was added for another address than ${url} and is not sent there`,
      `Add a key for this address: hermes auth add ${named.slug}`,
    );
  const explicit = ask.transport ?? named.transport;
  const keys: EndpointKeys = {
    ...(given ? { fixed: given.value } : {}),
    pool: own ? pool : null,
    variables,
    optional: true,
  };
  const draft: Draft = {
    provider: pool,
    label: named.name,
    spec,
    model,
    url,
    keys,
    overrides: named,
    ...(explicit ? { explicit } : {}),
  };
  return { ok: true, endpoint: finish(draft, context) };
}

/** The endpoint's own settings in the configuration apply only when they speak of this provider. */
function configFor(spec: ProviderSpec, ask: ModelAsk, settings: ProviderSettings): ModelChoice | undefined {
  const { model } = settings;
  const meant = model.provider === "" || model.provider === "auto" ? undefined : findProvider(model.provider, settings);
  if (meant) return meant.spec.id === spec.id && !meant.named ? model : undefined;
  if (spec.id === "custom" && model.baseUrl !== "") return model;
  return ask.provider ? undefined : { ...model, baseUrl: "", apiKey: "" };
}

function modelFor(spec: ProviderSpec, ask: ModelAsk, settings: ProviderSettings): string {
  if (ask.model) return ask.model;
  const { model } = settings;
  const free = model.provider === "" || model.provider === "auto";
  const own = free || findProvider(model.provider, settings)?.spec.id === spec.id;
  return (own ? model.model : "") || spec.defaultModel || (spec.local ? "" : model.model);
}

/** The key written down for this call, else the one of the configuration when the call goes to the address beside it. */
function keyFor(
  ask: ModelAsk,
  at: { place: Place; configured: Place; config?: ModelChoice | undefined },
  context: ResolveContext,
) {
  const { place, configured, config } = at;
  const given = givenKey(ask, place.url, context);
  if (given || !config || !sameOrigin(place.url, configured.url)) return given;
  return givenKey(config, place.url, context);
}

function resolveSpec(spec: ProviderSpec, ask: ModelAsk, context: ResolveContext): Resolution {
  const { settings, env } = context;
  const config = configFor(spec, ask, settings);
  const first = variableKeys(spec, context)[0];
  const configured = adjustUrl(spec, placeOf(spec, config?.baseUrl ?? "", env), first);
  const place = ask.baseUrl ? adjustUrl(spec, { url: ask.baseUrl, source: "config" }, first) : configured;
  if (
    spec.transport !== "offline" &&
    spec.auth !== "aws" &&
    spec.auth !== "subprocess" &&
    !hostOf(place.url) &&
    !spec.instead
  )
    return refuse(
      `${spec.label} needs an address`,
      `Set model.base_url${spec.urlVars ? ` or ${spec.urlVars[0]}` : ""} to an http(s) URL.`,
    );
  const given = keyFor(ask, { place, configured, ...(config ? { config } : {}) }, context);
  if (given && "failure" in given) return { ok: false, failure: given.failure };
  const allowed = providerKeysMayGo(spec, place.url, configured);
  const variables = [
    ...(allowed ? variableKeys(spec, context, place.url) : []),
    ...(spec.id === "custom" ? keysByAddress(place.url, context) : []),
  ];
  const pooled = allowed && pooledAt(spec.id, place.url, context);
  const model = nativeName(spec.id, modelFor(spec, ask, settings));
  if (!given && !pooled && variables.length === 0 && spec.auth !== "none")
    return { ok: false, failure: missingKey(spec, place.url, context) };
  if (model === "")
    return refuse(`No model is chosen for ${spec.label}`, "Set `model.default` in config.yaml, or pass -m MODEL.");
  const explicit = ask.transport ?? config?.transport;
  const keys: EndpointKeys = {
    ...(given ? { fixed: given.value } : {}),
    pool: allowed ? spec.id : null,
    variables,
    optional: spec.auth === "none",
  };
  const overrides = settings.endpoints.find((entry) => entry.slug === spec.id);
  const draft: Draft = {
    provider: spec.id,
    label: spec.label,
    spec,
    model,
    url: place.url,
    keys,
    ...(explicit ? { explicit } : {}),
    ...(overrides ? { overrides } : {}),
  };
  return { ok: true, endpoint: finish(draft, context) };
}

/** `auto` found no provider: because a key cannot be used, because nobody said whose a key is, or because there is none. */
function nothingFound(context: ResolveContext): Resolution {
  const unusable = unusableAutoKey(context);
  if (unusable) return { ok: false, failure: unusable };
  const { apiKey, keyVar, model } = context.settings.model;
  if (apiKey !== "" || keyVar !== "")
    return refuse(
      `model.${apiKey === "" ? "key_env" : "api_key"} is set in config.yaml, but not which provider the key is for`,
      "Set model.provider, or model.base_url for a server of your own.",
    );
  const failure = notConfigured(
    model === "" ? "No model provider is configured" : `The model ${model} is configured, but no provider for it`,
    "Run `hermes auth add PROVIDER`, set a key such as OPENROUTER_API_KEY, or start Ollama.",
  );
  return { ok: false, failure, noProvider: true };
}

/** Resolves the ask against configuration, variables and stored keys. Trouble comes back as a failure with its hint. */
export function resolveEndpoint(asked: ModelAsk, context: ResolveContext): Resolution {
  const { settings, env } = context;
  const ask = splitProvider(expandAlias(asked, settings), settings);
  const configured = settings.model.provider === "auto" ? "" : settings.model.provider;
  const wanted = ask.provider || configured || env.HERMES_INFERENCE_PROVIDER || "auto";
  let word = wanted.trim();
  if (word === "auto") {
    const atUrl = !ask.baseUrl && settings.model.baseUrl !== "" && !ask.provider;
    const auto = atUrl ? "custom" : autoProvider(ask, context);
    if (auto === undefined) {
      if (ask.apiKey)
        return refuse(
          "A key was given without saying whose it is",
          "Pass --provider too, so that the key goes to the right host.",
        );
      return nothingFound(context);
    }
    word = auto;
  }
  const meant = findProvider(word, settings);
  if (!meant) {
    const guess = nearestProvider(word);
    return refuse(`Unknown provider "${word}"${guess ? `; did you mean "${guess}"?` : ""}`, "See: hermes model list");
  }
  if (meant.named) return resolveNamed(meant.named, meant.spec, withConfigModel(meant.named, ask, settings), context);
  if (meant.spec.auth === "aws" || meant.spec.auth === "subprocess")
    return refuse(
      `${meant.spec.label} is not available yet`,
      `Instead, ${meant.spec.instead ?? "choose another provider"}.`,
    );
  return resolveSpec(meant.spec, ask, context);
}

/** The configured model belongs to the named endpoint when the configuration chose that endpoint. */
function withConfigModel(named: CustomEndpoint, ask: ModelAsk, settings: ProviderSettings): ModelAsk {
  if (ask.model || settings.model.model === "") return ask;
  const chosen = settings.model.provider === "" ? undefined : findProvider(settings.model.provider, settings)?.named;
  return chosen === named ? { ...ask, model: settings.model.model } : ask;
}

/** The same, for callers that cannot go on without an endpoint. */
export function requireEndpoint(ask: ModelAsk, context: ResolveContext): Endpoint {
  const resolution = resolveEndpoint(ask, context);
  if (resolution.ok) return resolution.endpoint;
  throw new UserError(resolution.failure.message, resolution.failure.hint ? { hint: resolution.failure.hint } : {});
}
