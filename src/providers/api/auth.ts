// The actions of `hermes auth`: add, list, remove and reset keys of providers and named endpoints.
import { join } from "node:path";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import { CATALOG, nearestProvider } from "../catalog.ts";
import type { VariableKey } from "../endpoint.ts";
import { Credentials, type EntryView } from "../keys/credentials.ts";
import { findBaseUrl, variableKeys } from "../keys/endpoint-keys.ts";
import { keyProblem } from "../keys/key-check.ts";
import { isLocalUrl } from "../keys/key-hosts.ts";
import { pluginKeys } from "../keys/plugin-keys.ts";
import type { ProviderSpec } from "../provider-spec.ts";
import { findProvider } from "../resolve.ts";
import { type CustomEndpoint, type ProviderSettings, readProviderSettings } from "../settings.ts";
import type { ModelsContext } from "./models-context.ts";

export interface KeyList {
  readonly provider: string;
  readonly label: string;
  readonly strategy: string;
  readonly entries: readonly EntryView[];
}

interface KeyPool {
  /** Name of the list in auth.json. */
  readonly name: string;
  readonly label: string;
  readonly spec: ProviderSpec;
  readonly named?: CustomEndpoint | undefined;
}

export interface AuthActions {
  add(
    provider: string,
    key: { value: string; label?: string | undefined; baseUrl?: string | undefined },
  ): Promise<{ provider: string; label: string }>;
  /** All lists that hold a key, or one list. */
  list(provider?: string): Promise<readonly KeyList[]>;
  /** `target` is a position (from 1), an id or a label. */
  remove(provider: string, target: string): Promise<{ label: string; source: string }>;
  reset(provider: string): Promise<number>;
  /** Checks the name before the user is asked for a secret. */
  check(provider: string): Promise<{ provider: string; label: string }>;
}

function findKeyPool(word: string, settings: ProviderSettings): KeyPool {
  const found = findProvider(word, settings);
  if (!found) {
    const guess = nearestProvider(word);
    throw new UserError(`unknown provider "${word}"${guess ? `; did you mean "${guess}"?` : ""}`, {
      hint: "See: hermes model list",
      exitCode: 2,
    });
  }
  if (found.named) {
    const { named, spec } = found;
    return { name: `custom:${named.slug}`, label: named.name, spec, named };
  }
  return { name: found.spec.id, label: found.spec.label, spec: found.spec };
}

function requireKeys(pool: KeyPool): KeyPool {
  const { spec } = pool;
  if (pool.name.startsWith("custom:") || spec.keyVars !== undefined) return pool;
  throw new UserError(`${spec.label} takes no API key`, {
    hint: spec.instead ? `Its sign-in is not available yet. Instead, ${spec.instead}.` : "Nothing needs to be added.",
  });
}

/**
 * The current address of the provider, to which a stored key is bound. Keys of providers with several hosts are not
 * bound to one of them.
 */
function currentAddress(
  { spec, named }: KeyPool,
  settings: ProviderSettings,
  env: Home["env"],
): { baseUrl?: string | undefined } {
  if (named) return { baseUrl: named.baseUrl };
  if (spec.extraHosts) return {};
  const { provider, baseUrl: written } = settings.model;
  const own = provider !== "" && findProvider(provider, settings)?.spec.id === spec.id;
  const baseUrl = findBaseUrl(spec, own ? written : "", env).url;
  return baseUrl === "" ? {} : { baseUrl };
}

function pickEntry(entries: readonly EntryView[], target: string, pool: KeyPool): EntryView {
  const byName = entries.filter((entry) => entry.id === target || entry.label === target);
  const entry = byName.length === 1 ? byName[0] : /^\d+$/.test(target) ? entries[Number(target) - 1] : undefined;
  if (entry) return entry;
  throw new UserError(`${pool.label} has no key "${target}"${byName.length > 1 ? " (several have that label)" : ""}`, {
    hint: `Give its number, id or label. See: hermes auth list ${pool.name}`,
  });
}

export async function openAuth({ home, loadConfig }: ModelsContext): Promise<AuthActions> {
  const settings = readProviderSettings(await loadConfig(), home.env);
  const credentials = new Credentials({
    path: join(home.path, "auth.json"),
    strategies: settings.config.credential_pool_strategies,
    globalPath: home.root === home.path ? undefined : join(home.root, "auth.json"),
  });
  const variables = async (pool: KeyPool): Promise<VariableKey[]> => {
    const { suppressed } = await credentials.overview();
    const context = { env: home.env, suppressed };
    return pool.named ? pluginKeys(pool.named, context) : variableKeys(pool.spec, context);
  };
  const listOne = async (pool: KeyPool): Promise<KeyList> => ({
    provider: pool.name,
    label: pool.label,
    strategy: settings.config.credential_pool_strategies[pool.name] ?? "fill_first",
    entries: await credentials.list(pool.name, await variables(pool)),
  });
  return {
    check: async (word) => {
      const pool = requireKeys(findKeyPool(word, settings));
      return { provider: pool.name, label: pool.label };
    },
    add: async (word, key) => {
      const pool = requireKeys(findKeyPool(word, settings));
      const address = currentAddress(pool, settings, home.env);
      const problem = keyProblem(key.value, isLocalUrl(address.baseUrl ?? ""));
      if (problem) throw new UserError(`that is not a key: ${problem}`, { hint: "Nothing was stored." });
      const added = await credentials.add(pool.name, {
        ...key,
        ...address,
        value: key.value.trim(),
      });
      return { provider: pool.name, label: added.label };
    },
    list: async (word) => {
      if (word !== undefined) return [await listOne(findKeyPool(word, settings))];
      const usable = settings.endpoints.filter((endpoint) => endpoint.baseUrl !== "");
      const named = usable.map((endpoint) => findKeyPool(`custom:${endpoint.slug}`, settings));
      const pools = [...CATALOG.map((spec) => ({ name: spec.id, label: spec.label, spec })), ...named];
      const lists = await Promise.all(pools.map(listOne));
      return lists.filter((list) => list.entries.length > 0);
    },
    remove: async (word, target) => {
      const pool = findKeyPool(word, settings);
      const entry = pickEntry((await listOne(pool)).entries, target, pool);
      await credentials.remove(pool.name, entry.id, entry.source);
      return { label: entry.label, source: entry.source };
    },
    reset: async (word) => credentials.reset(findKeyPool(word, settings).name),
  };
}
