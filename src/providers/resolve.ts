// From what the person asked for and configured to one endpoint: provider, model, URL, dialect, keys. Pure.
import { type Failure, UserError } from "../core/failure.ts";
import type { TransportName } from "../core/provider.ts";
import { apiMode } from "./api-mode.ts";
import { broughtKeys, endpointReady } from "./brought.ts";
import { CATALOG, nearestProvider, providerByAlias, providerById } from "./catalog.ts";
import type { Endpoint, EndpointKeys, VariableKey } from "./endpoint.ts";
import { ATTRIBUTION, openRouterExtras } from "./gateway-extras.ts";
import {
  hostAllowed,
  hostOf,
  hostsOf,
  isLocalUrl,
  isUsableSecret,
  providerKeysMayGo,
  type UrlSource,
  variableServes,
} from "./key-hosts.ts";
import { nativeName } from "./native-name.ts";
import type { ProviderSpec } from "./provider-spec.ts";
import { type CustomEndpoint, type ModelChoice, type ProviderSettings, slugOf } from "./settings.ts";

/** Every field may be empty. What is given here beats the configuration. */
export interface ModelAsk {
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly keyVar?: string;
  readonly transport?: TransportName;
}

export interface ResolveContext {
  readonly settings: ProviderSettings;
  readonly env: { readonly [name: string]: string | undefined };
  /** `active_provider` of auth.json. */
  readonly activeProvider?: string | null;
  /** Lists of auth.json that hold a usable key. */
  readonly pooled?: ReadonlySet<string>;
  /** `suppressed_sources` of auth.json: variables whose key the person removed. */
  readonly suppressed?: { readonly [provider: string]: readonly string[] };
}

export type Resolution =
  | { readonly ok: true; readonly endpoint: Endpoint }
  | { readonly ok: false; readonly failure: Failure };

function refuse(message: string, cure: string): Resolution {
  return { ok: false, failure: { kind: "not_configured", message, cure } };
}

/** The variables of the catalog entry that hold a usable key of that provider. */
export function variableKeys(spec: ProviderSpec, context: Pick<ResolveContext, "env" | "suppressed">): VariableKey[] {
  const { env } = context;
  const suppressed = context.suppressed?.[spec.id] ?? [];
  const found: VariableKey[] = [];
  for (const variable of spec.keyVars ?? []) {
    const value = env[variable];
    if (suppressed.includes(`env:${variable}`)) continue;
    if (isUsableSecret(value) && variableServes(spec, variable, value)) found.push({ variable, value: value.trim() });
  }
  return found;
}

