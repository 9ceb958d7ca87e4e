// A small `fetch` over node:http. The first use of Node's own fetch costs 43–49 ms.
import type { EventEmitter } from "node:events";
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";

/** Redirects are not followed: they are returned as they are. */
export interface HttpFetchInit {
  readonly method?: string | undefined;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

const WITHOUT_BODY = new Set([204, 205, 304]);

/** The part of fetch's `Response` that callers use; a real `Response` fits too. The body can be read once. */
export interface HttpResponse {
  readonly status: number;
  /** True for 2xx. */
  readonly ok: boolean;
  /** Names are in lower case; the values of a repeated header are joined with commas. */
  readonly headers: Iterable<[string, string]> & { get(name: string): string | null | undefined };
  readonly body: AsyncIterable<Uint8Array> | null;
  text(): Promise<string>;
}

class ReceivedResponse implements HttpResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: AsyncIterable<Uint8Array> | null;

  constructor(message: IncomingMessage, body: AsyncIterable<Uint8Array> | null) {
    this.status = statusCode(message);
    this.headers = readHeaders(message);
    this.body = body;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  async text(): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.body ?? []) chunks.push(chunk);
    return new TextDecoder().decode(Buffer.concat(chunks));
  }
}

function statusCode(message: IncomingMessage): number {
  return message.statusCode ?? 502;
}

/** Without `content-encoding`, because the body is decoded. */
function readHeaders(message: IncomingMessage): Map<string, string> {
  const headers = new Map<string, string>();
  for (const [name, values] of Object.entries(message.headersDistinct))
    if (name !== "content-encoding" && values) headers.set(name, values.join(", "));
  return headers;
}

/**
 * A caller may stop reading at any moment, and the socket or the decompressor may fail afterwards: an 'error' event
 * without a listener would end the process.
 */
function ignoreErrors(emitter: EventEmitter): void {
  emitter.on("error", () => undefined);
}

async function decodedBody(message: IncomingMessage): Promise<Readable> {
  const coding = message.headers["content-encoding"]?.toLowerCase();
  if (coding === undefined || coding === "identity") return message;
  const { createBrotliDecompress, createUnzip } = await import("node:zlib");
  const unpack = coding === "br" ? createBrotliDecompress() : createUnzip();
  ignoreErrors(unpack);
  message.once("error", (error) => unpack.destroy(error));
  message.once("close", () => {
    if (!message.complete) unpack.destroy(new Error("the connection was closed within the body"));
  });
  return message.pipe(unpack);
}

async function receive(message: IncomingMessage): Promise<HttpResponse> {
  if (!WITHOUT_BODY.has(statusCode(message))) return new ReceivedResponse(message, await decodedBody(message));
  message.resume();
  return new ReceivedResponse(message, null);
}

/** Sockets that have a permanent listener for errors. */
const guarded = new WeakSet<object>();

function guardSocket(socket: EventEmitter): void {
  if (guarded.has(socket)) return;
  guarded.add(socket);
  ignoreErrors(socket);
}

/**
 * Ends an exchange. The socket is kept for the next exchange if the body has arrived completely, and closed otherwise.
 * The `signal` option of the request is not used: it destroys the socket with an error even after the request has
 * released it, when it has no listeners.
 */
function endExchange(exchange: ClientRequest, message: IncomingMessage | undefined): void {
  if (message?.complete) message.resume();
  else exchange.destroy();
}

interface Sending {
  readonly url: URL;
  readonly init: HttpFetchInit;
  /** Use a new connection instead of one that an earlier exchange left open. */
  readonly fresh: boolean;
}

async function send({ url, init, fresh }: Sending): Promise<HttpResponse> {
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const { method = "GET", body, signal } = init;
  const headers: OutgoingHttpHeaders = { accept: "*/*", ...init.headers };
  if (body !== undefined) headers["content-length"] = Buffer.byteLength(body);
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const exchange = request(url, { method, headers, agent: fresh ? false : undefined });
    let message: IncomingMessage | undefined;
    const onAbort = () => {
      reject(signal?.reason);
      endExchange(exchange, message);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    exchange.once("close", () => signal?.removeEventListener("abort", onAbort));
    let received = () => false;
    exchange.once("socket", (socket) => {
      guardSocket(socket);
      const before = socket.bytesRead;
      received = () => socket.bytesRead > before;
    });
    exchange.once("response", (response) => {
      message = response;
      ignoreErrors(response);
      receive(response).then(resolve, reject);
    });
    // No upgrade was requested.
    exchange.once("upgrade", (_response, socket) => {
      socket.destroy();
      reject(new Error("the server switched to another protocol"));
    });
    exchange.on("error", (error) => {
      // After a complete body the error does not matter; before its end, the reader of the body gets it.
      if (message) return void (message.complete || message.destroy(error));
      reject(Object.assign(error, { stale: exchange.reusedSocket && !received() }));
    });
    exchange.end(body);
  });
}

/** The server had closed the kept connection before it read the request, so the request can be sent again. */
function wasStale(error: unknown): boolean {
  const { code, stale } = (error ?? {}) as { code?: unknown; stale?: unknown };
  return stale === true && (code === "ECONNRESET" || code === "EPIPE");
}

/**
 * One exchange. Rejects with the socket's error (see its `code`) or with the signal's reason. If a kept connection turns
 * out to be closed before any byte of the answer, the request is sent once more on a new one.
 */
export async function httpFetch(input: string | URL, init: HttpFetchInit = {}): Promise<HttpResponse> {
  const url = new URL(input);
  try {
    return await send({ url, init, fresh: false });
  } catch (error) {
    if (!wasStale(error) || init.signal?.aborted) throw error;
    return send({ url, init, fresh: true });
  }
}
