// Asks a model server what it knows about a model: its window, what is loaded, its price. Each dialect in a few lines.
import { underSignals } from "../../lib/async/joined-signal.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Prices } from "../settings.ts";

export interface ServerFacts {
  readonly contextLength?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly prices?: Prices | undefined;
  /** The server is Ollama: it takes the window as a request option. */
  readonly ollama?: boolean | undefined;
}

type Fetch = typeof fetch;
type Row = { readonly [key: string]: unknown };

export interface Question {
  readonly endpoint: Endpoint;
  readonly apiKey: string | null;
  readonly deadlineMs: number;
  readonly fetch?: Fetch | undefined;
  readonly signal?: AbortSignal | undefined;
}

function row(value: unknown): Row {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Row) : {};
}

function rows(value: unknown): Row[] {
  return Array.isArray(value) ? value.map(row) : [];
}

function count(value: unknown): number | undefined {
  const number = Number(value ?? Number.NaN);
  return Number.isFinite(number) && number > 0 ? number : undefined;
}

function ask(question: Question, url: string, body?: unknown): Promise<Row | undefined> {
  const sources = question.signal ? [question.signal] : [];
  return underSignals(sources, question.deadlineMs, (signal) => askWithin(question, url, body, signal));
}

async function askWithin(
  question: Question,
  url: string,
  body: unknown,
  signal: AbortSignal,
): Promise<Row | undefined> {
  const native = question.endpoint.transport === "anthropic_messages";
  const key: Record<string, string> =
    question.apiKey === null
      ? {}
      : native
        ? { "x-api-key": question.apiKey, "anthropic-version": "2023-06-01" }
        : { authorization: `Bearer ${question.apiKey}` };
  try {
    const response = await (question.fetch ?? fetch)(url, {
      method: body === undefined ? "GET" : "POST",
      headers: { ...key, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A key must not travel to wherever a server points.
      redirect: "error",
      signal,
    });
    return response.ok ? row(await response.json()) : undefined;
  } catch {
    // No such route, no server, no JSON: all mean that this server has no answer to the question.
    return undefined;
  }
}

/** The server's root: the base URL without its `/v1`. */
function rootOf(endpoint: Endpoint): string {
  return endpoint.baseUrl.replace(/\/v1$/, "");
}

function sameName(listed: unknown, model: string): boolean {
  return listed === model || listed === `${model}:latest`;
}

async function askOllama(question: Question): Promise<ServerFacts | undefined> {
  const { endpoint } = question;
  const root = rootOf(endpoint);
  const [show, loaded] = await Promise.all([
    ask(question, `${root}/api/show`, { model: endpoint.model }),
    ask(question, `${root}/api/ps`),
  ]);
  if (!show?.model_info) return undefined;
  const running = rows(loaded?.models).find((item) => sameName(item.model ?? item.name, endpoint.model));
  const configured = /^num_ctx\s+(\d+)/m.exec(String(show.parameters ?? ""))?.[1];
  const trained = Object.entries(row(show.model_info)).find(([key]) => key.endsWith(".context_length"))?.[1];
  const contextLength = count(running?.context_length) ?? count(configured) ?? count(trained);
  return { ollama: true, ...(contextLength === undefined ? {} : { contextLength }) };
}

async function askLmStudio(question: Question): Promise<ServerFacts | undefined> {
  const answer = await ask(question, `${rootOf(question.endpoint)}/api/v0/models`);
  const found = rows(answer?.data).find((item) => item.id === question.endpoint.model);
  const contextLength = count(found?.loaded_context_length) ?? count(found?.max_context_length);
  return contextLength === undefined ? undefined : { contextLength };
}

async function askLlamaCpp(question: Question): Promise<ServerFacts | undefined> {
  const answer = await ask(question, `${rootOf(question.endpoint)}/props`);
  const contextLength = count(row(answer?.default_generation_settings).n_ctx) ?? count(answer?.n_ctx);
  return contextLength === undefined ? undefined : { contextLength };
}

/** OpenRouter and others list dollars per token, as text. */
function listedPrices(pricing: Row): Prices | undefined {
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
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  };
}

/** The model's row in the endpoint's own list. */
export async function askModelList(question: Question): Promise<ServerFacts | undefined> {
  const { endpoint } = question;
  const root = endpoint.transport === "anthropic_messages" ? `${endpoint.baseUrl}/v1` : endpoint.baseUrl;
  const answer = await ask(question, `${root}/models`);
  const found = rows(answer?.data).find((item) => item.id === endpoint.model);
  if (!found) return undefined;
  const top = row(found.top_provider);
  const contextLength =
    count(found.context_length) ??
    count(found.max_model_len) ??
    count(found.context_window) ??
    count(found.max_input_tokens);
  const maxOutputTokens = count(top.max_completion_tokens) ?? count(found.max_output_tokens);
  const prices = listedPrices(row(found.pricing));
  return {
    ...(contextLength === undefined ? {} : { contextLength }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(prices === undefined ? {} : { prices }),
  };
}

const ASKERS: { readonly [provider: string]: (question: Question) => Promise<ServerFacts | undefined> } = {
  ollama: askOllama,
  lmstudio: askLmStudio,
  llamacpp: askLlamaCpp,
  vllm: askModelList,
};

/** What a server on this machine or network says; all dialects are asked at once when its kind is not known. */
export async function askLocalServer(question: Question): Promise<ServerFacts | undefined> {
  const known = ASKERS[question.endpoint.spec.id];
  const answers = await Promise.all(
    (known ? [known, askModelList] : Object.values(ASKERS)).map((asker) => asker(question)),
  );
  return answers.find((answer) => answer?.contextLength !== undefined);
}
