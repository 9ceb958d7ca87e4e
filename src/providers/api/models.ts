// The actions of `hermes model`: list the providers, show, test and set the model.
import { UserError } from "../../core/failure.ts";
import type { ModelIdentity, ModelLimits, ModelRequest, SideAnswer, SideRequest } from "../../core/model/provider.ts";
import type { Cost, Usage, UsageLedger } from "../../core/store/usage.ts";
import { CATALOG } from "../catalog.ts";
import type { Models } from "../connect.ts";
import { type Endpoint, modelIdentity } from "../endpoint.ts";
import { pricesFor } from "../facts/pricing.ts";
import { type KeySources, variableKeys } from "../keys/endpoint-keys.ts";
import { sameOrigin } from "../keys/key-hosts.ts";
import { endpointReady } from "../keys/plugin-keys.ts";
import { nativeName } from "../native-name.ts";
import { openModels } from "../open-models.ts";
import type { ProviderSpec } from "../provider-spec.ts";
import { findProvider, type ModelSelection, resolveEndpoint } from "../resolve.ts";
import type { CustomEndpoint, Prices, ProviderSettings } from "../settings.ts";
import { type ListedModel, listModels, type ModelList } from "./model-list.ts";
import type { ModelsContext } from "./models-context.ts";

export type { ListedModel, ModelList };

export interface ProviderRow {
  readonly id: string;
  readonly label: string;
  /** `ready`, `no key`, `local`, `not available yet`. */
  readonly state: string;
  /** The source of the key, the variable to set, or what to use instead. */
  readonly detail: string;
  readonly defaultModel: string;
}

export interface ModelPrice extends Prices {
  /** `user_override`, `provider_models_api`, `official_docs_snapshot`, `third_party_snapshot`, or `none` for free models. */
  readonly source: string;
  /** The month in which a price list was read. */
  readonly read: string | null;
}

export interface ModelView {
  readonly identity: ModelIdentity;
  readonly label: string;
  readonly limits: ModelLimits;
  /** The price of the main hosts, with its page; null where it is not known and spending is estimated too high. */
  readonly price: ModelPrice | null;
  readonly caching: string;
  readonly fallbacks: readonly ModelIdentity[];
  readonly notes: readonly string[];
}

export interface ModelTest extends ModelView {
  readonly ok: boolean;
  readonly text: string;
  readonly failure: string | null;
  readonly hint: string | null;
  readonly firstTokenMs: number | null;
  readonly totalMs: number;
  readonly usage: Usage | null;
  readonly cost: Cost | null;
}

async function open(context: ModelsContext, ledger: UsageLedger, notice?: (text: string) => void): Promise<Models> {
  return openModels(context.home, await context.loadConfig(notice), ledger);
}

/** For commands that make no model calls. */
const NO_LEDGER: UsageLedger = {
  record: () => Promise.resolve(),
  spent: () => Promise.resolve(0),
  report: () => Promise.resolve([]),
};

/** `notice` gets the reasons why providers of plugins are ignored. */
export async function listProviders(
  context: ModelsContext,
  notice?: (text: string) => void,
): Promise<readonly ProviderRow[]> {
  const models = await open(context, NO_LEDGER, notice);
  const keys = await models.context();
  return [
    ...models.settings.endpoints
      .filter((endpoint) => endpoint.baseUrl !== "")
      .map((endpoint) => endpointRow(endpoint, endpointReady(endpoint, keys))),
    ...CATALOG.map((spec) => catalogRow(spec, keys)),
  ];
}

function endpointRow(endpoint: CustomEndpoint, ready: boolean): ProviderRow {
  return {
    id: endpoint.plugin ? endpoint.slug : `custom:${endpoint.slug}`,
    label: endpoint.plugin ? `${endpoint.name} (plugin ${endpoint.plugin})` : endpoint.name,
    state: ready ? "ready" : "no key",
    detail: ready ? endpoint.baseUrl : endpoint.keyVar,
    defaultModel: endpoint.model,
  };
}

