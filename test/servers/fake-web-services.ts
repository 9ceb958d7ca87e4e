// The web services on loopback: each uses the format of the real one, refuses the same requests, and can be set to fail.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerFor } from "./fake-web-answers.ts";
import { KEYS, type ServiceReply, type ServiceRequest } from "./fake-web-request.ts";

export interface FakeWebServices {
  readonly url: string;
  readonly requests: readonly (ServiceRequest & { service: string })[];
  /** Environment that points every provider here, with good keys. */
  readonly env: { readonly [name: string]: string };
  /** The next requests get these answers instead. */
  fail(...replies: ServiceReply[]): void;
  /** Resolves when this many requests have arrived. */
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

const BASES: { readonly [name: string]: string } = {
  SEARXNG_URL: "searxng",
  BRAVE_SEARCH_BASE_URL: "brave",
  TAVILY_BASE_URL: "tavily",
  EXA_BASE_URL: "exa",
  FIRECRAWL_API_URL: "firecrawl",
  PARALLEL_BASE_URL: "parallel",
  DDGS_BASE_URL: "ddgs",
  XAI_BASE_URL: "xai",
};

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function send(response: ServerResponse, reply: ServiceReply): void {
  if (reply.hang) return;
  const text = typeof reply.body === "string";
  response.writeHead(reply.status ?? 200, {
    "content-type": text ? "text/html; charset=utf-8" : "application/json",
    ...reply.headers,
  });
  response.end(text ? (reply.body as string) : JSON.stringify(reply.body ?? {}));
}

export async function fakeWebServices(): Promise<FakeWebServices> {
  const requests: (ServiceRequest & { service: string })[] = [];
  const failures: ServiceReply[] = [];
  const waiting: { count: number; done: () => void }[] = [];
  const server: Server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const [, service = "", ...rest] = url.pathname.split("/");
    const asked: ServiceRequest = {
      method: request.method ?? "",
      path: `/${rest.join("/")}`,
      query: url.searchParams,
      headers: request.headers,
      body: await readBody(request),
    };
    requests.push({ ...asked, service });
    for (const waiter of waiting) if (requests.length >= waiter.count) waiter.done();
    send(response, failures.shift() ?? answerFor(service, asked));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bases = Object.fromEntries(Object.entries(BASES).map(([name, path]) => [name, `${url}/${path}`]));
  return {
    url,
    requests,
    env: { ...KEYS, ...bases },
    fail: (...replies) => void failures.push(...replies),
    arrived: (count) =>
      requests.length >= count ? Promise.resolve() : new Promise((done) => waiting.push({ count, done })),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
