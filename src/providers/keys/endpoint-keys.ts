// Finds the keys that an endpoint may use, and explains why a configured key cannot be used.
import type { Failure } from "../../core/failure.ts";
import { CATALOG } from "../catalog.ts";
import type { VariableKey } from "../endpoint.ts";
import type { ProviderSpec } from "../provider-spec.ts";
import { isUsableKey, keyProblem } from "./key-check.ts";
import { type BaseUrl, isKeyFor, isLocalUrl, isOwnAddress, parseHost, sameOrigin } from "./key-hosts.ts";

type Env = { readonly [name: string]: string | undefined };

/** The sources of keys. */
export interface KeySources {
  readonly env: Env;
  /** Path of `.env`, for messages. */
  readonly envPath?: string | undefined;
  /** Lists of auth.json that hold a usable key. */
  readonly pooled?: ReadonlySet<string> | undefined;
  /** The addresses for which the keys of each list were added; empty text means any. */
  readonly pooledFor?: { readonly [pool: string]: readonly string[] };
  /** Lists of auth.json that hold only unusable keys, with the label of one. */
  readonly unusable?: { readonly [pool: string]: string };
  /** `suppressed_sources` of auth.json: variables whose key the user removed. */
  readonly suppressed?: { readonly [provider: string]: readonly string[] };
}

export function notConfigured(message: string, hint: string): Failure {
  return { kind: "not_configured", message, hint };
}

/** A configured key cannot be used. No other key replaces it: the user has to know. */
function unusableKey(message: string, hint: string): Failure {
  return { kind: "auth", message, hint };
}

/** The base URL of the provider: from the configuration, its URL variable, or the catalog. */
export function findBaseUrl(spec: ProviderSpec, configured: string, env: Env): BaseUrl {
  if (configured !== "") return { url: configured, source: "config" };
  for (const variable of spec.urlVars ?? []) {
    const value = env[variable]?.trim();
    if (value) return { url: value, source: "variable" };
  }
  return { url: spec.baseUrl, source: "catalog" };
}

function setVariables(spec: ProviderSpec, sources: KeySources): VariableKey[] {
  const suppressed = sources.suppressed?.[spec.id] ?? [];
  const found: VariableKey[] = [];
  for (const variable of spec.keyVars ?? []) {
    const value = sources.env[variable];
    if (value === undefined || suppressed.includes(`env:${variable}`)) continue;
    if (isKeyFor(spec, variable, value)) found.push({ variable, value: value.trim() });
  }
  return found;
}

/** The variables of the catalog entry that hold a usable key of that provider. */
export function variableKeys(spec: ProviderSpec, sources: KeySources, url?: string): VariableKey[] {
  const local = isLocalUrl(url ?? findBaseUrl(spec, "", sources.env).url);
  return setVariables(spec, sources).filter(({ value }) => isUsableKey(value, local));
}

/** True when a list of auth.json has a key for this address. */
export function pooledAt(pool: string, url: string, sources: KeySources): boolean {
  if (!sources.pooled?.has(pool)) return false;
  const addresses = sources.pooledFor?.[pool];
  return addresses === undefined || addresses.some((address) => address === "" || sameOrigin(address, url));
}

function envFile(sources: KeySources): string {
  return sources.envPath ?? ".env";
}

function unusableVariable(spec: ProviderSpec, sources: KeySources, url: string): Failure | undefined {
  for (const { variable, value } of setVariables(spec, sources)) {
    const problem = keyProblem(value, isLocalUrl(url));
    if (problem === undefined) continue;
    return unusableKey(
      `${variable} is set, but it is not a key of ${spec.label}: ${problem}`,
      `Set the real key where it is set now, in the environment or in ${envFile(sources)}: hermes config set ${variable} KEY`,
    );
  }
  return undefined;
}

function unusablePool(spec: ProviderSpec, sources: KeySources): Failure | undefined {
  const label = sources.unusable?.[spec.id];
  if (label === undefined) return undefined;
  return unusableKey(
    `The key "${label}" of ${spec.label} in auth.json is not a key: it is a placeholder or too short`,
    `Replace it: hermes auth remove ${spec.id} ${label}, then hermes auth add ${spec.id}`,
  );
}

