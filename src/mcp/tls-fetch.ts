// A `fetch` over node:https for servers with a private certificate authority.
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { Readable } from "node:stream";
import type { FetchLike } from "@modelcontextprotocol/client";

export interface TlsOptions {
  readonly ca?: Buffer | undefined;
  readonly rejectUnauthorized?: boolean | undefined;
}

const WITHOUT_BODY = new Set([204, 205, 304]);

function toResponse(message: IncomingMessage): Response {
  const headers = new Headers();
  for (const [name, values] of Object.entries(message.headersDistinct))
    for (const value of values ?? []) headers.append(name, value);
  const status = message.statusCode ?? 502;
  const body = WITHOUT_BODY.has(status) ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>);
  return new Response(body, { status, headers });
}

/** Redirects are returned as they are. */
export function createTlsFetch(tls: TlsOptions): FetchLike {
  return (url, init) =>
    new Promise((resolve, reject) => {
      const headers = Object.fromEntries(new Headers(init?.headers));
      const options = { method: init?.method ?? "GET", headers, ...tls, signal: init?.signal ?? undefined };
      const sent = request(new URL(url), options, (message) => resolve(toResponse(message)));
      sent.once("error", reject);
      sent.end(typeof init?.body === "string" ? init.body : init?.body?.toString());
    });
}