function catalogState(spec: ProviderSpec, ready: boolean): string {
  if (ready) return "ready";
  if (spec.local || spec.transport === "offline") return "local";
  if (spec.instead) return "not available yet";
  return spec.id === "custom" ? "by address" : "no key";
}

function catalogRow(spec: ProviderSpec, keys: KeySources): ProviderRow {
  const variable = variableKeys(spec, keys)[0]?.variable;
  const stored = keys.pooled?.has(spec.id) ?? false;
  const source = stored ? "auth.json" : (variable ?? spec.instead ?? spec.keyVars?.[0] ?? spec.baseUrl);
  return {
    id: spec.id,
    label: spec.label,
    state: catalogState(spec, stored || variable !== undefined),
    detail: source || (spec.note ?? ""),
    defaultModel: spec.defaultModel ?? "",
  };
}

async function findPrice(models: Models, endpoint: Endpoint): Promise<ModelPrice | null> {
  if (endpoint.transport === "offline" || endpoint.spec.local)
    return { input: 0, output: 0, source: "none", read: null };
  const { settings, facts, credentials } = models;
  const ours = settings.model.model === "" || nativeName(endpoint.spec.id, settings.model.model) === endpoint.model;
  const override = ours ? settings.prices : undefined;
  const known = pricesFor(endpoint, { override });
  const key = async () => (await credentials.lease(endpoint.keys, endpoint.baseUrl))?.value ?? null;
  const found = known ?? pricesFor(endpoint, { listed: await facts.prices(endpoint, await key()) });
  return found ? { ...found.prices, source: found.source, read: found.version ?? null } : null;
}

/** The models of every provider that can be used now, with windows and prices; each provider is asked, with a deadline. */
export async function usableModels(context: ModelsContext, signal?: AbortSignal): Promise<ModelList> {
  return listModels(await open(context, NO_LEDGER), signal);
}

async function describeModel(models: Models, selection: ModelSelection) {
  const { provider, endpoint, notes } = await models.connect(selection);
  const { endpoints } = await models.fallbacks();
  const view: ModelView = {
    identity: provider.identity,
    label: endpoint.label,
    limits: await provider.limits(),
    price: await findPrice(models, endpoint),
    caching: provider.caching.label,
    fallbacks: endpoints.map(modelIdentity),
    notes,
  };
  return { provider, view };
}

/** One call of a side task outside a conversation. */
export async function askSideModel(context: ModelsContext, request: SideRequest): Promise<SideAnswer> {
  const { SideModels } = await import("../side-model.ts");
  return context.withLedger(async (ledger) => {
    const models = await open(context, ledger);
    const resolved = await models.resolve({});
    if (!("endpoint" in resolved)) return { ok: false, failure: resolved.failure };
    return new SideModels(models, resolved.endpoint).ask(request);
  });
}

export async function showModel(context: ModelsContext, selection: ModelSelection = {}): Promise<ModelView> {
  return (await describeModel(await open(context, NO_LEDGER), selection)).view;
}

const TEST_REQUEST: ModelRequest = {
  system: "You are being tested. Answer with the single word OK.",
  messages: [{ role: "user", content: "Reply with OK." }],
  tools: [],
  maxOutputTokens: 256,
  conversationId: "model-test",
  purpose: "model_test",
};

/** One small real call, without fallbacks: they would hide a failure. */
export async function testModel(
  context: ModelsContext,
  selection: ModelSelection,
  signal: AbortSignal,
): Promise<ModelTest> {
  return context.withLedger(async (ledger) => callModel(await open(context, ledger), selection, signal));
}

