// `fetch` over node:http. The platform's own takes 30 ms to load, and its streams cost more than what they carry.
import type { EventEmitter } from "node:events";
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { LightHeaders } from "./light-headers.ts";

/** What can be sent: a whole body, headers as a plain map, no redirects (they come back as they are). */
export interface HttpFetchInit {
  readonly method?: string | undefined;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

const WITHOUT_BODY = new Set([204, 205, 304]);

/** As much of fetch's `Response` as the model SDKs use; the body is read once, as pieces, text or JSON. */
export class HttpAnswer {
  readonly status: number;
  readonly headers: LightHeaders;
  readonly body: AsyncIterable<Uint8Array> | null;
  readonly url = "";

  constructor(status: number, headers: LightHeaders, body: AsyncIterable<Uint8Array> | null) {
    this.status = status;
    this.headers = headers;
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

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }
}

/**
 * Whoever reads the body may leave at any moment, and what is left (socket, decompressor) may still fail: an 'error'
 * event without a listener would end the process.
 */
function ignoreErrors(emitter: EventEmitter): void {
  emitter.on("error", () => undefined);
}

async function bodyOf(message: IncomingMessage): Promise<Readable> {
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

function headersOf(message: IncomingMessage): LightHeaders {
  const headers = new LightHeaders();
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    if (name !== "content-encoding") for (const value of values ?? []) headers.append(name, value);
  }
  return headers;
}

async function answerFrom(message: IncomingMessage): Promise<HttpAnswer> {
  const status = message.statusCode ?? 502;
  if (WITHOUT_BODY.has(status)) {
    message.resume();
    return new HttpAnswer(status, headersOf(message), null);
  }
  return new HttpAnswer(status, headersOf(message), await bodyOf(message));
}

/** Sockets that have a listener for errors which lasts as long as they do. */
const guarded = new WeakSet<object>();

function guardSocket(socket: EventEmitter): void {
  if (guarded.has(socket)) return;
  guarded.add(socket);
  ignoreErrors(socket);
}

/**
 * Ends an exchange. A body that has come in whole leaves its socket to the next exchange; anything else closes it. The
 * request's own `signal` option is not used: it destroys the socket with an error, also after the request has let go of
 * it and nothing listens there any more.
 */
function endExchange(exchange: ClientRequest, message: IncomingMessage | undefined): void {
  if (message?.complete) message.resume();
  else exchange.destroy();
}

interface Sending {
  readonly url: URL;
  readonly init: HttpFetchInit;
  /** A connection of its own instead of one that an earlier exchange left. */
  readonly fresh: boolean;
}

async function send({ url, init, fresh }: Sending): Promise<HttpAnswer> {
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const { method = "GET", body, signal } = init;
  const headers: OutgoingHttpHeaders = { accept: "*/*", ...init.headers };
  if (body !== undefined) headers["content-length"] = Buffer.byteLength(body);
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const exchange = request(url, { method, headers, ...(fresh ? { agent: false } : {}) });
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
      answerFrom(response).then(resolve, reject);
    });
    // Switching protocols was not asked for: an answer of that kind is none.
    exchange.once("upgrade", (_response, socket) => {
      socket.destroy();
      reject(new Error("the server switched to another protocol"));
    });
    exchange.on("error", (error) => {
      // Behind the end of a whole body there may be anything; within it the error belongs to the body's reader.
      if (message) return void (message.complete || message.destroy(error));
      reject(Object.assign(error, { stale: exchange.reusedSocket && !received() }));
    });
    exchange.end(body);
  });
}

/** The server had closed the kept connection when the request was written: it cannot have been worked on. */
function wasStale(error: unknown): boolean {
  const { code, stale } = (error ?? {}) as { code?: unknown; stale?: unknown };
  return stale === true && (code === "ECONNRESET" || code === "EPIPE");
}

/**
 * One exchange. Rejects with the socket's error (its `code` tells the cause), or with the signal's reason. A kept
 * connection that turns out to be closed before any byte of an answer is replaced once by a new one.
 */
export async function httpFetch(input: string | URL, init: HttpFetchInit = {}): Promise<HttpAnswer> {
  const url = new URL(input);
  try {
    return await send({ url, init, fresh: false });
  } catch (error) {
    if (!wasStale(error) || init.signal?.aborted) throw error;
    return send({ url, init, fresh: true });
  }
}
