// What `hermes auth` does: keys added, listed, removed, reset, for providers and named endpoints.

import { join } from "node:path";
import { openSettings } from "../../config/api.ts";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import type { JsonObject } from "../../core/message.ts";
import { withPluginModels } from "../../app/open-plugins.ts";
import { CATALOG, nearestProvider } from "../catalog.ts";
import type { VariableKey } from "../endpoint.ts";
import { Credentials, type EntryView } from "../keys/credentials.ts";
import { placeOf, variableKeys } from "../keys/endpoint-keys.ts";
import { keyProblem } from "../keys/key-check.ts";
import { isLocalUrl } from "../keys/key-hosts.ts";
import { pluginKeys } from "../keys/plugin-keys.ts";
import type { ProviderSpec } from "../provider-spec.ts";
import { findProvider } from "../resolve.ts";
import { type CustomEndpoint, type ProviderSettings, readProviderSettings } from "../settings.ts";

export interface KeyList {
  readonly provider: string;
  readonly label: string;
  readonly strategy: string;
  readonly entries: readonly EntryView[];
}

interface Place {
  /** Name of the list in auth.json. */
  readonly pool: string;
  readonly label: string;
  readonly spec: ProviderSpec;
  readonly named?: CustomEndpoint | undefined;
}

export interface AuthActions {
  add(
    provider: string,
    key: { value: string; label?: string | undefined; baseUrl?: string | undefined },
  ): Promise<{ provider: string; label: string }>;
  /** Lists that hold a key; all of them, or the one asked for. */
  list(provider?: string): Promise<readonly KeyList[]>;
  /** `target` is a position (from 1), an id or a label. */
  remove(provider: string, target: string): Promise<{ label: string; source: string }>;
  reset(provider: string): Promise<number>;
  /** Checks the name before a secret is asked for. */
  check(provider: string): Promise<{ provider: string; label: string }>;
}

function keyPlaceOf(word: string, settings: ProviderSettings): Place {
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
    return { pool: `custom:${named.slug}`, label: named.name, spec, named };
  }
  return { pool: found.spec.id, label: found.spec.label, spec: found.spec };
}

function requireKeys(place: Place): Place {
  const { spec } = place;
  if (place.pool.startsWith("custom:") || spec.keyVars !== undefined) return place;
  throw new UserError(`${spec.label} takes no API key`, {
    hint: spec.instead ? `Its sign-in is not available yet. Instead, ${spec.instead}.` : "Nothing needs to be added.",
  });
}

/**
 * The address that is in force for the provider: Hermes Agent v0.14 knows no other for a key from the file. With several
 * places of the provider the key is not bound to one of them.
 */
function addressOf(
  { spec, named }: Place,
  settings: ProviderSettings,
  env: Home["env"],
): { baseUrl?: string | undefined } {
  if (named) return { baseUrl: named.baseUrl };
  if (spec.extraHosts) return {};
  const { provider, baseUrl: written } = settings.model;
  const own = provider !== "" && findProvider(provider, settings)?.spec.id === spec.id;
  const baseUrl = placeOf(spec, own ? written : "", env).url;
  return baseUrl === "" ? {} : { baseUrl };
}

function pickEntry(entries: readonly EntryView[], target: string, place: Place): EntryView {
  const byName = entries.filter((entry) => entry.id === target || entry.label === target);
  const entry = byName.length === 1 ? byName[0] : /^\d+$/.test(target) ? entries[Number(target) - 1] : undefined;
  if (entry) return entry;
  throw new UserError(`${place.label} has no key "${target}"${byName.length > 1 ? " (several have that label)" : ""}`, {
    hint: `Give its number, id or label. See: hermes auth list ${place.pool}`,
  });
}

export async function openAuth(home: Home): Promise<AuthActions> {
  const { config } = await openSettings(home).load();
  const settings = readProviderSettings((await withPluginModels(home, config)) as unknown as JsonObject, home.env);
  const credentials = new Credentials({
    path: join(home.path, "auth.json"),
    strategies: settings.poolStrategies,
    ...(home.root === home.path ? {} : { globalPath: join(home.root, "auth.json") }),
  });
  const variables = async (place: Place): Promise<VariableKey[]> => {
    const { suppressed } = await credentials.overview();
    const context = { env: home.env, suppressed };
    return place.named ? pluginKeys(place.named, context) : variableKeys(place.spec, context);
  };
  const listOne = async (place: Place): Promise<KeyList> => ({
    provider: place.pool,
    label: place.label,
    strategy: settings.poolStrategies[place.pool] ?? "fill_first",
    entries: await credentials.list(place.pool, await variables(place)),
  });
  return {
    check: async (word) => {
      const place = requireKeys(keyPlaceOf(word, settings));
      return { provider: place.pool, label: place.label };
    },
    add: async (word, key) => {
      const place = requireKeys(keyPlaceOf(word, settings));
      const address = addressOf(place, settings, home.env);
      const problem = keyProblem(key.value, isLocalUrl(address.baseUrl ?? ""));
      if (problem) throw new UserError(`that is not a key: ${problem}`, { hint: "Nothing was stored." });
      const added = await credentials.add(place.pool, {
        ...key,
        ...address,
        value: key.value.trim(),
      });
      return { provider: place.pool, label: added.label };
    },
    list: async (word) => {
      if (word !== undefined) return [await listOne(keyPlaceOf(word, settings))];
      const usable = settings.endpoints.filter((endpoint) => endpoint.baseUrl !== "");
      const named = usable.map((endpoint) => keyPlaceOf(`custom:${endpoint.slug}`, settings));
      const places = [...CATALOG.map((spec) => ({ pool: spec.id, label: spec.label, spec })), ...named];
      const lists = await Promise.all(places.map(listOne));
      return lists.filter((list) => list.entries.length > 0);
    },
    remove: async (word, target) => {
      const place = keyPlaceOf(word, settings);
      const entry = pickEntry((await listOne(place)).entries, target, place);
      await credentials.remove(place.pool, entry.id, entry.source);
      return { label: entry.label, source: entry.source };
    },
    reset: async (word) => credentials.reset(keyPlaceOf(word, settings).pool),
  };
}