/** The same with models that are open already. */
export async function callModel(models: Models, selection: ModelSelection, signal: AbortSignal): Promise<ModelTest> {
  const { view } = await describeModel(models, selection);
  const resolved = await models.resolve(selection);
  if (!("endpoint" in resolved)) throw new UserError(resolved.failure.message, { hint: resolved.failure.hint });
  const client = models.client(resolved.endpoint, [], { ...models.settings, maxRetries: 1 });
  const started = Date.now();
  let firstTokenMs: number | null = null;
  for await (const event of client.stream(TEST_REQUEST, signal)) {
    const totalMs = Date.now() - started;
    if (event.type === "text" || event.type === "reasoning") firstTokenMs ??= totalMs;
    const result = { ...view, identity: modelIdentity(resolved.endpoint), firstTokenMs, totalMs };
    if (event.type === "failed") {
      const { message, hint } = event.failure;
      return { ...result, ok: false, text: "", failure: message, hint: hint ?? null, usage: null, cost: null };
    }
    if (event.type === "done") {
      const { message, usage, cost } = event.response;
      const text = typeof message.content === "string" ? message.content : "";
      return { ...result, ok: true, text, failure: null, hint: null, usage, cost };
    }
  }
  throw new Error("the stream of the test call has no end event");
}

export interface ModelChange {
  readonly provider: string;
  readonly model: string;
  /** What is missing before the model can be used; null when nothing is. */
  readonly warning: string | null;
}

/** `model.api_key` is the key of one address: another provider or address must not get it. */
function refuseToMoveKey(selection: ModelSelection, { model }: ProviderSettings): void {
  if (model.apiKey === "" && model.keyVar === "") return;
  const otherProvider = Boolean(selection.provider) && selection.provider !== model.provider;
  const otherAddress = Boolean(selection.baseUrl) && !sameOrigin(selection.baseUrl ?? "", model.baseUrl);
  if (!otherProvider && !otherAddress) return;
  const name = model.apiKey === "" ? "model.key_env" : "model.api_key";
  throw new UserError(`${name} holds the key of ${model.baseUrl || model.provider || "the old provider"}`, {
    hint: `Nothing was changed. To keep that key, move it with its address to providers.NAME in config.yaml; then run \`hermes config unset ${name}\` and this command again.`,
    exitCode: 2,
  });
}

/** Writes `model.default`, and `model.provider` and `model.base_url` when they are given. Checks the names first. */
export async function setModel(
  context: ModelsContext,
  selection: ModelSelection & { readonly model: string },
): Promise<ModelChange> {
  const { settings } = context;
  const models = await open(context, NO_LEDGER);
  if (selection.provider && selection.provider !== "auto" && !findProvider(selection.provider, models.settings)) {
    const failed = resolveEndpoint(selection, await models.context());
    throw new UserError(failed.ok ? "unknown provider" : failed.failure.message, {
      hint: "See: hermes model list",
      exitCode: 2,
    });
  }
  refuseToMoveKey(selection, models.settings);
  const { raw } = await settings.load();
  const written = raw.model !== null && typeof raw.model === "object";
  const before = models.settings.model;
  const provider = selection.provider ?? before.provider;
  if (!written)
    await settings.set(
      "model",
      JSON.stringify({
        default: selection.model,
        provider: provider || undefined,
        base_url: selection.baseUrl || undefined,
      }),
    );
  else {
    await settings.set("model.default", selection.model);
    if (selection.provider) await settings.set("model.provider", selection.provider);
    // An address belongs to the provider it was set for.
    const moved = selection.provider !== undefined && selection.provider !== before.provider && before.baseUrl !== "";
    if (selection.baseUrl || moved) await settings.set("model.base_url", selection.baseUrl ?? "");
  }
  const after = await open(context, NO_LEDGER);
  const resolved = resolveEndpoint({}, await after.context());
  const warning = resolved.ok ? null : `${resolved.failure.message}. ${resolved.failure.hint ?? ""}`.trim();
  return { provider: resolved.ok ? resolved.endpoint.provider : provider || "auto", model: selection.model, warning };
}
