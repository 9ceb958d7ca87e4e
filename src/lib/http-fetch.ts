// `fetch` over node:http. Node's own `fetch` takes 30 ms to load, and its web streams are slow for small chunks.
import type { EventEmitter } from "node:events";
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { LightHeaders } from "./light-headers.ts";

/** A whole body, headers as a plain map. Redirects are returned, not followed. */
export interface HttpFetchInit {
  readonly method?: string | undefined;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

const WITHOUT_BODY = new Set([204, 205, 304]);

/** The part of `Response` that model calls use. The body can be read once: as chunks, text or JSON. */
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
 * A reader may stop in the middle of the body, and the socket or decompressor may fail after that: an 'error' event without
 * a listener would end the process.
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

/** Sockets that already have a permanent error listener. */
const guarded = new WeakSet<object>();

function guardSocket(socket: EventEmitter): void {
  if (guarded.has(socket)) return;
  guarded.add(socket);
  ignoreErrors(socket);
}

/**
 * Ends an exchange. After a complete body the socket is kept for the next exchange, otherwise it is closed. The `signal`
 * option of `request` is not used: it destroys the socket with an error even after the request has released it, when
 * nothing listens any more.
 */
function endExchange(exchange: ClientRequest, message: IncomingMessage | undefined): void {
  if (message?.complete) message.resume();
  else exchange.destroy();
}

interface Sending {
  readonly url: URL;
  readonly init: HttpFetchInit;
  /** Opens a new connection instead of reusing a kept one. */
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
    // Switching protocols was not requested, so this is not a valid response.
    exchange.once("upgrade", (_response, socket) => {
      socket.destroy();
      reject(new Error("the server switched to another protocol"));
    });
    exchange.on("error", (error) => {
      // After a complete body errors do not matter; before its end they belong to the reader of the body.
      if (message) return void (message.complete || message.destroy(error));
      reject(Object.assign(error, { stale: exchange.reusedSocket && !received() }));
    });
    exchange.end(body);
  });
}

/** The server had already closed the kept connection, so it cannot have processed the request. */
function wasStale(error: unknown): boolean {
  const { code, stale } = (error ?? {}) as { code?: unknown; stale?: unknown };
  return stale === true && (code === "ECONNRESET" || code === "EPIPE");
}

/**
 * One exchange. Rejects with the socket's error (see its `code`) or with the signal's reason. When a kept connection was
 * closed before the first byte of the response, the request is sent once more over a new one.
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