function expandAlias(ask: ModelAsk, settings: ProviderSettings): ModelAsk {
  const alias: ModelChoice | undefined = settings.aliases[(ask.model ?? "").toLowerCase()];
  if (!alias) return ask;
  return {
    ...ask,
    model: alias.model,
    ...(ask.provider || alias.provider === "" ? {} : { provider: alias.provider }),
    ...(ask.baseUrl || alias.baseUrl === "" ? {} : { baseUrl: alias.baseUrl }),
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
): { spec: ProviderSpec; named?: CustomEndpoint } | undefined {
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

interface Place {
  readonly url: string;
  readonly source: UrlSource;
}

/** Google and Kimi publish more than one address for the same key. */
function adjustUrl(spec: ProviderSpec, place: Place, keys: readonly VariableKey[]): Place {
  if (spec.id === "gemini" && /\/v1(beta)?\/?$/.test(place.url))
    return { ...place, url: `${place.url.replace(/\/$/, "")}/openai` };
  if (spec.id === "kimi-coding" && place.source === "catalog" && keys[0]?.value.startsWith("sk-kimi-"))
    return { ...place, url: "https://api.kimi.com/coding" };
  return place;
}

function placeOf(spec: ProviderSpec, configured: string, env: ResolveContext["env"]): Place {
  if (configured !== "") return { url: configured, source: "config" };
  for (const variable of spec.urlVars ?? []) {
    const value = env[variable]?.trim();
    if (value) return { url: value, source: "variable" };
  }
  return { url: spec.baseUrl, source: "catalog" };
}

/** Keys of catalog providers whose own host this URL names: a custom endpoint at api.openai.com may use OPENAI_API_KEY. */
function keysByHost(url: string, context: ResolveContext): VariableKey[] {
  const host = hostOf(url);
  if (host === undefined || isLocalUrl(url) || !url.toLowerCase().startsWith("https:")) return [];
  return CATALOG.filter((spec) => !spec.local && !spec.instead && hostAllowed(host, hostsOf(spec))).flatMap((spec) =>
    variableKeys(spec, context),
  );
}

function explicitKey(choice: { apiKey?: string; keyVar?: string }, env: ResolveContext["env"]): string | undefined {
  if (isUsableSecret(choice.apiKey)) return choice.apiKey.trim();
  const value = choice.keyVar ? env[choice.keyVar] : undefined;
  return isUsableSecret(value) ? value.trim() : undefined;
}

interface Draft {
  readonly provider: string;
  readonly label: string;
  readonly spec: ProviderSpec;
  readonly model: string;
  readonly url: string;
  readonly keys: EndpointKeys;
  readonly explicit?: TransportName;
  readonly overrides?: CustomEndpoint;
}

function finish(draft: Draft, settings: ProviderSettings): Endpoint {
  const { spec, model, overrides } = draft;
  const baseUrl = draft.url.replace(/\/+$/, "");
  const local = spec.local === true || isLocalUrl(baseUrl);
  const isOpenRouter = hostOf(baseUrl) === "openrouter.ai";
  const attributed = spec.id === "ai-gateway" && hostOf(baseUrl) === hostOf(spec.baseUrl);
  const extras = isOpenRouter
    ? openRouterExtras({ model }, settings)
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
  const sameHost = !ask.baseUrl || hostOf(ask.baseUrl) === hostOf(named.baseUrl);
  const written = named.plugin ? { apiKey: named.apiKey } : named;
  const fixed = explicitKey(ask, context.env) ?? (sameHost ? explicitKey(written, context.env) : undefined);
  const url = ask.baseUrl || named.baseUrl;
  if (!fixed && sameHost && !endpointReady(named, context))
    return refuse(
      `No key for ${named.name}`,
      `Run \`hermes auth add ${named.slug}\`, or set ${named.keyVar} in the environment or in .env.`,
    );
  const explicit = ask.transport ?? named.transport;
  const keys: EndpointKeys = {
    ...(fixed ? { fixed } : {}),
    pool: sameHost ? `custom:${named.slug}` : null,
    variables: [...(sameHost ? broughtKeys(named, context) : []), ...keysByHost(url, context)],
    optional: true,
  };
  const draft: Draft = {
    provider: `custom:${named.slug}`,
    label: named.name,
    spec,
    model,
    url,
    keys,
    overrides: named,
    ...(explicit ? { explicit } : {}),
  };
  return { ok: true, endpoint: finish(draft, context.settings) };
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

function missingKey(spec: ProviderSpec, place: Place, withheld: boolean): Resolution {
  if (spec.instead)
    return refuse(`${spec.label}: this way to sign in is not available yet`, `Instead, ${spec.instead}.`);
  const variable = spec.keyVars?.[0] ?? "a key";
  if (withheld)
    return refuse(
      `The ${spec.label} key is not sent to ${hostOf(place.url) ?? place.url}: it was not made for that host`,
      `If that is what you want, put the key beside the address: model.api_key (or model.key_env: ${variable}) in config.yaml.`,
    );
  return refuse(
    `No key for ${spec.label}`,
    `Run \`hermes auth add ${spec.id}\`, or set ${variable} in the environment or in .env.`,
  );
}

function resolveSpec(spec: ProviderSpec, ask: ModelAsk, context: ResolveContext): Resolution {
  const { settings, env } = context;
  const config = configFor(spec, ask, settings);
  const found = variableKeys(spec, context);
  const place = adjustUrl(spec, placeOf(spec, ask.baseUrl || config?.baseUrl || "", env), found);
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
  // A key from the configuration belongs to the address beside it; another address needs its own.
  const configKey =
    config && (!ask.baseUrl || hostOf(ask.baseUrl) === hostOf(config.baseUrl)) ? explicitKey(config, env) : undefined;
  const fixed = explicitKey(ask, env) ?? configKey;
  const allowed = providerKeysMayGo(spec, place.url, place.source);
  const variables = [...(allowed ? found : []), ...(spec.id === "custom" ? keysByHost(place.url, context) : [])];
  const pooled = allowed && (context.pooled?.has(spec.id) ?? false);
  const model = nativeName(spec.id, modelFor(spec, ask, settings));
  if (!fixed && !pooled && variables.length === 0 && spec.auth !== "none")
    return missingKey(spec, place, found.length > 0 || (context.pooled?.has(spec.id) ?? false));
  if (model === "")
    return refuse(`No model is chosen for ${spec.label}`, "Set `model.default` in config.yaml, or pass -m MODEL.");
  const explicit = ask.transport ?? config?.transport;
  const keys: EndpointKeys = {
    ...(fixed ? { fixed } : {}),
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
  return { ok: true, endpoint: finish(draft, settings) };
}

/** Resolves the ask against configuration, variables and stored keys. Trouble comes back as a failure with its cure. */
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
      return refuse(
        "No model provider is configured",
        "Run `hermes auth add PROVIDER`, set a key such as OPENROUTER_API_KEY, or start Ollama.",
      );
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
  throw new UserError(resolution.failure.message, resolution.failure.cure ? { cure: resolution.failure.cure } : {});
}
