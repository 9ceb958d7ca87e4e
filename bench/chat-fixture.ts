// Fixture for a gateway under load: a small Bot API server, a scripted model and users. Records the time of every step.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const TOKEN = "123456:TEST-token-for-the-fake-server-000";
const MARK = /~#(\d+)-(\d+)#~/;

/** The four moments of a turn that are visible from outside, in milliseconds of one clock. */
export interface TurnTimes {
  readonly chat: number;
  readonly number: number;
  /** The platform has the user's message. */
  readonly saidAt: number;
  /** The model's server has the whole request. */
  askedAt: number;
  /** The last byte of the model's answer has left. */
  repliedAt: number;
  /** The platform has the whole call that shows the answer. */
  shownAt: number;
}

export interface ChatFixtureOptions {
  /** Milliseconds until the model's first token. */
  modelMs(): number;
  /** Pieces that the model's answer comes in, and the time between two of them. */
  readonly pieces: number;
  readonly pieceMs: number;
  /** Replaces the plain text answer, for turns that use tools. */
  script?(body: string, mark: string): { readonly name: string; readonly arguments: string } | undefined;
  onAnswer?(turn: TurnTimes, text: string): void;
}

interface Update {
  readonly update_id: number;
  readonly message: object;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 4096, resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const frame = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "test-model", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const USAGE = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "test-model", choices: [], usage: { prompt_tokens: 4000, completion_tokens: 60, total_tokens: 4060 } })}\n\ndata: [DONE]\n\n`;
const WORDS = "Some words of an answer that is neither short nor long. ";

export class ChatFixture {
  readonly token = TOKEN;
  readonly turns = new Map<string, TurnTimes>();
  /** Messages of the bot without a mark: acknowledgements, errors. */
  readonly strays: string[] = [];
  readonly files = new Map<string, Buffer>();
  /** Requests of side models, for example for titles. */
  sideCalls = 0;
  answered = 0;
  telegramUrl = "";
  modelUrl = "";
  readonly #options: ChatFixtureOptions;
  readonly #telegram = createServer((request, response) => void this.#bot(request, response));
  readonly #model = createServer((request, response) => void this.#think(request, response));
  #updates: Update[] = [];
  #nextUpdate = 1;
  #nextMessage = 1;
  #wake: (() => void) | undefined;

  constructor(options: ChatFixtureOptions) {
    this.#options = options;
    this.#telegram.keepAliveTimeout = 60_000;
    this.#model.keepAliveTimeout = 60_000;
  }

  async start(): Promise<this> {
    this.telegramUrl = await listen(this.#telegram);
    this.modelUrl = await listen(this.#model);
    return this;
  }

  /** Sends a user's message in a private chat; the answer contains the same mark. */
  ask(chat: number, number: number, more: object = {}): void {
    const key = `${chat}-${number}`;
    const turn = { chat, number, saidAt: performance.now(), askedAt: 0, repliedAt: 0, shownAt: 0 };
    this.turns.set(key, turn);
    this.say(chat, `Question ~#${key}#~ with a few words around it`, more);
  }

  say(chat: number, text: string, more: object = {}): void {
    const from = { id: chat, is_bot: false, first_name: `User ${chat}` };
    const where = { id: chat, type: "private" };
    const message = { message_id: this.#nextMessage++, date: 1_700_000_000, chat: where, from, text, ...more };
    this.#updates.push({ update_id: this.#nextUpdate++, message });
    this.#wake?.();
  }

  /** Closes every open connection, as a change of network does. */
  breakLines(): void {
    this.#telegram.closeAllConnections();
  }

  async #bot(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? "";
    const raw = await bodyOf(request).catch(() => undefined);
    if (raw === undefined) return;
    if (url.startsWith("/file/")) {
      const file = this.files.get(url.split("/").at(-1) ?? "");
      response.writeHead(file ? 200 : 404).end(file);
      return;
    }
    const method = url.slice(url.lastIndexOf("/") + 1);
    const result = await this.#call(method, raw, response);
    if (!response.destroyed)
      response.writeHead(200, { "content-type": "application/json" }).end(`{"ok":true,"result":${result}}`);
  }

  async #call(method: string, raw: Buffer, response: ServerResponse): Promise<string> {
    if (method === "getUpdates") return this.#poll(JSON.parse(raw.toString("utf8")), response);
    if (method === "getMe") return '{"id":123456,"is_bot":true,"first_name":"Hermes","username":"hermes_bot"}';
    if (method === "getFile") {
      const { file_id: id } = JSON.parse(raw.toString("utf8"));
      return JSON.stringify({ file_id: id, file_unique_id: id, file_path: `documents/${id}` });
    }
    if (!/^(send|edit)/.test(method) || method === "sendChatAction") return "true";
    this.#shown(raw.toString("utf8"));
    return `{"message_id":${this.#nextMessage++},"date":1,"chat":{"id":1,"type":"private"}}`;
  }

  #shown(body: string): void {
    const [, chat, number] = MARK.exec(body) ?? [];
    const turn = this.turns.get(`${chat}-${number}`);
    if (!turn) {
      this.strays.push(body.slice(0, 300));
      return;
    }
    if (turn.shownAt > 0) return;
    turn.shownAt = performance.now();
    this.answered += 1;
    this.#options.onAnswer?.(turn, body);
  }

  async #poll({ offset = 0, timeout = 0, limit = 100 }, response: ServerResponse): Promise<string> {
    this.#updates = this.#updates.filter((update) => update.update_id >= offset);
    if (this.#updates.length === 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeout * 1000);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
        response.once("close", this.#wake);
      });
    }
    return JSON.stringify(this.#updates.slice(0, limit));
  }

  async #think(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await bodyOf(request).catch(() => undefined);
    if (raw === undefined) return;
    if (request.method !== "POST") {
      response.writeHead(404).end();
      return;
    }
    const mark = raw.toString("latin1", raw.lastIndexOf("~#"), raw.lastIndexOf("#~") + 2);
    response.on("error", () => undefined);
    if (!raw.includes('"tools":')) {
      this.sideCalls += 1;
      const streamed = raw.includes('"stream":true');
      const message = { role: "assistant", content: `Question ${mark.slice(2, -2)} and its answer` };
      const body = { id: "c", model: "test-model", choices: [{ index: 0, message, finish_reason: "stop" }] };
      response.writeHead(200, { "content-type": streamed ? "text/event-stream" : "application/json" });
      response.end(streamed ? frame(message) + frame({}, "stop") + USAGE : JSON.stringify(body));
      return;
    }
    const turn = this.turns.get(mark.slice(2, -2));
    if (turn && turn.askedAt === 0) turn.askedAt = performance.now();
    await sleep(this.#options.modelMs());
    response.writeHead(200, { "content-type": "text/event-stream" });
    const call = this.#options.script?.(raw.toString("utf8"), mark);
    if (call) {
      const tool = { index: 0, id: `call_${mark.slice(2, -2)}_${Date.now()}`, type: "function", function: call };
      response.end(frame({ role: "assistant", tool_calls: [tool] }) + frame({}, "tool_calls") + USAGE);
      return;
    }
    response.write(frame({ role: "assistant", content: `Answer ${mark} ` }));
    for (let piece = 1; piece < this.#options.pieces; piece++) {
      await sleep(this.#options.pieceMs);
      response.write(frame({ content: WORDS.slice((piece * 7) % 40, ((piece * 7) % 40) + 12) }));
    }
    response.end(frame({}, "stop") + USAGE);
    if (turn) turn.repliedAt = performance.now();
  }

  async close(): Promise<void> {
    this.#wake?.();
    for (const server of [this.#telegram, this.#model]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }
}
