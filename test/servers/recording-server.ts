// A model server on loopback that records which keys reach it, on every route. Supports chat completions and Anthropic Messages.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface RecordedVisit {
  readonly route: string;
  /** The values of all headers that can carry a key, joined. */
  readonly keys: string;
  readonly body: string;
}

export interface RecordingServer {
  /** `http://127.0.0.1:port/v1`. */
  readonly url: string;
  readonly visits: readonly RecordedVisit[];
  /** The keys of all visits, each once; empty text for a visit without a key. */
  keys(): string[];
  close(): Promise<void>;
}

const KEY_HEADERS = ["authorization", "x-api-key", "api-key", "x-goog-api-key", "proxy-authorization", "cookie"];

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function answer(text: string): string {
  const choice = { index: 0, delta: { role: "assistant", content: text }, finish_reason: null };
  const head = { id: "c1", object: "chat.completion.chunk", created: 1, model: "m" };
  const end = { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  return `data: ${JSON.stringify({ ...head, choices: [choice] })}\n\ndata: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`;
}

/** `status` other than 200 refuses every model call; `location` makes it a redirect. */
export async function startRecordingServer(
  options: { readonly status?: number; readonly location?: string; readonly text?: string } = {},
): Promise<RecordingServer> {
  const visits: RecordedVisit[] = [];
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const keys = KEY_HEADERS.map((name) => request.headers[name] ?? "").filter((value) => value !== "");
    visits.push({ route: `${request.method} ${request.url}`, keys: keys.join(" "), body });
    const { status = 200, location, text = "All fine." } = options;
    if (request.method === "GET") {
      response.writeHead(404).end();
    } else if (status !== 200) {
      response.writeHead(status, { "content-type": "application/json", ...(location ? { location } : {}) });
      response.end(JSON.stringify({ error: { message: "scripted refusal", type: "x" } }));
    } else {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(answer(text));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    visits,
    keys: () => [...new Set(visits.map((visit) => visit.keys))],
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
