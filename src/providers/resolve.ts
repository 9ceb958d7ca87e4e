// Resolves a model selection and the configuration to an endpoint: provider, model, URL, dialect, keys. Pure.
import type { Failure } from "../core/failure.ts";
import type { TransportName } from "../core/model/provider.ts";
import { apiMode } from "./api-mode.ts";
import { CATALOG, nearestProvider, providerByAlias, providerById } from "./catalog.ts";
import type { Endpoint, EndpointKeys, VariableKey } from "./endpoint.ts";
import { ATTRIBUTION, openRouterExtras } from "./gateway-extras.ts";
import {
  findBaseUrl,
  givenKey,
  type KeySources,
  keysByAddress,
  missingKey,
  notConfigured,
  pooledAt,
  unusableAutoKey,
  variableKeys,
} from "./keys/endpoint-keys.ts";
import { type BaseUrl, isLocalUrl, mayReceiveKeys, parseHost, sameOrigin } from "./keys/key-hosts.ts";
import { endpointReady, pluginKeys } from "./keys/plugin-keys.ts";
import { nativeName } from "./native-name.ts";
import type { ProviderSpec } from "./provider-spec.ts";
import { type CustomEndpoint, type ModelChoice, type ProviderSettings, toSlug } from "./settings.ts";

/** The model that a caller wants. Every field may be empty; the others replace the configuration. */
export interface ModelSelection {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly keyVar?: string | undefined;
  readonly transport?: TransportName | undefined;
  /** Its section in config.yaml, for messages. */
  readonly path?: string | undefined;
}

export interface ResolveContext extends KeySources {
  readonly settings: ProviderSettings;
  /** `active_provider` of auth.json. */
  readonly activeProvider?: string | null | undefined;
}

export type Resolution =
  | { readonly ok: true; readonly endpoint: Endpoint }
  /** `noProvider`: no provider is configured, and no key is set. */
  | { readonly ok: false; readonly failure: Failure; readonly noProvider?: true | undefined };

function failed(message: string, hint: string): Resolution {
  return { ok: false, failure: notConfigured(message, hint) };
}

/** The address of an alias, and the key that is set with it. */
function keyedAddress({ baseUrl, apiKey, keyVar, path }: ModelChoice): ModelSelection {
  return {
    baseUrl,
    ...(apiKey ? { apiKey } : {}),
    ...(keyVar ? { keyVar } : {}),
    ...(path ? { path } : {}),
  };
}

function expandAlias(selection: ModelSelection, settings: ProviderSettings): ModelSelection {
  const alias: ModelChoice | undefined = settings.aliases[(selection.model ?? "").toLowerCase()];
  if (!alias) return selection;
  return {
    ...selection,
    model: alias.model,
    ...(selection.provider || alias.provider === "" ? {} : { provider: alias.provider }),
    ...(selection.baseUrl || alias.baseUrl === "" ? {} : keyedAddress(alias)),
  };
}

/** Splits `anthropic:claude-…` and `custom:name:model`. Only full provider ids count, so `qwen:7b` is a model. */
function splitProvider(selection: ModelSelection, settings: ProviderSettings): ModelSelection {
  const model = selection.model ?? "";
  if (selection.provider || !model.includes(":")) return selection;
  for (const endpoint of settings.endpoints) {
    for (const prefix of [`custom:${endpoint.slug}:`, `${endpoint.slug}:`]) {
      if (model.startsWith(prefix))
        return { ...selection, provider: `custom:${endpoint.slug}`, model: model.slice(prefix.length) };
    }
  }
  const colon = model.indexOf(":");
  const spec = providerById(model.slice(0, colon));
  return spec ? { ...selection, provider: spec.id, model: model.slice(colon + 1) } : selection;
}

function findEndpoint(word: string, settings: ProviderSettings): CustomEndpoint | undefined {
  const slug = toSlug(word.replace(/^custom:/, ""));
  return settings.endpoints.find(
    (entry) => entry.baseUrl !== "" && (entry.slug === slug || toSlug(entry.name) === slug),
  );
}

/** The catalog entry or the custom endpoint of that name. */
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

/** The provider that `auto` chooses; undefined when nothing is configured. */
export function autoProvider(selection: ModelSelection, context: ResolveContext): string | undefined {
  if (selection.baseUrl) return "custom";
  if (selection.apiKey) return keyShape(selection.apiKey);
  const active = context.activeProvider ? findProvider(context.activeProvider, context.settings) : undefined;
  if (active && hasKey(active.spec, context)) return active.spec.id;
  const found = CATALOG.find((spec) => !spec.explicitOnly && !spec.local && hasKey(spec, context));
  if (found) return found.id;
  const named = context.settings.endpoints.filter((entry) => entry.baseUrl !== "");
  const own = named.filter((entry) => !entry.plugin);
  const candidates = own.length > 0 ? own : named.filter((entry) => endpointReady(entry, context));
  return candidates.length === 1 ? `custom:${candidates[0]?.slug}` : undefined;
}

