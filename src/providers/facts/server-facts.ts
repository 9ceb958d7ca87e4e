// Asks a model server about a model: its context window and its prices.
import { underSignals } from "../../lib/async/joined-signal.ts";
import { httpFetch } from "../../lib/http-fetch.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Prices } from "../settings.ts";

export interface ServerFacts {
  readonly contextLength?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly prices?: Prices | undefined;
  /** The server is Ollama: it takes the window as a request option. */
  readonly ollama?: boolean | undefined;
}

/** A large model takes this long from a slow disk. */
const LOAD_DEADLINE_MS = 180_000;

type Fetch = typeof fetch;
type Fields = { readonly [key: string]: unknown };

export interface FactsQuery {
  readonly endpoint: Endpoint;
  readonly apiKey: string | null;
  readonly deadlineMs: number;
  readonly fetch?: Fetch | undefined;
  readonly signal?: AbortSignal | undefined;
}

function fields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function fieldsOfAll(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fields) : [];
}

function count(value: unknown): number | undefined {
  const number = Number(value ?? Number.NaN);
  return Number.isFinite(number) && number > 0 ? number : undefined;
}

function ask(query: FactsQuery, url: string, body?: unknown): Promise<Fields | undefined> {
  const sources = query.signal ? [query.signal] : [];
  return underSignals(sources, query.deadlineMs, (signal) => fetchJson(query, url, body, signal));
}

async function fetchJson(
  query: FactsQuery,
  url: string,
  body: unknown,
  signal: AbortSignal,
): Promise<Fields | undefined> {
  const native = query.endpoint.transport === "anthropic_messages";
  const key: Record<string, string> =
    query.apiKey === null
      ? {}
      : native
        ? { "x-api-key": query.apiKey, "anthropic-version": "2023-06-01" }
        : { authorization: `Bearer ${query.apiKey}` };
  try {
    const init = {
      method: body === undefined ? "GET" : "POST",
      headers: body === undefined ? key : { ...key, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
      signal,
    };
    // A redirect must not take the key to another host: it is not followed.
    const response = query.fetch
      ? await query.fetch(url, { ...init, redirect: "manual" })
      : await httpFetch(url, { ...init, body: init.body ?? undefined });
    return response.ok ? fields(parseJson(await response.text())) : undefined;
  } catch {
    // No such route, no server or no JSON: the server does not know.
    return undefined;
  }
}

/** The root of the server: the base URL without `/v1`. */
function serverRoot(endpoint: Endpoint): string {
  return endpoint.baseUrl.replace(/\/v1$/, "");
}

function sameName(listed: unknown, model: string): boolean {
  return listed === model || listed === `${model}:latest`;
}

async function runningOllama(query: FactsQuery): Promise<Fields | undefined> {
  const loaded = await ask(query, `${serverRoot(query.endpoint)}/api/ps`);
  return fieldsOfAll(loaded?.models).find((item) => sameName(item.model ?? item.name, query.endpoint.model));
}

/**
 * The window of Ollama is the one that the model is loaded with, which depends on the memory of the machine and is often
 * far below that of the model. A model that is not in memory is loaded now: the first call would do it anyway.
 */
async function loadOllama(query: FactsQuery): Promise<Fields | undefined> {
  const { endpoint } = query;
  const loading = { ...query, deadlineMs: LOAD_DEADLINE_MS };
  await ask(loading, `${serverRoot(endpoint)}/api/generate`, { model: endpoint.model, stream: false });
  return runningOllama(query);
}

async function askOllama(query: FactsQuery): Promise<ServerFacts | undefined> {
  const { endpoint } = query;
  const [show, running] = await Promise.all([
    ask(query, `${serverRoot(endpoint)}/api/show`, { model: endpoint.model }),
    runningOllama(query),
  ]);
  if (!show?.model_info) return undefined;
  const configured = /^num_ctx\s+(\d+)/m.exec(String(show.parameters ?? ""))?.[1];
  const loaded = running ?? (configured === undefined ? await loadOllama(query) : undefined);
  const trained = Object.entries(fields(show.model_info)).find(([key]) => key.endsWith(".context_length"))?.[1];
  return { ollama: true, contextLength: count(loaded?.context_length) ?? count(configured) ?? count(trained) };
}

/** The answer of `/api/v1/models`, which LM Studio has since 0.4. */
async function askLmStudioInstances(query: FactsQuery): Promise<number | undefined> {
  const answer = await ask(query, `${serverRoot(query.endpoint)}/api/v1/models`);
  for (const item of fieldsOfAll(answer?.models)) {
    const loaded = fieldsOfAll(item.loaded_instances);
    const instance =
      loaded.find(({ id }) => id === query.endpoint.model) ??
      (item.key === query.endpoint.model ? loaded[0] : undefined);
    if (instance) return count(fields(instance.config).context_length);
    if (item.key === query.endpoint.model) return count(item.max_context_length);
  }
  return undefined;
}

async function askLmStudio(query: FactsQuery): Promise<ServerFacts | undefined> {
  const [current, answer] = await Promise.all([
    askLmStudioInstances(query),
    ask(query, `${serverRoot(query.endpoint)}/api/v0/models`),
  ]);
  const found = fieldsOfAll(answer?.data).find((item) => item.id === query.endpoint.model);
  const contextLength = count(found?.loaded_context_length) ?? current ?? count(found?.max_context_length);
  return contextLength === undefined ? undefined : { contextLength };
}

async function askLlamaCpp(query: FactsQuery): Promise<ServerFacts | undefined> {
  const answer = await ask(query, `${serverRoot(query.endpoint)}/props`);
  const contextLength = count(fields(answer?.default_generation_settings).n_ctx) ?? count(answer?.n_ctx);
  return contextLength === undefined ? undefined : { contextLength };
}

/** OpenRouter and others list dollars per token, as text. */
function listedPrices(pricing: Fields): Prices | undefined {
  const perMillion = (key: string) => {
    const value = Number(pricing[key] ?? Number.NaN);
    return Number.isFinite(value) && value >= 0 ? value * 1_000_000 : undefined;
  };
  const input = perMillion("prompt") ?? perMillion("input");
  const output = perMillion("completion") ?? perMillion("output");
  if (input === undefined || output === undefined) return undefined;
  const cacheRead = perMillion("input_cache_read");
  const cacheWrite = perMillion("input_cache_write");
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
  };
}

