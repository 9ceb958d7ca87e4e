// A chat service with an HTTP interface on loopback, for the platform of docs/add-a-platform.md.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface HouseMessage {
  readonly id: number;
  readonly room: string;
  readonly from: string;
  readonly text: string;
  readonly at: number;
}

const POLL_MS = 500;

async function readBody(request: IncomingMessage): Promise<{ room: string; text: string; key: string }> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return JSON.parse(text);
}

export class FakeHouse {
  readonly token = "house-token-4711";
  readonly said: HouseMessage[] = [];
  /** The next posts are kept, but their answers are lost. */
  loseAnswers = 0;
  readonly #keys = new Map<string, number>();
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response));
  #port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Again on the same port after `close`. */
  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  say(room: string, from: string, text: string): number {
    const id = this.said.length + 1;
    this.said.push({ id, room, from, text, at: Date.now() });
    return id;
  }

  fromBot(room: string): string[] {
    return this.said.filter((message) => message.room === room && message.from === "bot").map(({ text }) => text);
  }

  async #news(after: number): Promise<readonly HouseMessage[]> {
    const until = Date.now() + POLL_MS;
    for (;;) {
      const news = this.said.filter(({ id, from }) => id > after && from !== "bot");
      if (news.length > 0 || Date.now() > until) return news;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const end = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body));
    const { pathname, searchParams } = new URL(request.url ?? "/", this.url);
    if (request.headers.authorization !== `Bearer ${this.token}`) return void end(401, {});
    if (pathname === "/me") return void end(200, { name: "bot" });
    if (pathname !== "/messages") return void end(404, {});
    if (request.method === "GET") return void end(200, await this.#news(Number(searchParams.get("after"))));
    const { room, text, key } = await readBody(request);
    const id = this.#keys.get(key) ?? this.say(room, "bot", text);
    this.#keys.set(key, id);
    if (this.loseAnswers-- > 0) return void request.socket.destroy();
    end(200, { id });
  }
}
