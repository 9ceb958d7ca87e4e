// The actions of `hermes fallback`: list, add, remove and clear the models that are used when the main one fails.
import { UserError } from "../../core/failure.ts";
import type { UsageLedger } from "../../core/store/usage.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { openModels } from "../open-models.ts";
import { findProvider, resolveEndpoint } from "../resolve.ts";
import type { ModelsContext } from "./models-context.ts";

export interface FallbackRow {
  /** Its place in the order, from 1. */
  readonly place: number;
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  /** What is missing before it can be used; null when nothing is. */
  readonly problem: string | null;
}

export interface FallbackChoice {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl?: string | undefined;
  readonly keyVar?: string | undefined;
  /** Its place in the order, from 1; the last one when absent. */
  readonly place?: number | undefined;
}

const NO_LEDGER: UsageLedger = {
  record: () => Promise.resolve(),
  spent: () => Promise.resolve(0),
  report: () => Promise.resolve([]),
};

type Entry = { readonly [key: string]: unknown };

async function open(context: ModelsContext) {
  return openModels(context.home, await context.loadConfig(), NO_LEDGER);
}

/** The entries as written, so that fields this program does not know survive a change. */
async function writtenEntries({ settings }: ModelsContext): Promise<Entry[]> {
  const { raw } = await settings.load();
  const list = Array.isArray(raw.fallback_providers) ? raw.fallback_providers.filter(isRecord) : [];
  if (list.length > 0) return list;
  const older = Array.isArray(raw.fallback_model) ? raw.fallback_model : [raw.fallback_model];
  return older.filter(isRecord);
}

async function write({ settings }: ModelsContext, entries: readonly Entry[]): Promise<void> {
  const { raw } = await settings.load();
  if (entries.length > 0) await settings.set("fallback_providers", JSON.stringify(entries));
  else if (raw.fallback_providers !== undefined) await settings.unset("fallback_providers");
  if (raw.fallback_model !== undefined) await settings.unset("fallback_model");
}

export async function listFallbacks(context: ModelsContext): Promise<readonly FallbackRow[]> {
  const models = await open(context);
  const keys = await models.context();
  return models.settings.fallbacks.map((choice, index) => {
    const found = resolveEndpoint(choice, keys);
    return {
      place: index + 1,
      provider: choice.provider,
      model: choice.model,
      baseUrl: found.ok ? found.endpoint.baseUrl : choice.baseUrl,
      problem: found.ok ? null : found.failure.message,
    };
  });
}

function sameEntry(entry: Entry, choice: FallbackChoice): boolean {
  return entry.provider === choice.provider && entry.model === choice.model;
}

/** Adds a model to the order. The names are checked first; a missing key is reported as the row's problem. */
export async function addFallback(context: ModelsContext, choice: FallbackChoice): Promise<FallbackRow> {
  const models = await open(context);
  if (!findProvider(choice.provider, models.settings)) {
    const failed = resolveEndpoint({ provider: choice.provider, model: choice.model }, await models.context());
    throw new UserError(failed.ok ? "unknown provider" : failed.failure.message, {
      hint: "See: hermes model list",
      exitCode: 2,
    });
  }
  const entries = await writtenEntries(context);
  if (entries.some((entry) => sameEntry(entry, choice)))
    throw new UserError(`${choice.provider}/${choice.model} is already a fallback`, {
      hint: "See: hermes fallback list",
      exitCode: 2,
    });
  const entry = {
    provider: choice.provider,
    model: choice.model,
    ...(choice.baseUrl ? { base_url: choice.baseUrl } : {}),
    ...(choice.keyVar ? { key_env: choice.keyVar } : {}),
  };
  const at = Math.min(Math.max(0, (choice.place ?? entries.length + 1) - 1), entries.length);
  await write(context, entries.toSpliced(at, 0, entry));
  const added = (await listFallbacks(context)).find((row) => sameEntry(entry, row));
  if (!added) throw new Error("the new fallback is not in the configuration");
  return added;
}

/** `which`: a place from 1, a model, or PROVIDER/MODEL. */
export async function removeFallback(context: ModelsContext, which: string): Promise<Entry> {
  const entries = await writtenEntries(context);
  const matches = entries.filter(
    (entry, index) =>
      which === String(index + 1) ||
      which === entry.model ||
      which === `${String(entry.provider)}/${String(entry.model)}`,
  );
  const [found, second] = matches;
  if (!found || second)
    throw new UserError(found ? `"${which}" names several fallbacks` : `there is no fallback "${which}"`, {
      hint: found ? "Name it by its place: hermes fallback list" : "See: hermes fallback list",
      exitCode: 2,
    });
  await write(
    context,
    entries.filter((entry) => entry !== found),
  );
  return found;
}

/** Removes all fallbacks and returns how many there were. */
export async function clearFallbacks(context: ModelsContext): Promise<number> {
  const entries = await writtenEntries(context);
  if (entries.length > 0) await write(context, []);
  return entries.length;
}
