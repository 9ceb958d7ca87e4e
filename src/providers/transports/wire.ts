// One HTTP exchange under an SDK: its headers, its limits, its end. Keys go to one host; nothing comes from the environment.
import type { AssistantMessage, JsonObject } from "../../core/message.ts";
import type { Usage } from "../../core/usage.ts";
import { SignalRace } from "../../lib/async/signal-race.ts";
import { HttpAnswer, httpFetch } from "../../lib/http-fetch.ts";
import type { LightHeaders } from "../../lib/light-headers.ts";
import type { TransportCall, TransportErrorData, TransportErrorKind, TransportEvent } from "./transport.ts";
import { TransportError } from "./transport.ts";

const MAX_ERROR_BODY = 64 * 1024;
const FINISH_MS = 5_000;
const MAX_TIMER = 2_147_483_647;
/** Header of the SDKs that the services need. The rest (telemetry, headers from variables) stays here. */
const KEPT_HEADERS = ["accept", "content-type", "anthropic-version"];

/** Why an exchange is over, as its socket hears it; made once, because every exchange ends this way. */
const ENDED = new Error("the exchange is over");

/** What had arrived when an exchange ended badly. */
export interface Arrived {
  readonly partial?: AssistantMessage | undefined;
  readonly inToolCall?: boolean | undefined;
  /** What the server had reported as used by then. */
  readonly usage?: Usage | undefined;
}

const REASONS: Record<string, string> = {
  first_token_timeout: "the model did not begin to answer in time",
  idle_timeout: "the model stopped in the middle of its answer",
  total_timeout: "the answer took longer than the limit",
  aborted: "interrupted",
};

function authHeaders(call: TransportCall, fallback: "bearer" | "x-api-key"): [string, string][] {
  const key = call.endpoint.apiKey;
  if (key === null || key === "") return [];
  const style = call.endpoint.authStyle ?? fallback;
  return style === "bearer" ? [["authorization", `Bearer ${key}`]] : [[style, key]];
}

type HeaderMap = { [name: string]: string };

function headersFor(call: TransportCall, given: Iterable<string[]>, fallback: "bearer" | "x-api-key"): HeaderMap {
  const headers: HeaderMap = {};
  const set = (name: string, value: string) => {
    headers[name.toLowerCase()] = value;
  };
  for (const [name = "", value = ""] of given) if (KEPT_HEADERS.includes(name.toLowerCase())) set(name, value);
  set("user-agent", "hermes-ts");
  for (const [name, value] of authHeaders(call, fallback)) set(name, value);
  const rule = call.quirks.conversationHeader;
  const model = call.model.toLowerCase();
  if (rule?.models.some((piece) => model.includes(piece))) set(rule.name, call.request.conversationId);
  for (const [name, value] of Object.entries(call.endpoint.headers)) set(name, value);
  return headers;
}

function without(text: string, key: string | null): string {
  return key !== null && key.length >= 4 ? text.replaceAll(key, "[key]") : text;
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** The sentence and code inside an error body, whatever its shape. */
function readError(body: string): { message?: string | undefined; code?: string } {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return {};
  }
  const root = (value ?? {}) as Record<string, unknown>;
  const inner = (typeof root.error === "object" && root.error !== null ? root.error : root) as typeof root;
  const text = [inner.message, root.error, root.detail].find((item) => typeof item === "string" && item !== "");
  const code = [inner.code, inner.type].find((item) => typeof item === "string" && item !== "" && item !== "error");
  return {
    ...(typeof text === "string" ? { message: text } : {}),
    ...(typeof code === "string" ? { code } : {}),
  };
}

function socketCode(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < 6 && current instanceof Error; depth++) {
    const { code, cause } = current as Error & { code?: unknown };
    if (typeof code === "string") return code;
    current = cause;
  }
  return undefined;
}

/** The text of an error body, as far as it came: a body that breaks off still belongs to an answer with a status. */
async function beginningOf(response: Response | HttpAnswer): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length >= MAX_ERROR_BODY) break;
    }
  } catch {
    // The status and what was read tell enough.
  }
  return text.slice(0, MAX_ERROR_BODY);
}

