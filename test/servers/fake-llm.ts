// A scripted model server on loopback: three dialects, streamed or not, strict about what it is sent.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Usage } from "../../src/core/store/usage.ts";
import { buildBody, buildFrames, type Dialect, errorBody, type Reply, type ScriptedCall } from "./fake-llm-replies.ts";
import { parseView, type RecordedRequest } from "./fake-llm-request.ts";
import { type ChatRules, validateChatCompletions, validateResponses } from "./fake-llm-validate.ts";
import { type AnthropicRules, validateAnthropic } from "./fake-llm-validate-anthropic.ts";

/** A model as the listing routes describe it. */
export interface FakeModel {
  readonly id: string;
  readonly contextLength?: number;
  readonly maxOutputTokens?: number;
  /** Dollars per token, as text, in the way OpenRouter lists them. */
  readonly pricing?: Readonly<Record<string, string>>;
}

export interface FakeLlmOptions {
  /** Answers in order, or a function of the request. When a script has run out, the server answers 400 and says so. */
  readonly script?: readonly Reply[] | ((request: RecordedRequest, index: number) => Reply | Promise<Reply>);
  /** Answer 400 to requests the real services would refuse. Default true. */
  readonly strict?: boolean;
  readonly models?: readonly FakeModel[];
  readonly rules?: ChatRules & AnthropicRules;
  /** Which local server's extra routes to offer: `/api/tags` and `/api/show`, `/api/v0/models`, `/props`. Default all. */
  readonly flavour?: "all" | "cloud" | "ollama" | "lmstudio" | "llamacpp";
}

export interface FakeLlm {
  /** `http://127.0.0.1:port`; chat completions and Responses want `${url}/v1`. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** Other routes that were asked for, such as `GET /v1/models`. */
  readonly visits: readonly string[];
  enqueue(...replies: Reply[]): void;
  /** Resolves when this many model requests have arrived. */
  arrived(count: number): Promise<void>;
  /** The sum of all reported usage: what a ledger should show. */
  billed(): Usage;
  close(): Promise<void>;
}

export function text(value: string, extra: Reply = {}): Reply {
  return { text: value, ...extra };
}

export function calls(list: readonly ScriptedCall[], extra: Reply = {}): Reply {
  return { calls: list, ...extra };
}

/** Thinking before the answer. */
export function reasoning(value: string, extra: Reply = { text: "Done." }): Reply {
  return { reasoning: value, ...extra };
}

export function status(code: number, extra: { retryAfter?: number; body?: unknown; message?: string } = {}): Reply {
  return {
    status: code,
    ...(extra.body === undefined ? {} : { body: extra.body }),
    ...(extra.message === undefined ? {} : { text: extra.message }),
    ...(extra.retryAfter === undefined ? {} : { headers: { "retry-after": String(extra.retryAfter) } }),
  };
}

/** Never answers: before the headers, after them, or after some text. */
export function hang(where: NonNullable<Reply["hang"]> = "before_headers", value = ""): Reply {
  return { hang: where, text: value };
}

export function drip(value: string, options: { everyMs: number }): Reply {
  return { text: value, everyMs: options.everyMs };
}

/** The connection breaks after the text, before the end of the stream. */
export function cut(options: { afterText?: string; calls?: readonly ScriptedCall[] } = {}): Reply {
  return { cut: true, text: options.afterText ?? "", ...(options.calls ? { calls: options.calls } : {}) };
}

/** The error of a prompt that does not fit. `limit` is the window that the message names. */
export function overflow(limit = 8192): Reply {
  return { status: 400, text: `This model's maximum context length is ${limit} tokens. Please reduce the length.` };
}

/** A stream with a frame that is not JSON. */
export function malformed(): Reply {
  return { malformed: true, text: "half " };
}

export function slowFirstToken(ms: number, value = "Slow but there."): Reply {
  return { text: value, firstTokenMs: ms };
}

/** An answer that reports exactly this use. */
export function usage(value: Partial<Usage>, extra: Reply = { text: "Counted." }): Reply {
  return { ...extra, usage: value };
}

const ROUTES: Record<string, Dialect> = {
  "/v1/chat/completions": "chat",
  "/v1/messages": "anthropic",
  "/v1/responses": "responses",
};

const DEFAULT_MODELS: readonly FakeModel[] = [{ id: "fake-model", contextLength: 128_000 }];

