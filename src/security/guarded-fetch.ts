// HTTP requests that check every redirect, connect only to checked addresses, and limit size and time.
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { type JoinedSignal, joinSignals } from "../lib/async/joined-signal.ts";
import { errorMessage } from "../lib/error-message.ts";
import { type ResolvedVerdict, resolveUrl, type UrlPolicy } from "./url-guard.ts";

export interface GuardedFetchOptions {
  readonly policy?: UrlPolicy | undefined;
  readonly method?: string | undefined;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Uint8Array | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxBytes?: number | undefined;
  readonly maxRedirects?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type GuardedResponse =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: { readonly [name: string]: string };
      readonly body: Buffer;
      /** True when the body was longer than `maxBytes`; the rest was not read. */
      readonly truncated: boolean;
      /** The final URL after redirects. */
      readonly url: string;
    }
  | { readonly ok: false; readonly rule: string; readonly reason: string; readonly url: string };

type Target = Extract<ResolvedVerdict, { ok: true }>;

const DEFAULTS = { timeoutMs: 30_000, maxBytes: 10_000_000, maxRedirects: 5 };
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers that are not forwarded to another origin. */
const PRIVATE_HEADERS = new Set(["authorization", "cookie", "proxy-authorization", "x-api-key"]);

/** A DNS lookup that returns only the addresses that were checked, so that a changed DNS answer has no effect. */
function pinned(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    const first = answers[0];
    if (options.all) callback(null, answers);
    else callback(null, first?.address ?? "", first?.family ?? 4);
  };
}

function open(target: Target, options: GuardedFetchOptions, signal: AbortSignal): Promise<IncomingMessage> {
  const send = target.url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(
      target.url,
      {
        method: options.method ?? "GET",
        headers: { "accept-encoding": "gzip, deflate, br", ...options.headers },
        lookup: pinned(target.addresses),
        agent: false,
        signal,
      },
      resolve,
    );
    request.on("error", reject);
    request.end(options.body);
  });
}

function decoded(response: IncomingMessage): Readable {
  const encoding = String(response.headers["content-encoding"] ?? "").toLowerCase();
  const unpack =
    encoding === "gzip" || encoding === "x-gzip"
      ? createGunzip()
      : encoding === "deflate"
        ? createInflate()
        : encoding === "br"
          ? createBrotliDecompress()
          : undefined;
  if (!unpack) return response;
  response.on("error", (error) => unpack.destroy(error));
  return response.pipe(unpack);
}

/** Reads at most `limit` decompressed bytes, which stops decompression bombs. */
async function readBody(response: IncomingMessage, limit: number): Promise<{ body: Buffer; truncated: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  const stream = decoded(response);
  try {
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk as Buffer);
      chunks.push(size + bytes.length > limit ? bytes.subarray(0, limit - size) : bytes);
      size += bytes.length;
      if (size > limit) return { body: Buffer.concat(chunks), truncated: true };
    }
  } finally {
    response.destroy();
    stream.destroy();
  }
  return { body: Buffer.concat(chunks), truncated: false };
}

function nextHop(
  response: IncomingMessage,
  target: Target,
  options: GuardedFetchOptions,
): { url: string; options: GuardedFetchOptions } | null {
  const location = response.headers.location;
  if (!REDIRECTS.has(response.statusCode ?? 0) || location === undefined || !URL.canParse(location, target.url.href))
    return null;
  const url = new URL(location, target.url.href);
  const { body, ...bodyless } = options;
  const keepsBody = response.statusCode === 307 || response.statusCode === 308;
  const headers = Object.entries(options.headers ?? {}).filter(
    ([name]) => url.origin === target.url.origin || !PRIVATE_HEADERS.has(name.toLowerCase()),
  );
  const kept = keepsBody && body !== undefined ? { ...bodyless, body } : bodyless;
  const method = keepsBody || options.method === "HEAD" ? (options.method ?? "GET") : "GET";
  return { url: url.href, options: { ...kept, method, headers: Object.fromEntries(headers) } };
}

/** Fetches a URL that the policy allows. Refusals and network errors are returned, never thrown. */
export async function guardedFetch(url: string, options: GuardedFetchOptions = {}): Promise<GuardedResponse> {
  const sources = options.signal ? [options.signal] : [];
  const joined = joinSignals(sources, options.timeoutMs ?? DEFAULTS.timeoutMs);
  try {
    return await follow(url, options, joined);
  } finally {
    joined.release();
  }
}

async function follow(url: string, options: GuardedFetchOptions, stop: JoinedSignal): Promise<GuardedResponse> {
  let current = url;
  let request = options;
  for (let hop = 0; hop <= (options.maxRedirects ?? DEFAULTS.maxRedirects); hop++) {
    const target = await resolveUrl(current, options.policy);
    if (!target.ok) return { ok: false, rule: target.rule, reason: target.reason, url: current };
    try {
      const response = await open(target, request, stop.signal);
      const next = nextHop(response, target, request);
      if (!next) return await toResponse(response, current, options.maxBytes ?? DEFAULTS.maxBytes);
      response.destroy();
      current = next.url;
      request = next.options;
    } catch (error) {
      return { ok: false, ...describeFailure(error, stop.late, options.signal), url: current };
    }
  }
  return { ok: false, rule: "redirects", reason: "too many redirects", url: current };
}

async function toResponse(response: IncomingMessage, url: string, limit: number): Promise<GuardedResponse> {
  const { body, truncated } = await readBody(response, limit);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) if (value !== undefined) headers[name] = String(value);
  return { ok: true, status: response.statusCode ?? 0, headers, body, truncated, url };
}

function describeFailure(
  error: unknown,
  late: boolean,
  caller: AbortSignal | undefined,
): { rule: string; reason: string } {
  if (caller?.aborted) return { rule: "interrupted", reason: "the fetch was interrupted" };
  if (late) return { rule: "timeout", reason: "the server took too long" };
  return { rule: "network", reason: errorMessage(error) };
}