/** Google and Kimi have more than one address for the same key. */
function adjustUrl(spec: ProviderSpec, place: BaseUrl, key: VariableKey | undefined): BaseUrl {
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
  const isOpenRouter = parseHost(baseUrl) === "openrouter.ai";
  const attributed = spec.id === "ai-gateway" && parseHost(baseUrl) === parseHost(spec.baseUrl);
  const extras = isOpenRouter
    ? openRouterExtras({ model }, settings, env)
    : { headers: attributed ? ATTRIBUTION : {}, extraBody: {} };
  const perModel = overrides?.models[model];
  return {
    provider: draft.provider,
    label: draft.label,
    spec,
    model,
    transport: apiMode({ spec, model, baseUrl, local, explicit: draft.explicit }),
    baseUrl,
    keys: draft.keys,
    ...extras,
    local,
    contextLength: perModel?.contextLength ?? overrides?.contextLength,
    timeoutMs: perModel?.timeoutMs ?? overrides?.requestTimeoutMs,
    staleTimeoutMs: perModel?.staleTimeoutMs ?? overrides?.staleTimeoutMs,
  };
}

function resolveNamed(
  named: CustomEndpoint,
  spec: ProviderSpec,
  selection: ModelSelection,
  context: ResolveContext,
): Resolution {
  const model = selection.model || named.model;
  if (!parseHost(named.baseUrl))
    return failed(
      `providers.${named.slug}: "${named.baseUrl}" is not an http(s) address`,
      `Correct providers.${named.slug}.base_url in config.yaml.`,
    );
  if (model === "")
    return failed(`No model is named for "${named.name}"`, `Set providers.${named.slug}.model, or pass -m MODEL.`);
  const url = selection.baseUrl || named.baseUrl;
  const own = sameOrigin(url, named.baseUrl);
  const written = named.plugin ? { apiKey: named.apiKey, path: named.path } : named;
  const given = givenKey(selection, url, context) ?? (own ? givenKey(written, url, context) : undefined);
  if (given && "failure" in given) return { ok: false, failure: given.failure };
  if (!given && own && !endpointReady(named, context))
    return failed(
      `No key for ${named.name}`,
      `Run \`hermes auth add ${named.slug}\`, or set ${named.keyVar} in the environment or in .env.`,
    );
  const pool = `custom:${named.slug}`;
  const variables = [...(own ? pluginKeys(named, context) : []), ...keysByAddress(url, context)];
  if (!given && variables.length === 0 && context.pooled?.has(pool) && !pooledAt(pool, url, context))
    return failed(
      `The key of ${named.name} in auth.json was added for another address than ${url} and is not sent there`,
      `Add a key for this address: hermes auth add ${named.slug}`,
    );
  const keys: EndpointKeys = {
    fixed: given?.value,
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
    explicit: selection.transport ?? named.transport,
  };
  return { ok: true, endpoint: finish(draft, context) };
}

/** The `model` section, when it applies to this provider. */
function configFor(spec: ProviderSpec, selection: ModelSelection, settings: ProviderSettings): ModelChoice | undefined {
  const { model } = settings;
  const meant = model.provider === "" || model.provider === "auto" ? undefined : findProvider(model.provider, settings);
  if (meant) return meant.spec.id === spec.id && !meant.named ? model : undefined;
  if (spec.id === "custom" && model.baseUrl !== "") return model;
  return selection.provider ? undefined : { ...model, baseUrl: "", apiKey: "" };
}

function modelFor(spec: ProviderSpec, selection: ModelSelection, settings: ProviderSettings): string {
  if (selection.model) return selection.model;
  const { model } = settings;
  const free = model.provider === "" || model.provider === "auto";
  const own = free || findProvider(model.provider, settings)?.spec.id === spec.id;
  return (own ? model.model : "") || spec.defaultModel || (spec.local ? "" : model.model);
}

/** The key of the selection, else the configured one when the call goes to the configured address. */
function keyFor(
  selection: ModelSelection,
  at: { place: BaseUrl; configured: BaseUrl; config?: ModelChoice | undefined },
  context: ResolveContext,
) {
  const { place, configured, config } = at;
  const given = givenKey(selection, place.url, context);
  if (given || !config || !sameOrigin(place.url, configured.url)) return given;
  return givenKey(config, place.url, context);
}

