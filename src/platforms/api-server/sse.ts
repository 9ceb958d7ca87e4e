// Server-sent events as a response body, with keep-alives and detection of disconnected clients.
import type { Context } from "hono";
import { joinSignals } from "../../lib/async/joined-signal.ts";
import { buildBody } from "./api-error.ts";

const KEEP_ALIVE_MS = 30_000;
/** A client that reads nothing for this many keep-alives is treated as disconnected, so that it does not block its session. */
const MISSED_BEATS = 10;

export interface Sse {
  /** Aborts when the client disconnects or the server stops. */
  readonly signal: AbortSignal;
  send(data: unknown, options?: { readonly event?: string | undefined; readonly id?: string }): Promise<void>;
  raw(text: string): Promise<void>;
}

export interface SseOptions {
  readonly headers?: { readonly [name: string]: string };
  /** Fires when the server stops. */
  readonly stopping: AbortSignal;
  readonly keepAliveMs?: number | undefined;
}

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

function frame(data: unknown, options: { readonly event?: string | undefined; readonly id?: string }): string {
  const id = options.id === undefined ? "" : `id: ${options.id}\n`;
  const event = options.event === undefined ? "" : `event: ${options.event}\n`;
  return `${id}${event}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/** Streams what `write` sends until it returns; an error of `write` is sent as the last event. */
export function sse(context: Context, options: SseOptions, write: (stream: Sse) => Promise<void>): Response {
  const gone = new AbortController();
  const { signal, release } = joinSignals([gone.signal, context.req.raw.signal, options.stopping]);
  const encoder = new TextEncoder();
  let output: TransformStreamDefaultController<Uint8Array> | undefined;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
    start: (controller) => {
      output = controller;
    },
  });
  const writer = writable.getWriter();
  const disconnect = () => gone.abort();
  writer.closed.catch(disconnect);
  let missed = 0;
  const resetMissed = () => {
    missed = 0;
  };
  const raw = (text: string) => writer.write(encoder.encode(text)).then(resetMissed, disconnect);
  const beat = () => {
    missed += 1;
    if (missed > MISSED_BEATS) output?.error(new Error("the client does not read"));
    else void raw(": keep-alive\n\n");
  };
  const timer = setInterval(beat, options.keepAliveMs ?? KEEP_ALIVE_MS);
  const work = async () => {
    try {
      await write({ signal, raw, send: (data, about = {}) => raw(frame(data, about)) });
    } catch (error) {
      await raw(frame(buildBody(error), {}));
    } finally {
      clearInterval(timer);
      release();
      await writer.close().catch(disconnect);
    }
  };
  void work();
  return new Response(readable, { status: 200, headers: { ...HEADERS, ...options.headers } });
}
