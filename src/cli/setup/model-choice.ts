// Chooses a model: a provider that is ready, a new key, or an address; then one of its models; then a test call.
import { openModelsContext } from "../../app/open-models.ts";
import { openSettings } from "../../config/api.ts";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import { rereadEnv } from "../../home/api.ts";
import type { Terminal } from "../../lib/terminal/terminal.ts";
import { openAuth } from "../../providers/api/auth.ts";
import {
  type ListedModel,
  listProviders,
  type ModelTest,
  type ProviderRow,
  setModel,
  testModel,
  usableModels,
} from "../../providers/api/models.ts";
import { askSecret, askText, askYes, choose } from "./questions.ts";

/** Holds the key of an address that the user entered. */
const CUSTOM_KEY = "CUSTOM_API_KEY";
const TEST_MS = 30_000;

export interface ModelAnswers {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly test: boolean;
}

function amount(usd: number): string {
  return usd === 0 ? "0" : usd < 0.1 ? usd.toFixed(3) : usd.toFixed(2);
}

/** `128k · $3.00 in, $15.00 out per million tokens`. */
export function modelFacts(model: Pick<ListedModel, "contextLength" | "price" | "local">): string {
  const window = model.contextLength === undefined ? "" : `${Math.round(model.contextLength / 1000)}k window`;
  const price = model.local
    ? "runs on this machine"
    : model.price
      ? `$${amount(model.price.input)} in, $${amount(model.price.output)} out per million tokens`
      : "";
  return [window, price].filter(Boolean).join(" · ");
}

async function storeKey(home: Home, provider: string, key: string): Promise<void> {
  const auth = await openAuth(openModelsContext(home));
  await auth.add(provider, { value: key });
}

/** Writes the key of an address to `.env` and names its variable, so that config.yaml holds no secret. */
async function storeAddressKey(home: Home, key: string): Promise<void> {
  const settings = openSettings(home);
  await settings.setEnv(CUSTOM_KEY, key);
  await settings.set("model.key_env", CUSTOM_KEY);
  rereadEnv(home);
}

/** Sets the model; a key goes to auth.json, or to `.env` for an address. */
export async function applyModel(
  home: Home,
  answers: ModelAnswers & { readonly model: string },
): Promise<string | null> {
  const { provider, baseUrl, apiKey, model } = answers;
  const custom = baseUrl !== undefined && (provider === undefined || provider === "custom");
  if (apiKey && !custom) {
    if (!provider)
      throw new UserError("--api-key needs --provider or --base-url", { hint: "See: hermes model list", exitCode: 2 });
    await storeKey(home, provider, apiKey);
  }
  const selection = { model, provider: custom ? "custom" : provider, baseUrl };
  const { warning } = await setModel(openModelsContext(home), selection);
  if (apiKey && custom) await storeAddressKey(home, apiKey);
  return apiKey ? null : warning;
}

export function reportTest(terminal: Terminal, result: ModelTest): void {
  const { identity, limits } = result;
  if (!result.ok) {
    terminal.err(terminal.style("red", `✗ ${identity.model}: ${terminal.forErr(result.failure ?? "no answer")}`));
    if (result.hint) terminal.err(`  ${result.hint}`);
    return;
  }
  const usd = result.cost?.usd ?? null;
  const cost = usd === null ? "its price is not known" : `this call cost $${usd.toFixed(6)}`;
  const ms = result.firstTokenMs ?? result.totalMs;
  const window = limits.contextLength.toLocaleString("en-US");
  terminal.err(terminal.style("green", `✓ ${identity.model} (${identity.provider}) answers after ${ms} ms`));
  terminal.err(`  window ${window} tokens; ${cost}`);
}

export function tryModel(home: Home): Promise<ModelTest> {
  return testModel(openModelsContext(home), {}, AbortSignal.timeout(TEST_MS));
}

