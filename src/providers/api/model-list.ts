// The models that can be used now: the lists of the providers that have a key and of local servers, with windows and prices.
import type { ModelIdentity } from "../../core/model/provider.ts";
import { nearest } from "../../lib/nearest.ts";
import { CATALOG } from "../catalog.ts";
import type { Models } from "../connect.ts";
import { isLocalServer } from "../discover.ts";
import type { Endpoint } from "../endpoint.ts";
import { pricesFor } from "../facts/pricing.ts";
import { askForModelNames, type ServerFacts } from "../facts/server-facts.ts";
import { familyWindow } from "../facts/window-table.ts";
import { variableKeys } from "../keys/endpoint-keys.ts";
import { endpointReady } from "../keys/plugin-keys.ts";
import { type ModelSelection, resolveEndpoint } from "../resolve.ts";
import type { Prices } from "../settings.ts";

const LIST_DEADLINE_MS = 3_000;
const MAX_SUGGESTIONS = 4;

export interface ListedModel {
  readonly provider: string;
  /** The name of the provider for the user. */
  readonly label: string;
  readonly model: string;
  readonly contextLength?: number | undefined;
  /** US dollars per million tokens; undefined when the price is not known. */
  readonly price?: { readonly input: number; readonly output: number } | undefined;
  readonly local: boolean;
}

export interface ModelList {
  readonly models: readonly ListedModel[];
  /** Providers that did not answer, with what is shown of them instead. */
  readonly notes: readonly string[];
}

/** A model to begin with: the endpoint is needed to ask for the list, and any name gives the same endpoint. */
const ANY_MODEL = "any";

async function usableEndpoints(models: Models): Promise<readonly Endpoint[]> {
  const context = await models.context();
  const named = models.settings.endpoints.filter((each) => each.baseUrl !== "" && endpointReady(each, context));
  const ready = CATALOG.filter((spec) => {
    if (spec.transport === "offline" || spec.instead || spec.local || spec.id === "custom") return false;
    return (context.pooled?.has(spec.id) ?? false) || variableKeys(spec, context).length > 0;
  });
  const local = await Promise.all(
    CATALOG.filter((spec) => spec.local && spec.baseUrl !== "").map(async (spec) =>
      (await isLocalServer(spec.baseUrl)) ? [spec] : [],
    ),
  );
  const selections: ModelSelection[] = [
    {},
    ...named.map((each) => ({
      provider: each.plugin ? each.slug : `custom:${each.slug}`,
      model: each.model || ANY_MODEL,
    })),
    ...[...ready, ...local.flat()].map((spec) => ({ provider: spec.id, model: spec.defaultModel ?? ANY_MODEL })),
  ];
  const found = selections.map((selection) => resolveEndpoint(selection, context));
  const endpoints = found.flatMap((each) => (each.ok && each.endpoint.transport !== "offline" ? [each.endpoint] : []));
  const seen = new Set<string>();
  return endpoints.filter(({ provider, baseUrl }) => {
    const isNew = !seen.has(`${provider} ${baseUrl}`);
    seen.add(`${provider} ${baseUrl}`);
    return isNew;
  });
}

function describe(endpoint: Endpoint, model: string, facts: ServerFacts): ListedModel {
  const priced = pricesFor({ ...endpoint, model }, { listed: facts.prices });
  return {
    provider: endpoint.provider,
    label: endpoint.label,
    model,
    contextLength: facts.contextLength ?? familyWindow(model),
    price: priced?.prices ?? (endpoint.local ? { input: 0, output: 0 } : undefined),
    local: endpoint.local,
  };
}

async function askEndpoint(
  models: Models,
  endpoint: Endpoint,
  signal: AbortSignal | undefined,
): Promise<readonly { id: string; facts: ServerFacts }[] | undefined> {
  const apiKey = (await models.credentials.lease(endpoint.keys, endpoint.baseUrl))?.value ?? null;
  return askForModelNames({ endpoint, apiKey, deadlineMs: LIST_DEADLINE_MS, signal });
}

/** Asks all providers at once, each for at most three seconds. One that gives no list is shown with its usual models. */
export async function listModels(models: Models, signal?: AbortSignal): Promise<ModelList> {
  const notes: string[] = [];
  const endpoints = await usableEndpoints(models);
  const lists = await Promise.all(
    endpoints.map(async (endpoint) => {
      const listed = await askEndpoint(models, endpoint, signal);
      if (listed && listed.length > 0) return listed.map(({ id, facts }) => describe(endpoint, id, facts));
      const { spec } = endpoint;
      const usual = [endpoint.model, spec.defaultModel, spec.auxModel].filter((name) => name && name !== ANY_MODEL);
      notes.push(`${endpoint.label} gave no list of its models`);
      return [...new Set(usual)].map((name) => describe(endpoint, name ?? "", {}));
    }),
  );
  return { models: lists.flat(), notes };
}

/** Why this model cannot be asked at all: an unknown provider, a missing key. Null when it can. */
export async function refuseModel(models: Models, selection: ModelSelection): Promise<string | null> {
  const resolved = await models.resolve(selection);
  if (!("failure" in resolved)) return null;
  return [resolved.failure.message, resolved.failure.hint ?? ""].join(". ").trim();
}

/** Names that the provider lists and that resemble the wanted one; none when it lists the wanted one itself. */
export async function similarModels(models: Models, selection: ModelSelection): Promise<readonly string[]> {
  const resolved = await models.resolve(selection);
  if ("failure" in resolved) return [];
  const { endpoint } = resolved;
  const names = (await askEndpoint(models, endpoint, undefined))?.map((each) => each.id) ?? [];
  return names.includes(endpoint.model) ? [] : suggest(endpoint.model, names);
}

/** Names with the most words in common, then the closest spelling. */
export function suggest(wanted: string, names: readonly string[]): readonly string[] {
  const words = wanted
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const score = (name: string) => words.filter((word) => name.toLowerCase().includes(word)).length;
  const ranked = names
    .map((name) => ({ name, score: score(name) }))
    .filter((each) => each.score > 0)
    .sort((a, b) => b.score - a.score || a.name.length - b.name.length)
    .slice(0, MAX_SUGGESTIONS)
    .map((each) => each.name);
  const spelling = nearest(wanted, names);
  return [...new Set([...(spelling ? [spelling] : []), ...ranked])].slice(0, MAX_SUGGESTIONS);
}

/** What the model costs: set by the user, listed by the endpoint, or listed by the maker. */
export async function modelPrice(models: Models, identity: ModelIdentity): Promise<Prices | undefined> {
  if (identity.transport === "offline") return { input: 0, output: 0, cacheRead: 0 };
  const { provider, model, baseUrl } = identity;
  const resolved = resolveEndpoint({ provider, model, baseUrl }, await models.context());
  if (!resolved.ok) return undefined;
  const { endpoint } = resolved;
  const apiKey = (await models.credentials.lease(endpoint.keys, endpoint.baseUrl))?.value ?? null;
  const known = pricesFor(endpoint, {
    // `model.pricing` is about the configured model.
    override: endpoint.model === models.settings.model.model ? models.settings.prices : undefined,
    listed: await models.facts.prices(endpoint, apiKey),
  });
  return known?.prices ?? (endpoint.local ? { input: 0, output: 0, cacheRead: 0 } : undefined);
}