/** One exchange: hand `fetch` to the SDK, call `progress` for each piece, `close` at the end. */
export class Wire {
  readonly #call: TransportCall;
  readonly #controller = new AbortController();
  readonly #auth: "bearer" | "x-api-key";
  readonly #onAbort = () => this.#stop("aborted");
  #stopped: TransportErrorKind | null = null;
  #finishing = false;
  #first: ReturnType<typeof setTimeout>;
  #idle: ReturnType<typeof setTimeout> | null = null;
  readonly #total: ReturnType<typeof setTimeout>;
  #response: Response | HttpAnswer | null = null;
  #errorBody: string | undefined;

  constructor(call: TransportCall, auth: "bearer" | "x-api-key", streams: boolean) {
    this.#call = call;
    this.#auth = auth;
    // An answer that does not stream arrives at once, at its end: only the total limit tells slow from dead.
    const { firstTokenMs, totalMs } = call.timeouts;
    this.#first = this.#timer("first_token_timeout", streams ? firstTokenMs : totalMs);
    this.#total = this.#timer("total_timeout", call.timeouts.totalMs);
    if (call.signal.aborted) this.#stop("aborted");
    else call.signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  #timer(kind: TransportErrorKind, ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#stop(kind), Math.min(Math.max(0, ms), MAX_TIMER));
  }