type Source =
  | { readonly kind: "models"; readonly provider: string; readonly models: readonly ListedModel[] }
  | { readonly kind: "key"; readonly row: ProviderRow }
  | { readonly kind: "address" };

function byProvider(models: readonly ListedModel[]): Map<string, ListedModel[]> {
  const groups = new Map<string, ListedModel[]>();
  for (const model of models) groups.set(model.provider, [...(groups.get(model.provider) ?? []), model]);
  return groups;
}

async function chooseSource(terminal: Terminal, home: Home): Promise<Source | null> {
  terminal.err("Looking for keys and for servers on this machine …");
  const context = openModelsContext(home);
  const [{ models }, rows] = await Promise.all([usableModels(context), listProviders(context)]);
  const found = [...byProvider(models)].map(([provider, list]) => ({
    label: `${list[0]?.label ?? provider}: ready, ${list.length} ${list.length === 1 ? "model" : "models"}`,
    keywords: provider,
    value: { kind: "models", provider, models: list } as Source,
  }));
  const others = rows
    .filter((row) => row.state === "no key")
    .map((row) => ({ label: `${row.label}: enter a key`, keywords: row.id, value: { kind: "key", row } as Source }));
  const address = {
    label: "Another address that speaks the OpenAI protocol",
    keywords: "custom url",
    value: { kind: "address" } as Source,
  };
  return choose(terminal, "Which provider?", [...found, address, ...others]);
}

async function chooseListed(terminal: Terminal, models: readonly ListedModel[], usual: string): Promise<string | null> {
  const sorted = [...models].sort(
    (a, b) => Number(b.model === usual) - Number(a.model === usual) || a.model.localeCompare(b.model),
  );
  const width = Math.min(44, Math.max(...sorted.map(({ model }) => model.length)));
  return choose(
    terminal,
    "Which model?",
    sorted.map((model) => ({
      label: `${model.model.padEnd(width)}  ${modelFacts(model)}`.trimEnd(),
      value: model.model,
    })),
  );
}

async function withNewKey(terminal: Terminal, home: Home, row: ProviderRow): Promise<ModelAnswers | null> {
  const key = await askSecret(terminal, `Key of ${row.label}${row.detail ? ` (${row.detail})` : ""}`);
  if (key === "") return null;
  await storeKey(home, row.id, key);
  const { models } = await usableModels(openModelsContext(home));
  const own = models.filter((model) => model.provider === row.id);
  const model =
    own.length > 1
      ? await chooseListed(terminal, own, row.defaultModel)
      : row.defaultModel || (await askText(terminal, "Model"));
  return model ? { provider: row.id, model, test: true } : null;
}

async function withAddress(terminal: Terminal): Promise<ModelAnswers | null> {
  const baseUrl = await askText(terminal, "Address, for example http://127.0.0.1:8080/v1");
  if (baseUrl === "") return null;
  const apiKey = await askSecret(terminal, "Key, if the server needs one");
  const model = await askText(terminal, "Model");
  return model === "" ? null : { baseUrl, model, apiKey: apiKey || undefined, test: true };
}

async function askModel(terminal: Terminal, home: Home): Promise<ModelAnswers | null> {
  const source = await chooseSource(terminal, home);
  if (source === null) return null;
  if (source.kind === "key") return withNewKey(terminal, home, source.row);
  if (source.kind === "address") return withAddress(terminal);
  const model = await chooseListed(terminal, source.models, source.models[0]?.model ?? "");
  return model === null ? null : { provider: source.provider, model, test: true };
}

/** Asks until a model answers or the user stops. True when one was set. */
export async function chooseModel(terminal: Terminal, home: Home): Promise<boolean> {
  for (;;) {
    const answers = await askModel(terminal, home);
    if (!answers?.model) return false;
    await applyModel(home, { ...answers, model: answers.model });
    const result = await tryModel(home);
    reportTest(terminal, result);
    if (result.ok || !(await askYes(terminal, "Choose another one?"))) return true;
  }
}
