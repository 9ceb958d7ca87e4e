// The Mem0 service on loopback: its routes, its token header, its shapes; can be told to fail or to be slow.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface Mem0Request {
  readonly path: string;
  readonly body: { readonly [key: string]: unknown };
}

export interface FakeMem0 {
  readonly url: string;
  readonly requests: readonly Mem0Request[];
  /** Status for every answer until it is set back to 200. */
  status: number;
  delayMs: number;
  close(): Promise<void>;
}

const KEY = "m0-test-key";

async function bodyOf(request: IncomingMessage): Promise<{ [key: string]: unknown }> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return JSON.parse(text || "{}");
}

/** Who a v2 filter speaks of: `{ AND: [{ user_id }] }`. */
function userOf(filters: unknown): string | undefined {
  const { AND } = (filters ?? {}) as { AND?: { user_id?: string }[] };
  return AND?.find((filter) => filter.user_id)?.user_id;
}

export async function startFakeMem0(): Promise<FakeMem0> {
  const requests: Mem0Request[] = [];
  const stored: { id: string; memory: string; user_id: string; created_at: string }[] = [];
  const state = { status: 200, delayMs: 0 };

  const answer = (path: string, body: { [key: string]: unknown }): [number, unknown] => {
    if (path === "/v1/memories/") {
      const { messages, user_id } = body as { messages?: { content: string }[]; user_id?: string };
      if (!messages || !user_id) return [400, { detail: "messages and user_id are required" }];
      const kept = body.infer === false ? messages : messages.slice(0, 1);
      for (const { content } of kept)
        stored.push({ id: String(stored.length + 1), memory: content, user_id, created_at: new Date(0).toISOString() });
      return [200, { results: [{ event: "ADD", status: "PENDING" }] }];
    }
    const user = userOf(body.filters);
    if (!user) return [400, { detail: "filters must name a user, agent, app or run" }];
    const own = stored.filter((entry) => entry.user_id === user);
    if (path === "/v2/memories/") return [200, { count: own.length, next: null, previous: null, results: own }];
    if (path !== "/v2/memories/search/") return [404, { detail: "Not found." }];
    const words = String(body.query ?? "")
      .toLowerCase()
      .split(/\W+/)
      .filter((word) => word.length > 3);
    const hits = own.filter((entry) => words.some((word) => entry.memory.toLowerCase().includes(word)));
    return [200, hits.slice(0, Number(body.top_k ?? 10)).map((entry) => ({ ...entry, score: 0.9 }))];
  };

  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const path = request.url ?? "";
    requests.push({ path, body });
    await new Promise((resolve) => setTimeout(resolve, state.delayMs));
    const allowed = request.headers.authorization === `Token ${KEY}`;
    const [code, value] =
      state.status !== 200
        ? [state.status, { detail: "out of order" }]
        : allowed
          ? answer(path, body)
          : [401, { detail: "Authentication credentials were not provided." }];
    response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(value));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}