function resolveSpec(spec: ProviderSpec, selection: ModelSelection, context: ResolveContext): Resolution {
  const { settings, env } = context;
  const config = configFor(spec, selection, settings);
  const first = variableKeys(spec, context)[0];
  const configured = adjustUrl(spec, findBaseUrl(spec, config?.baseUrl ?? "", env), first);
  const place = selection.baseUrl ? adjustUrl(spec, { url: selection.baseUrl, source: "config" }, first) : configured;
  if (
    spec.transport !== "offline" &&
    spec.auth !== "aws" &&
    spec.auth !== "subprocess" &&
    !parseHost(place.url) &&
    !spec.instead
  )
    return failed(
      `${spec.label} needs an address`,
      `Set model.base_url${spec.urlVars ? ` or ${spec.urlVars[0]}` : ""} to an http(s) URL.`,
    );
  const given = keyFor(selection, { place, configured, config }, context);
  if (given && "failure" in given) return { ok: false, failure: given.failure };
  const allowed = mayReceiveKeys(spec, place.url, configured);
  const variables = [
    ...(allowed ? variableKeys(spec, context, place.url) : []),
    ...(spec.id === "custom" ? keysByAddress(place.url, context) : []),
  ];
  const pooled = allowed && pooledAt(spec.id, place.url, context);
  const model = nativeName(spec.id, modelFor(spec, selection, settings));
  if (!given && !pooled && variables.length === 0 && spec.auth !== "none")
    return { ok: false, failure: missingKey(spec, place.url, context) };
  if (model === "")
    return failed(`No model is chosen for ${spec.label}`, "Set `model.default` in config.yaml, or pass -m MODEL.");
  const keys: EndpointKeys = {
    fixed: given?.value,
    pool: allowed ? spec.id : null,
    variables,
    optional: spec.auth === "none",
  };
  const draft: Draft = {
    provider: spec.id,
    label: spec.label,
    spec,
    model,
    url: place.url,
    keys,
    explicit: selection.transport ?? config?.transport,
    overrides: settings.endpoints.find((entry) => entry.slug === spec.id),
  };
  return { ok: true, endpoint: finish(draft, context) };
}

/** The failure when `auto` found no provider: an unusable key, a key without a provider, or no key. */
function noProviderFound(context: ResolveContext): Resolution {
  const unusable = unusableAutoKey(context);
  if (unusable) return { ok: false, failure: unusable };
  const { apiKey, keyVar, model } = context.settings.model;
  if (apiKey !== "" || keyVar !== "")
    return failed(
      `model.${apiKey === "" ? "key_env" : "api_key"} is set in config.yaml, but not which provider the key is for`,
      "Set model.provider, or model.base_url for a server of your own.",
    );
  const failure = notConfigured(
    model === "" ? "No model provider is configured" : `The model ${model} is configured, but no provider for it`,
    "Run `hermes auth add PROVIDER`, set a key such as OPENROUTER_API_KEY, or start Ollama.",
  );
  return { ok: false, failure, noProvider: true };
}

/** Resolves a selection with configuration, variables and stored keys. */
export function resolveEndpoint(requested: ModelSelection, context: ResolveContext): Resolution {
  const { settings, env } = context;
  const selection = splitProvider(expandAlias(requested, settings), settings);
  const configured = settings.model.provider === "auto" ? "" : settings.model.provider;
  const wanted = selection.provider || configured || env.HERMES_INFERENCE_PROVIDER || "auto";
  let word = wanted.trim();
  if (word === "auto") {
    const atUrl = !selection.baseUrl && settings.model.baseUrl !== "" && !selection.provider;
    const auto = atUrl ? "custom" : autoProvider(selection, context);
    if (auto === undefined) {
      if (selection.apiKey)
        return failed(
          "A key was given without its provider",
          "Pass --provider too, so that the key goes to the right host.",
        );
      return noProviderFound(context);
    }
    word = auto;
  }
  const found = findProvider(word, settings);
  if (!found) {
    const guess = nearestProvider(word);
    return failed(`Unknown provider "${word}"${guess ? `; did you mean "${guess}"?` : ""}`, "See: hermes model list");
  }
  if (found.named)
    return resolveNamed(found.named, found.spec, withConfigModel(found.named, selection, settings), context);
  if (found.spec.auth === "aws" || found.spec.auth === "subprocess")
    return failed(
      `${found.spec.label} is not available yet`,
      `Instead, ${found.spec.instead ?? "choose another provider"}.`,
    );
  return resolveSpec(found.spec, selection, context);
}

/** Adds the configured model when the configuration selects this endpoint. */
function withConfigModel(named: CustomEndpoint, selection: ModelSelection, settings: ProviderSettings): ModelSelection {
  if (selection.model || settings.model.model === "") return selection;
  const chosen = settings.model.provider === "" ? undefined : findProvider(settings.model.provider, settings)?.named;
  return chosen === named ? { ...selection, model: settings.model.model } : selection;
}
