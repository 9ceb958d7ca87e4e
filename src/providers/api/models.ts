// What `hermes model` does: which models there are, which one is set, whether it answers.

import { withLedger } from "../../app/ledger.ts";
import { openSettings } from "../../config/api.ts";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import type { ModelIdentity, ModelLimits } from "../../core/provider.ts";
import type { Cost, Usage, UsageLedger } from "../../core/usage.ts";
import { withPluginModels } from "../../app/open-plugins.ts";
import { CATALOG } from "../catalog.ts";
import type { Models } from "../connect.ts";
import { identityOf } from "../endpoint.ts";
import { variableKeys } from "../keys/endpoint-keys.ts";
import { sameOrigin } from "../keys/key-hosts.ts";
import { endpointReady } from "../keys/plugin-keys.ts";
import { openModels } from "../open-models.ts";
import { findProvider, type ModelAsk, resolveEndpoint } from "../resolve.ts";
import type { ProviderSettings } from "../settings.ts";

export interface ProviderRow {
  readonly id: string;
  readonly label: string;
  /** `ready`, `no key`, `local`, `not available yet`. */
  readonly state: string;
  /** Where the key comes from, which variable to set, what to use instead. */
  readonly detail: string;
  readonly defaultModel: string;
}

export interface ModelView {
  readonly identity: ModelIdentity;
  readonly label: string;
  readonly limits: ModelLimits;
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

async function open(home: Home, ledger: UsageLedger, notice?: (text: string) => void): Promise<Models> {
  const { config } = await openSettings(home).load();
  return openModels(home, await withPluginModels(home, config, notice), ledger);
}

/** Commands that only look make no calls, so nothing is ever recorded here. */
const NO_LEDGER: UsageLedger = {
  record: () => Promise.resolve(),
  spent: () => Promise.resolve(0),
  report: () => Promise.resolve([]),
};

/** `notice` hears why a plugin's provider is left out. */
export async function listProviders(home: Home, notice?: (text: string) => void): Promise<readonly ProviderRow[]> {
  const models = await open(home, NO_LEDGER, notice);
  const context = await models.context();
  const rows: ProviderRow[] = models.settings.endpoints
    .filter((endpoint) => endpoint.baseUrl !== "")
    .map((endpoint) => {
      const ready = endpointReady(endpoint, context);
      return {
        id: endpoint.plugin ? endpoint.slug : `custom:${endpoint.slug}`,
        label: endpoint.plugin ? `${endpoint.name} (plugin ${endpoint.plugin})` : endpoint.name,
        state: ready ? "ready" : "no key",
        detail: ready ? endpoint.baseUrl : endpoint.keyVar,
        defaultModel: endpoint.model,
      };
    });
  for (const spec of CATALOG) {
    const [variable] = variableKeys(spec, context);
    const stored = context.pooled?.has(spec.id) ?? false;
    const ready = variable !== undefined || stored;
    const free = spec.local || spec.transport === "offline";
    const state = ready
      ? "ready"
      : free
        ? "local"
        : spec.instead
          ? "not available yet"
          : spec.id === "custom"
            ? "by address"
            : "no key";
    const source = stored
      ? "auth.json"
      : variable
        ? variable.variable
        : (spec.instead ?? spec.keyVars?.[0] ?? spec.baseUrl);
    rows.push({
      id: spec.id,
      label: spec.label,
      state,
      detail: source || (spec.note ?? ""),
      defaultModel: spec.defaultModel ?? "",
    });
  }
  return rows;
}

async function viewOf(models: Models, ask: ModelAsk) {
  const { provider, endpoint, notes } = await models.connect(ask);
  const { endpoints } = await models.fallbacks();
  const view: ModelView = {
    identity: provider.identity,
    label: endpoint.label,
    limits: await provider.limits(),
    caching: provider.caching.label,
    fallbacks: endpoints.map(identityOf),
    notes,
  };
  return { provider, view };
}

export async function showModel(home: Home, ask: ModelAsk = {}): Promise<ModelView> {
  return (await viewOf(await open(home, NO_LEDGER), ask)).view;
}

/** One tiny real call to the model itself: fallbacks would hide what is being tested. */
export async function testModel(home: Home, ask: ModelAsk, signal: AbortSignal): Promise<ModelTest> {
  return withLedger(home, async (ledger) => {
    const models = await open(home, ledger);
    const { view } = await viewOf(models, ask);
    const resolved = await models.resolve(ask);
    if (!("endpoint" in resolved))
      throw new UserError(resolved.failure.message, resolved.failure.hint ? { hint: resolved.failure.hint } : {});
    const client = models.client(resolved.endpoint, [], { ...models.settings, maxRetries: 1 });
    const started = Date.now();
    let firstTokenMs: number | null = null;
    const base = { ...view, identity: identityOf(resolved.endpoint) };
    const request = {
      system: "You are being tested. Answer with the single word OK.",
      messages: [{ role: "user" as const, content: "Reply with OK." }],
      tools: [],
      maxOutputTokens: 256,
      conversationId: "model-test",
      purpose: "model_test",
    };
    for await (const event of client.stream(request, signal)) {
      if (firstTokenMs === null && (event.type === "text" || event.type === "reasoning"))
        firstTokenMs = Date.now() - started;
      const end = { ...base, firstTokenMs, totalMs: Date.now() - started };
      if (event.type === "failed")
        return {
          ...end,
          ok: false,
          text: "",
          failure: event.failure.message,
          hint: event.failure.hint ?? null,
          usage: null,
          cost: null,
        };
      if (event.type === "done") {
        const { message, usage, cost } = event.response;
        return {
          ...end,
          ok: true,
          text: typeof message.content === "string" ? message.content : "",
          failure: null,
          hint: null,
          usage,
          cost,
        };
      }
    }
    throw new Error("the stream ended without an end");
  });
}

export interface ModelChange {
  readonly provider: string;
  readonly model: string;
  /** What is still missing before it can answer; null when nothing is. */
  readonly warning: string | null;
}

/** `model.api_key` belongs to the address it was written for. Another provider or address must not inherit it. */
function refuseToMoveKey(ask: ModelAsk, { model }: ProviderSettings): void {
  if (model.apiKey === "" && model.keyVar === "") return;
  const otherProvider = Boolean(ask.provider) && ask.provider !== model.provider;
  const otherAddress = Boolean(ask.baseUrl) && !sameOrigin(ask.baseUrl ?? "", model.baseUrl);
  if (!otherProvider && !otherAddress) return;
  const name = model.apiKey === "" ? "model.key_env" : "model.api_key";
  throw new UserError(`${name} holds the key of ${model.baseUrl || model.provider || "the old provider"}`, {
    hint: `Nothing was changed. To keep that key, move it with its address to providers.NAME in config.yaml; then run \`hermes config unset ${name}\` and this command again.`,
    exitCode: 2,
  });
}

/** Writes `model.default`, and `model.provider` and `model.base_url` when they are given. Checks the names first. */
export async function setModel(home: Home, ask: ModelAsk & { readonly model: string }): Promise<ModelChange> {
  const settings = openSettings(home);
  const models = await open(home, NO_LEDGER);
  if (ask.provider && ask.provider !== "auto" && !findProvider(ask.provider, models.settings)) {
    const failed = resolveEndpoint(ask, await models.context());
    throw new UserError(failed.ok ? "unknown provider" : failed.failure.message, {
      hint: "See: hermes model list",
      exitCode: 2,
    });
  }
  refuseToMoveKey(ask, models.settings);
  const { raw } = await settings.load();
  const written = raw.model !== null && typeof raw.model === "object";
  const before = models.settings.model;
  const provider = ask.provider ?? before.provider;
  if (!written)
    await settings.set(
      "model",
      JSON.stringify({
        default: ask.model,
        ...(provider ? { provider } : {}),
        ...(ask.baseUrl ? { base_url: ask.baseUrl } : {}),
      }),
    );
  else {
    await settings.set("model.default", ask.model);
    if (ask.provider) await settings.set("model.provider", ask.provider);
    // An address belongs to the provider it was set for.
    const moved = ask.provider !== undefined && ask.provider !== before.provider && before.baseUrl !== "";
    if (ask.baseUrl || moved) await settings.set("model.base_url", ask.baseUrl ?? "");
  }
  const after = await open(home, NO_LEDGER);
  const resolved = resolveEndpoint({}, await after.context());
  const warning = resolved.ok ? null : `${resolved.failure.message}. ${resolved.failure.hint ?? ""}`.trim();
  return { provider: resolved.ok ? resolved.endpoint.provider : provider || "auto", model: ask.model, warning };
}