/** Why the keys of the provider cannot be used; undefined when none is set. */
export function findUnusableKey(spec: ProviderSpec, sources: KeySources, url: string): Failure | undefined {
  return unusableVariable(spec, sources, url) ?? unusablePool(spec, sources);
}

/** The first unusable key among the providers that `auto` considers. Empty variables are ignored. */
export function unusableAutoKey(sources: KeySources): Failure | undefined {
  const env = Object.fromEntries(Object.entries(sources.env).filter(([, value]) => value?.trim()));
  for (const spec of CATALOG) {
    if (spec.explicitOnly || spec.local) continue;
    const found = findUnusableKey(spec, { ...sources, env }, findBaseUrl(spec, "", env).url);
    if (found) return found;
  }
  return undefined;
}

/** Keys of the catalog providers at this address: a custom endpoint at api.openai.com may use OPENAI_API_KEY. */
export function keysByAddress(url: string, sources: KeySources): VariableKey[] {
  if (isLocalUrl(url)) return [];
  return CATALOG.filter((spec) => !spec.local && !spec.instead && isOwnAddress(spec, url)).flatMap((spec) =>
    variableKeys(spec, sources),
  );
}

/** A key that is set for one endpoint, and the path of its section in config.yaml. */
export interface ConfiguredKey {
  readonly apiKey?: string | undefined;
  readonly keyVar?: string | undefined;
  readonly path?: string | undefined;
}

export type GivenKey = { readonly value: string } | { readonly failure: Failure } | undefined;

/** The key that is set for the endpoint at `url`; a failure when it cannot be used. */
export function givenKey(written: ConfiguredKey, url: string, sources: KeySources): GivenKey {
  const { apiKey = "", keyVar = "", path } = written;
  const local = isLocalUrl(url);
  if (apiKey.trim() !== "") {
    const problem = keyProblem(apiKey, local);
    if (problem === undefined) return { value: apiKey.trim() };
    const where = path === undefined ? "The given key" : `${path}.api_key in config.yaml`;
    const hint =
      path === undefined
        ? "Give the real key."
        : `Set it to the real key of ${parseHost(url) ?? url}, or remove it: hermes config unset ${path}.api_key`;
    return { failure: unusableKey(`${where} is not a key: ${problem}`, hint) };
  }
  if (keyVar === "") return undefined;
  const value = sources.env[keyVar];
  const problem = value === undefined ? "it is not set" : keyProblem(value, local);
  if (value !== undefined && problem === undefined) return { value: value.trim() };
  const named = path === undefined ? keyVar : `${keyVar}, which ${path}.key_env in config.yaml names,`;
  return {
    failure: unusableKey(
      `${named} does not hold a key: ${problem}`,
      `Set it in the environment or in ${envFile(sources)}: hermes config set ${keyVar} KEY`,
    ),
  };
}

/** The failure of a provider without a key that may be sent to `url`. */
export function missingKey(spec: ProviderSpec, url: string, sources: KeySources): Failure {
  const unusable = findUnusableKey(spec, sources, url);
  if (unusable) return unusable;
  const variable = spec.keyVars?.[0] ?? "a key";
  if (variableKeys(spec, sources).length > 0 || sources.pooled?.has(spec.id))
    return notConfigured(
      `The ${spec.label} key is not sent to ${parseHost(url) ?? url}: it is not a key of that host`,
      `If that is what you want, put the key beside the address: model.api_key (or model.key_env: ${variable}) in config.yaml.`,
    );
  if (spec.instead)
    return notConfigured(`${spec.label}: this sign-in is not available yet`, `Instead, ${spec.instead}.`);
  return notConfigured(
    `No key for ${spec.label}`,
    `Run \`hermes auth add ${spec.id}\`, or set ${variable} in the environment or in .env.`,
  );
}
