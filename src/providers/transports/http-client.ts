// The HTTP client of all dialects: posts the encoded request, checks the status, frames the body, folds the events.
import { type HttpResponse, httpFetch } from "../../lib/http-fetch.ts";
import type { DecodeState, Dialect, EncodedRequest, WireEvent } from "./dialect.ts";
import { connectionError, decodeError, statusError, stopError } from "./exchange-errors.ts";
import { ExchangeLimits } from "./exchange-limits.ts";
import { SseTooLongError, sseEvents } from "./sse.ts";
import { type Transport, type TransportCall, TransportError, type TransportEvent } from "./transport.ts";

async function post(call: TransportCall, request: EncodedRequest, signal: AbortSignal): Promise<HttpResponse> {
  const { url, headers } = request;
  const init = { method: "POST", headers, body: JSON.stringify(request.body), signal };
  // A redirect could take the key to another host: it is not followed, its status is an error.
  return call.fetch ? await call.fetch(url, { ...init, redirect: "manual" }) : await httpFetch(url, init);
}

/** The headers that contain the remaining rate limit. */
function rateLimits(response: HttpResponse | undefined): { [header: string]: string } {
  const limits: { [header: string]: string } = {};
  for (const [name, value] of response?.headers ?? [])
    if (/^(x-ratelimit-|anthropic-ratelimit-)/.test(name)) limits[name] = value;
  return limits;
}

/** The events of a body. Servers may answer with one JSON value although a stream was requested. */
async function* wireEvents(response: HttpResponse, stream: boolean): AsyncGenerator<WireEvent> {
  if (stream && !response.headers.get("content-type")?.includes("application/json"))
    yield* sseEvents(response.body ?? []);
  else yield { event: "", data: await response.text(), whole: true };
}

/** One request and its answer. `state` is replaced by each event of the answer. */
class Exchange<State extends DecodeState> {
  readonly #dialect: Dialect<State>;
  readonly #call: TransportCall;
  readonly #stream: boolean;
  readonly #limits: ExchangeLimits;
  #state: State;
  #response: HttpResponse | undefined;

  constructor(dialect: Dialect<State>, call: TransportCall, stream: boolean) {
    this.#dialect = dialect;
    this.#call = call;
    this.#stream = stream;
    this.#limits = new ExchangeLimits(call, stream);
    this.#state = dialect.initial;
  }

  async *run(): AsyncGenerator<TransportEvent> {
    try {
      yield* this.#fold();
      for (const event of this.#dialect.end(this.#state, this.#call.request)) {
        if (event.type === "failed")
          throw decodeError(event.failure, this.#call.endpoint.apiKey, this.#dialect.received(this.#state));
        yield event.type === "done" ? { ...event, rateLimits: rateLimits(this.#response) } : event;
      }
    } finally {
      this.#limits.close();
    }
  }

  async *#receive(): AsyncGenerator<WireEvent> {
    const request = this.#dialect.encode(this.#call, this.#stream);
    const response = await post(this.#call, request, this.#limits.signal);
    this.#response = response;
    if (!response.ok) throw await statusError(response, this.#call.endpoint.apiKey);
    yield* wireEvents(response, this.#stream);
  }

  /** Errors that follow a complete answer are ignored, except the caller's abort. */
  async *#fold(): AsyncGenerator<TransportEvent> {
    try {
      for await (const event of this.#limits.watch(this.#receive())) {
        this.#limits.progress();
        const [state, events] = this.#dialect.decode(this.#state, event);
        this.#state = state;
        yield* events;
        if (state.failure) return;
        if (state.complete) this.#limits.finishing();
      }
    } catch (error) {
      if (!this.#state.complete || this.#limits.stopped === "aborted") throw this.#failure(error);
    }
  }

  #failure(error: unknown): TransportError {
    const received = this.#dialect.received(this.#state);
    if (this.#limits.stopped) return stopError(this.#limits.stopped, received);
    if (error instanceof TransportError) return error;
    if (error instanceof SseTooLongError) return decodeError({ kind: "malformed" }, null, received);
    return connectionError(error, this.#response !== undefined, received);
  }
}

/** Runs one request to its end. The last event is `done`; any other end is a thrown TransportError. */
export function exchange<State extends DecodeState>(
  dialect: Dialect<State>,
  call: TransportCall,
  stream: boolean,
): AsyncGenerator<TransportEvent> {
  return new Exchange(dialect, call, stream).run();
}

/** The transport of a dialect. It holds no state. */
export function httpTransport<State extends DecodeState>(dialect: Dialect<State>): Transport {
  const streams = (call: TransportCall) => !call.quirks.noStream;
  return {
    name: dialect.name,
    encode: (call) => dialect.encode(call, streams(call)).body,
    stream: (call) => exchange(dialect, call, streams(call)),
  };
}