/** The rows of the endpoint's model list; undefined when it has none. */
async function askForModels(query: FactsQuery): Promise<Fields[] | undefined> {
  const { endpoint } = query;
  const root = endpoint.transport === "anthropic_messages" ? `${endpoint.baseUrl}/v1` : endpoint.baseUrl;
  const answer = await ask(query, `${root}/models`);
  return Array.isArray(answer?.data) ? fieldsOfAll(answer.data) : undefined;
}

/** Every model that the endpoint lists, with its facts; undefined when it has no list. */
export async function askForModelNames(
  query: FactsQuery,
): Promise<{ readonly id: string; readonly facts: ServerFacts }[] | undefined> {
  const rows = await askForModels(query);
  return rows?.flatMap((row) => (typeof row.id === "string" ? [{ id: row.id, facts: readFacts(row) }] : []));
}

/** The facts in the model list of the endpoint. */
export async function askModelList(query: FactsQuery): Promise<ServerFacts | undefined> {
  const found = (await askForModels(query))?.find((item) => item.id === query.endpoint.model);
  return found && readFacts(found);
}

function readFacts(found: Fields): ServerFacts {
  const top = fields(found.top_provider);
  const contextLength =
    count(found.context_length) ??
    count(found.max_model_len) ??
    count(found.context_window) ??
    count(found.max_input_tokens);
  const maxOutputTokens = count(top.max_completion_tokens) ?? count(found.max_output_tokens);
  const prices = listedPrices(fields(found.pricing));
  return { contextLength, maxOutputTokens, prices };
}

const QUERIES_BY_PROVIDER: { readonly [provider: string]: (query: FactsQuery) => Promise<ServerFacts | undefined> } = {
  ollama: askOllama,
  lmstudio: askLmStudio,
  llamacpp: askLlamaCpp,
  vllm: askModelList,
};

/** The facts from a server on this machine or network. If its kind is not known, all kinds are tried at once. */
export async function askLocalServer(query: FactsQuery): Promise<ServerFacts | undefined> {
  const known = QUERIES_BY_PROVIDER[query.endpoint.spec.id];
  const answers = await Promise.all(
    (known ? [known, askModelList] : Object.values(QUERIES_BY_PROVIDER)).map((ask) => ask(query)),
  );
  return answers.find((answer) => answer?.contextLength !== undefined);
}