  #stop(kind: TransportErrorKind): void {
    this.#stopped ??= kind;
    this.#controller.abort(ENDED);
  }

  /** A piece of the answer has arrived. */
  progress(): void {
    if (this.#idle) return void this.#idle.refresh();
    clearTimeout(this.#first);
    this.#idle = this.#timer("idle_timeout", this.#call.timeouts.idleMs);
  }

  /** The answer is whole; what may follow (the use, the end of the body) is not waited for long. */
  finishing(): void {
    if (this.#finishing) return;
    this.#finishing = true;
    if (this.#idle) clearTimeout(this.#idle);
    this.#idle = this.#timer("idle_timeout", Math.min(FINISH_MS, this.#call.timeouts.idleMs));
  }

  /** The caller's own signal ended the exchange. */
  get interrupted(): boolean {
    return this.#stopped === "aborted";
  }

  /** Ends timers and, when the answer is not complete, the socket. */
  close(): void {
    clearTimeout(this.#first);
    clearTimeout(this.#total);
    if (this.#idle) clearTimeout(this.#idle);
    this.#call.signal.removeEventListener("abort", this.#onAbort);
    this.#controller.abort(ENDED);
  }

  /** The `fetch` that the SDK gets. */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    // The SDKs hand over a list of headers and a body of text.
    const headers = headersFor(this.#call, (init?.headers ?? []) as Iterable<string[]>, this.#auth);
    const {
      method = "GET",
      body,
      signal = null,
    } = (init ?? {}) as { method?: string | undefined; body?: string; signal?: AbortSignal | undefined };
    const request = { method, headers, signal, ...(body === undefined ? {} : { body }) };
    // A redirect could carry the key to another host: it is answered as the error it is.
    const given = this.#call.fetch;
    const response = given
      ? await given(input, { ...request, redirect: "manual" })
      : await httpFetch(input as string | URL, request);
    this.#response = response;
    // The SDKs use no more of a response than ours has.
    if (response.ok) return response as Response;
    const text = without(await beginningOf(response), this.#call.endpoint.apiKey);
    this.#errorBody = text;
    return new HttpAnswer(response.status, response.headers as LightHeaders, bytesOf(text)) as unknown as Response;
  };

  /** The headers that tell how much of a rate limit is left. */
  rateLimits(): { [header: string]: string } {
    const found: { [header: string]: string } = {};
    for (const [name, value] of this.#response?.headers ?? [])
      if (/^(x-ratelimit-|anthropic-ratelimit-)/.test(name)) found[name] = value;
    return found;
  }

  /** True when the body is one JSON value although a stream was asked for. */
  get isJson(): boolean {
    return this.#response?.headers.get("content-type")?.includes("application/json") ?? false;
  }

  /** Any error of the exchange as the one error that transports throw. */
  failure(error: unknown, arrived: Arrived = {}): TransportError {
    if (this.#stopped) {
      const message = REASONS[this.#stopped] ?? this.#stopped;
      return new TransportError(message, { kind: this.#stopped, ...arrived });
    }
    if (error instanceof TransportError) {
      return new TransportError(error.message, { ...describe(error), ...arrived });
    }
    if (this.#errorBody !== undefined && this.#response) return this.#httpFailure(this.#response, this.#errorBody);
    return this.#streamFailure(error, arrived);
  }

  #httpFailure(response: Response | HttpAnswer, body: string): TransportError {
    const { message, code } = readError(body);
    return new TransportError(message ?? `HTTP ${response.status}`, {
      kind: "http",
      status: response.status,
      body,
      headers: Object.fromEntries(response.headers),
      ...(code === undefined ? {} : { code }),
    });
  }

  #streamFailure(error: unknown, arrived: Arrived): TransportError {
    const inner = (error as { error?: unknown } | null)?.error;
    if (inner !== undefined && inner !== null) {
      const body = without(typeof inner === "string" ? inner : JSON.stringify(inner), this.#call.endpoint.apiKey);
      const { message, code } = readError(body);
      return new TransportError(message ?? "the provider reported an error in its answer", {
        kind: "stream_error",
        body,
        ...(code === undefined ? {} : { code }),
        ...arrived,
        cause: error,
      });
    }
    if (error instanceof SyntaxError)
      return new TransportError("the provider sent an answer that cannot be read", {
        kind: "malformed",
        ...arrived,
        cause: error,
      });
    const kind = this.#response ? "cut" : "network";
    const code = socketCode(error);
    const what = kind === "cut" ? "the connection broke in the middle of the answer" : "no connection to the provider";
    return new TransportError(code ? `${what} (${code})` : what, {
      kind,
      ...(code === undefined ? {} : { code }),
      ...arrived,
      cause: error,
    });
  }
}

function describe(error: TransportError): TransportErrorData {
  return {
    kind: error.kind,
    headers: error.headers,
    inToolCall: error.inToolCall,
    ...(error.status === undefined ? {} : { status: error.status }),
    ...(error.body === undefined ? {} : { body: error.body }),
    ...(error.code === undefined ? {} : { code: error.code }),
    ...(error.partial === undefined ? {} : { partial: error.partial }),
    ...(error.usage === undefined ? {} : { usage: error.usage }),
    ...(error.cause === undefined ? {} : { cause: error.cause }),
  };
}

/** What a dialect's reader offers to the loop that feeds it. */
interface Reader {
  readonly answer: { end(): TransportEvent[] };
  /** The answer has come to its own end, whatever the connection does afterwards. */
  readonly complete: boolean;
  read(event: JsonObject): Iterable<TransportEvent>;
}

/**
 * Feeds a reader until its source ends. Once the answer is whole, nothing that follows takes it away: junk, a broken
 * connection, a server that does not close.
 */
export async function* readWith(
  reader: Reader,
  source: AsyncIterable<JsonObject>,
  wire: Wire,
): AsyncGenerator<TransportEvent> {
  try {
    for await (const event of watched(source, wire)) {
      wire.progress();
      yield* reader.read(event);
      if (reader.complete) wire.finishing();
    }
  } catch (error) {
    if (!reader.complete || wire.interrupted) throw error;
  }
  yield* reader.answer.end();
}

/** The same items; ends within a tick when the wire is stopped, whatever the source is waiting for. */
async function* watched<T>(source: AsyncIterable<T>, wire: Wire): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  const race = new SignalRace(wire.signal, "stopped" as const);
  let finished = false;
  try {
    while (true) {
      const next = await race.run(iterator.next());
      if (next === "stopped") throw new TransportError("interrupted", { kind: "aborted" });
      if (next.done) {
        finished = true;
        return;
      }
      yield next.value;
    }
  } finally {
    race.close();
    // Not awaited: a source that hangs must not keep its reader.
    if (!finished) iterator.return?.().catch(() => undefined);
  }
}
