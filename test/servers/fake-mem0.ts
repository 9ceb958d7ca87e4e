// The Mem0 service on loopback: routes, token header and response shapes. Can be set to fail, to be slow or to be an old version.
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
  /** Only the routes of versions 1 and 2. */
  older: boolean;
  close(): Promise<void>;
}

const KEY = "m0-test-key";

async function readBody(request: IncomingMessage): Promise<{ [key: string]: unknown }> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return JSON.parse(text || "{}");
}

const ENTITIES = ["user_id", "agent_id", "app_id", "run_id"];

type Stored = { id: string; memory: string; user_id: string; created_at: string; updated_at: string };
type Answer = [status: number, body: unknown];

/** The user that a filter names: `{ user_id }` or `{ AND: [{ user_id }] }`. */
function findUser(filters: unknown): string | undefined {
  const { AND, user_id } = (filters ?? {}) as { AND?: { user_id?: string }[]; user_id?: string };
  return user_id ?? AND?.find((filter) => filter.user_id)?.user_id;
}

function add(body: { [key: string]: unknown }, stored: Stored[], older: boolean): Answer {
  const { messages, user_id } = body as { messages?: { role?: string; content?: string }[]; user_id?: string };
  if (!Array.isArray(messages) || messages.some(({ role, content }) => !role || typeof content !== "string"))
    return [400, { error: "messages must be a list of { role, content }" }];
  if (!ENTITIES.some((name) => body[name])) return [400, { error: "at least one entity id is required" }];
  const at = new Date(0).toISOString();
  for (const { content = "" } of body.infer === false ? messages : messages.slice(0, 1))
    stored.push({
      id: `${stored.length + 1}`,
      memory: content,
      user_id: user_id ?? "",
      created_at: at,
      updated_at: at,
    });
  const event_id = "3c90c3cc-0d44-4b50-8888-8dd25736052a";
  if (older) return [200, [{ id: event_id, event: "ADD", data: { memory: messages[0]?.content } }]];
  return [200, { message: "queued", status: "PENDING", event_id }];
}

function search(body: { [key: string]: unknown }, own: readonly Stored[]): object[] {
  const words = String(body.query ?? "")
    .toLowerCase()
    .split(/\W+/)
    .filter((word) => word.length > 3);
  const hits = own.filter((entry) => words.some((word) => entry.memory.toLowerCase().includes(word)));
  return hits
    .slice(0, Number(body.top_k ?? 10))
    .map((entry) => ({ ...entry, score: 0.9, metadata: {}, categories: [] }));
}

/** Version 3 as it is documented: the user of a query is allowed in the filters only, and lists are under `results`. */
function answerTo(url: string, body: { [key: string]: unknown }, stored: Stored[], older: boolean): Answer {
  const { pathname } = new URL(url, "http://service");
  const [adding, searching, listing] = older
    ? ["/v1/memories/", "/v2/memories/search/", "/v2/memories/"]
    : ["/v3/memories/add/", "/v3/memories/search/", "/v3/memories/"];
  if (pathname === adding) return add(body, stored, older);
  if (pathname !== searching && pathname !== listing) return [404, { detail: "Not found." }];
  if (ENTITIES.some((name) => name in body)) return [400, { error: "entity ids belong into filters" }];
  const user = findUser(body.filters);
  if (!user) return [400, { error: "filters must name a user, agent, app or run" }];
  const own = stored.filter((entry) => entry.user_id === user);
  if (pathname === listing) return [200, { count: own.length, next: null, previous: null, results: own }];
  if (typeof body.query !== "string" || body.query === "") return [400, { error: "query is required" }];
  const results = search(body, own);
  return [200, older ? results : { results }];
}

export async function startFakeMem0(): Promise<FakeMem0> {
  const requests: Mem0Request[] = [];
  const stored: Stored[] = [];
  const state = { status: 200, delayMs: 0, older: false };

  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const path = request.url ?? "";
    requests.push({ path, body });
    await new Promise((resolve) => setTimeout(resolve, state.delayMs));
    const allowed = request.headers.authorization === `Token ${KEY}`;
    const [code, value] =
      state.status !== 200
        ? [state.status, { detail: "out of order" }]
        : allowed
          ? answerTo(path, body, stored, state.older)
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