function bill(reply: Reply, raw: Buffer): Usage {
  const output = (reply.text ?? "").length + (reply.reasoning ?? "").length + JSON.stringify(reply.calls ?? "").length;
  return {
    input: Math.ceil(raw.length / 4),
    output: Math.ceil(output / 4),
    cacheRead: 0,
    cacheWrite: 0,
    reasoning: Math.ceil((reply.reasoning ?? "").length / 4),
    ...reply.usage,
  };
}

function send(response: ServerResponse, code: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(code, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

const ERROR_TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};

function sendError(response: ServerResponse, request: RecordedRequest, reply: Reply): void {
  const code = reply.status ?? 500;
  const message = reply.text ?? `scripted status ${code}`;
  const overflowing = message.includes("maximum context length");
  const type = overflowing && request.dialect !== "anthropic" ? "context_length_exceeded" : ERROR_TYPES[code];
  send(response, code, reply.body ?? errorBody(request.dialect, type ?? "api_error", message), { ...reply.headers });
}

function wait(ms: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    response.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function stream(response: ServerResponse, request: RecordedRequest, reply: Reply): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", ...reply.headers });
  response.flushHeaders();
  if (reply.hang === "after_headers") return;
  if (reply.firstTokenMs) await wait(reply.firstTokenMs, response);
  const used = bill(reply, request.raw);
  const { dialect, index, model } = request;
  for (const frame of buildFrames(reply, { dialect, index, model, bill: used })) {
    if (response.destroyed) return;
    if (frame.kind === "tail") {
      if (reply.hang === "after_text") return;
      // Ending the socket instead of destroying it lets the text that was written reach the client first.
      if (reply.cut) return void response.socket?.end();
      if (reply.malformed) response.write('data: {"choices": [{"delta": {"content": "oops\n\n');
      if (reply.streamError) {
        const event = dialect === "chat" ? "" : "event: error\n";
        response.write(`${event}data: ${JSON.stringify({ type: "error", error: reply.streamError })}\n\n`);
        return void response.end();
      }
    }
    if (reply.everyMs && frame.kind === "delta") await wait(reply.everyMs, response);
    const name = frame.event === null ? "" : `event: ${frame.event}\n`;
    response.write(`${name}data: ${JSON.stringify(frame.data)}\n\n`);
  }
  if (dialect === "chat") response.write("data: [DONE]\n\n");
  request.bill = used;
  response.end();
}

async function answer(response: ServerResponse, request: RecordedRequest, reply: Reply): Promise<void> {
  if (reply.hang === "before_headers") return;
  if (reply.status !== undefined && reply.status >= 400) return sendError(response, request, reply);
  if (request.stream) return stream(response, request, reply);
  if (reply.hang) return;
  if (reply.firstTokenMs) await wait(reply.firstTokenMs, response);
  if (response.destroyed) return;
  if (reply.cut) return void response.socket?.destroy();
  if (reply.malformed) return send(response, 200, '{"choices": [');
  request.bill = bill(reply, request.raw);
  const { dialect, index, model } = request;
  send(response, 200, buildBody(reply, { dialect, index, model, bill: request.bill }), { ...reply.headers });
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function readKey(request: IncomingMessage): string | null {
  const own = request.headers["x-api-key"];
  if (typeof own === "string") return own;
  return request.headers.authorization?.replace(/^Bearer\s+/i, "") ?? null;
}

function parseBody(raw: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(raw.toString("utf8")) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function findProblems(dialect: Dialect, body: unknown, request: IncomingMessage, rules: ChatRules & AnthropicRules) {
  if (dialect === "chat") return validateChatCompletions(body, rules);
  if (dialect === "responses") return validateResponses(body);
  const problems = validateAnthropic(body, rules);
  if (request.headers["anthropic-version"] === undefined) problems.push("anthropic-version: header is required");
  return problems;
}

/** Listing routes of cloud and local servers; undefined when the path is none of them. */
function listing(path: string, raw: Buffer, models: readonly FakeModel[], flavour: string): unknown {
  const is = (name: string) => flavour === "all" || flavour === name;
  if (path === "/v1/models")
    return {
      object: "list",
      data: models.map((model) => ({
        id: model.id,
        object: "model",
        owned_by: "fake",
        ...(model.contextLength ? { context_length: model.contextLength, max_model_len: model.contextLength } : {}),
        ...(model.maxOutputTokens ? { top_provider: { max_completion_tokens: model.maxOutputTokens } } : {}),
        ...(model.pricing ? { pricing: model.pricing } : {}),
      })),
    };
  if (path === "/api/tags" && is("ollama"))
    return { models: models.map((model) => ({ name: model.id, model: model.id })) };
  if (path === "/api/version" && is("ollama")) return { version: "0.12.0" };
  if (path === "/api/show" && is("ollama")) {
    const asked = models.find((model) => model.id === parseBody(raw).model) ?? models[0];
    const length = asked?.contextLength ?? 8192;
    return {
      capabilities: ["completion", "tools"],
      parameters: `num_ctx ${length}`,
      model_info: { "general.architecture": "fake", "fake.context_length": length },
    };
  }
  if (path === "/api/v0/models" && is("lmstudio"))
    return {
      object: "list",
      data: models.map((model) => ({
        id: model.id,
        state: "loaded",
        max_context_length: model.contextLength ?? 8192,
        loaded_context_length: model.contextLength ?? 8192,
      })),
    };
  if (path === "/props" && is("llamacpp"))
    return { default_generation_settings: { n_ctx: models[0]?.contextLength ?? 8192 }, total_slots: 1 };
  return undefined;
}

class Script {
  readonly requests: RecordedRequest[] = [];
  readonly #queue: Reply[];
  readonly #options: FakeLlmOptions;
  #scripted: boolean;
  #waiters: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor(options: FakeLlmOptions) {
    this.#options = options;
    this.#queue = Array.isArray(options.script) ? [...options.script] : [];
    this.#scripted = options.script !== undefined;
  }

  enqueue(replies: readonly Reply[]): void {
    this.#scripted = true;
    this.#queue.push(...replies);
  }

  arrived(count: number): Promise<void> {
    if (this.requests.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ count, resolve }));
  }

  record(dialect: Dialect, incoming: IncomingMessage, raw: Buffer): RecordedRequest {
    const body = parseBody(raw);
    const request: RecordedRequest = {
      index: this.requests.length,
      dialect,
      path: incoming.url ?? "",
      headers: incoming.headers,
      apiKey: readKey(incoming),
      raw,
      body,
      ...parseView(dialect, body),
      problems: findProblems(dialect, body, incoming, this.#options.rules ?? {}),
      bill: null,
      aborted: false,
      at: Date.now(),
      closedAt: null,
    };
    this.requests.push(request);
    for (const waiter of this.#waiters.filter((item) => item.count <= this.requests.length)) waiter.resolve();
    this.#waiters = this.#waiters.filter((item) => item.count > this.requests.length);
    return request;
  }

  async next(request: RecordedRequest): Promise<Reply> {
    if (this.#options.strict !== false && request.problems.length > 0)
      return { status: 400, text: request.problems.join("; ") };
    const queued = this.#queue.shift();
    if (queued) return queued;
    if (typeof this.#options.script === "function") return this.#options.script(request, request.index);
    return this.#scripted ? { status: 400, text: "fake-llm: the script has no more replies" } : { text: "ok" };
  }
}

async function serve(script: Script, options: FakeLlmOptions, visits: string[], exchange: Exchange): Promise<void> {
  const { incoming, response } = exchange;
  const path = (incoming.url ?? "/").split("?")[0] ?? "/";
  const raw = await readAll(incoming);
  const dialect = incoming.method === "POST" ? ROUTES[path] : undefined;
  if (dialect === undefined) {
    visits.push(`${incoming.method} ${path}`);
    const list = listing(path, raw, options.models ?? DEFAULT_MODELS, options.flavour ?? "all");
    return list === undefined
      ? send(response, 404, errorBody("chat", "not_found_error", path))
      : send(response, 200, list);
  }
  const request = script.record(dialect, incoming, raw);
  response.once("close", () => {
    request.aborted = !response.writableEnded;
    request.closedAt = Date.now();
  });
  await answer(response, request, await script.next(request));
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Starts the server on a free port of 127.0.0.1. */
export async function startFakeLlm(options: FakeLlmOptions = {}): Promise<FakeLlm> {
  const script = new Script(options);
  const visits: string[] = [];
  const server = createServer((incoming, response) => {
    serve(script, options, visits, { incoming, response }).catch((error: unknown) => {
      if (!response.headersSent) send(response, 500, errorBody("chat", "fake_llm_bug", String(error)));
      else response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: script.requests,
    visits,
    enqueue: (...replies) => script.enqueue(replies),
    arrived: (count) => script.arrived(count),
    billed: () => {
      const total = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
      for (const request of script.requests)
        for (const key of Object.keys(total) as (keyof Usage)[]) total[key] += request.bill?.[key] ?? 0;
      return total;
    },
    close: () => close(server),
  };
}
