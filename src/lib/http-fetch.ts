// `fetch` over node:http. The platform's own takes 30 ms to load, and its streams cost more than what they carry.
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { LightHeaders } from "./light-headers.ts";

/** What can be sent: a whole body, headers as a plain map, no redirects (they come back as they are). */
export interface HttpFetchInit {
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  readonly signal?: AbortSignal | null;
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

async function bodyOf(message: IncomingMessage): Promise<Readable> {
  const coding = message.headers["content-encoding"]?.toLowerCase();
  if (coding === undefined || coding === "identity") return message;
  const { createBrotliDecompress, createUnzip } = await import("node:zlib");
  const unpack = coding === "br" ? createBrotliDecompress() : createUnzip();
  message.once("error", (error) => unpack.destroy(error));
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

/** One exchange. Rejects with the socket's error (its `code` tells the cause), or with the signal's reason. */
export async function httpFetch(input: string | URL, init: HttpFetchInit = {}): Promise<HttpAnswer> {
  const url = new URL(input);
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const { method = "GET", body, signal } = init;
  const headers: OutgoingHttpHeaders = { accept: "*/*", ...init.headers };
  if (body !== undefined) headers["content-length"] = Buffer.byteLength(body);
  return new Promise((resolve, reject) => {
    const exchange = request(url, { method, headers, ...(signal ? { signal } : {}) });
    exchange.once("response", (message) => void answerFrom(message).then(resolve, reject));
    exchange.once("error", reject);
    exchange.end(body);
  });
}
