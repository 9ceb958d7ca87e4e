// A Bot API server on loopback with Telegram's semantics: offsets, growing ids, flood control, conflicts, broken connections.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { until } from "../kit/until.ts";
import { type Params, readParams } from "./bot-params.ts";

export interface FakeMessage {
  readonly chatId: string;
  readonly id: number;
  readonly fromBot: boolean;
  text: string;
  markup: string;
  deleted: boolean;
  readonly kind: string;
  readonly silent: boolean;
  readonly replyTo?: number;
  readonly thread?: number;
  edits: number;
}

export interface FakeTelegramOptions {
  /** Time until each answer, in milliseconds. */
  readonly latencyMs?: number;
  /** The same for calls that put something on the screen, in its place. */
  readonly sendMs?: number;
  /** Every n-th message to a chat is refused with 429 and this many seconds. */
  readonly flood?: { readonly every: number; readonly retryAfter: number };
  /** Upper limit for the wait of getUpdates, in milliseconds. */
  readonly pollMs?: number;
}

type Fault = "none" | "stall" | "half_open" | "conflict" | "refuse" | "error";

interface Update {
  readonly update_id: number;
  readonly [kind: string]: unknown;
}

class ApiError extends Error {
  readonly code: number;
  readonly parameters: object | undefined;

  constructor(code: number, description: string, parameters?: object) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

const TOKEN = "123456:TEST-token-for-the-fake-server-000";

function plain(html: string, mode: unknown): string {
  if (mode !== "HTML") return html;
  const open = html.match(/<(\w+)[^>]*>/g)?.length ?? 0;
  const close = html.match(/<\/\w+>/g)?.length ?? 0;
  if (open !== close) throw new ApiError(400, "Bad Request: can't parse entities: unclosed tag");
  return html
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
}

export class FakeTelegram {
  readonly token = TOKEN;
  readonly messages: FakeMessage[] = [];
  readonly calls: { method: string; params: Params }[] = [];
  readonly answers: string[] = [];
  /** What can be fetched, by id; a stalled one is asked for and never comes. */
  readonly files = new Map<string, Buffer | "stalled">();
  fault: Fault = "none";
  /** The next sends are carried out, but the connection breaks before the response. */
  cutAfterSend = 0;
  /** What is refused, and how. */
  refuse: (method: string, chatId: string) => readonly [number, string, object?] | null = () => null;
  /** An answer in a form that is not Telegram's, in place of carrying a call out. */
  foreign: (method: string) => object | null = () => null;
  /** Chats where a bot may change what others posted. */
  readonly channels = new Set<string>();
  webhook: { url: string; secret: string } | null = null;
  /** What getWebhookInfo says beside the address. */
  webhookTrouble: { pending_update_count?: number; last_error_date?: number; last_error_message?: string } = {};
  readonly #options: FakeTelegramOptions;
  readonly #server;
  readonly #sockets = new Set<Socket>();
  readonly #sick = new WeakSet<Socket>();
  readonly #counters = new Map<string, number>();
  readonly #sends = new Map<string, number>();
  readonly #byId = new Map<string, FakeMessage>();
  #updates: Update[] = [];
  #nextUpdate = 1;
  #waiting: (() => void)[] = [];
  #polling: ServerResponse | undefined;
  #url = "";

  constructor(options: FakeTelegramOptions = {}) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  get url(): string {
    return this.#url;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  /** Updates that were not confirmed yet. */
  get unconfirmed(): number {
    return this.#updates.length;
  }

  #nextId(chatId: string): number {
    const scope = chatId.startsWith("-100") ? chatId : "account";
    const id = (this.#counters.get(scope) ?? 0) + 1;
    this.#counters.set(scope, id);
    return id;
  }

  #keep(message: FakeMessage): FakeMessage {
    this.messages.push(message);
    this.#byId.set(`${message.chatId}/${message.id}`, message);
    return message;
  }

  #push(update: { [kind: string]: unknown }): void {
    this.#updates.push({ update_id: this.#nextUpdate++, ...update });
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** A user sends a message. The chat id is the user id by default. */
  say(userId: number, text: string, more: { chat?: object; extra?: object } = {}): number {
    const chat = { id: userId, type: "private", ...more.chat } as { id: number };
    const id = this.#nextId(String(chat.id));
    const nothing = { markup: "null", deleted: false, silent: false, edits: 0 };
    this.#keep({ chatId: String(chat.id), id, fromBot: false, text, kind: "text", ...nothing });
    const from = { id: userId, is_bot: false, first_name: `User ${userId}` };
    this.#push({ message: { message_id: id, date: Math.floor(Date.now() / 1000), chat, from, text, ...more.extra } });
    return id;
  }

  /** A user edits a message. */
  edit(userId: number, id: number, text: string): void {
    const chat = { id: userId, type: "private" };
    const from = { id: userId, is_bot: false, first_name: `User ${userId}` };
    const date = Math.floor(Date.now() / 1000);
    this.#push({ edited_message: { message_id: id, date, edit_date: date, chat, from, text } });
  }

  /** Any other update. */
  update(update: { [kind: string]: unknown }): void {
    this.#push(update);
  }

  /** A negative chat number is a group. */
  press(userId: number, message: FakeMessage, data: string): void {
    const chat = { id: Number(message.chatId), type: message.chatId.startsWith("-") ? "group" : "private" };
    const from = { id: userId, is_bot: false, first_name: `User ${userId}` };
    const about = { message_id: message.id, date: 1, chat, text: message.text };
    this.#push({ callback_query: { id: `q${this.#nextUpdate}`, from, data, chat_instance: "1", message: about } });
  }

  /** The connection of the waiting poll ends without an answer; all others stay open. False when no poll is waiting. */
  resetPoll(): boolean {
    const polling = this.#polling;
    if (!polling || polling.destroyed) return false;
    polling.socket?.destroy();
    return true;
  }

  /** Messages of the bot that are on the screen. */
  fromBot(chatId?: number | string): FakeMessage[] {
    return this.messages.filter(
      (each) => each.fromBot && !each.deleted && (chatId === undefined || each.chatId === String(chatId)),
    );
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const url = request.url ?? "";
    if (url.startsWith("/file/")) {
      const file = this.files.get(url.split("/").at(-1) ?? "");
      if (file === "stalled") return;
      return void response.writeHead(file ? 200 : 404).end(file);
    }
    const [, token, method = ""] = /^\/bot([^/]+)\/(\w+)/.exec(url) ?? [];
    const params = await readParams(request);
    this.calls.push({ method, params });
    if (this.calls.length > 20_000) this.calls.splice(0, 10_000);
    if (this.#sick.has(socket)) return;
    if (this.fault === "half_open") {
      this.#sick.add(socket);
      return;
    }
    if (this.fault === "stall" && method === "getUpdates") return;
    if (this.fault === "refuse") return void socket.destroy();
    try {
      if (token !== TOKEN) throw new ApiError(401, "Unauthorized");
      const foreign = this.foreign(method);
      if (foreign) return this.#answer(response, 404, foreign);
      if (this.fault === "error") throw new ApiError(502, "Bad Gateway");
      const result = await this.#call(method, params, response);
      const shows = /^send/.test(method) && method !== "sendChatAction";
      const waitMs = (shows ? this.#options.sendMs : undefined) ?? this.#options.latencyMs;
      if (waitMs) await new Promise((resolve) => setTimeout(resolve, waitMs));
      if (shows && this.cutAfterSend > 0) {
        this.cutAfterSend -= 1;
        return void socket.destroy();
      }
      this.#answer(response, 200, { ok: true, result });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, message, parameters } = error;
      this.#answer(response, code, {
        ok: false,
        error_code: code,
        description: message,
        ...(parameters ? { parameters } : {}),
      });
    }
  }

  #answer(response: ServerResponse, status: number, body: unknown): void {
    const headers = { "content-type": "application/json" };
    if (!response.destroyed) response.writeHead(status, headers).end(JSON.stringify(body));
  }

  async #call(method: string, params: Params, response: ServerResponse): Promise<unknown> {
    if (method === "getMe") return { id: 123456, is_bot: true, first_name: "Hermes", username: "hermes_bot" };
    if (method === "getUpdates") return this.#poll(params, response);
    if (method === "deleteWebhook") {
      this.webhook = null;
      return true;
    }
    if (method === "setWebhook") {
      this.webhook = { url: String(params.url), secret: String(params.secret_token) };
      return true;
    }
    if (method === "getWebhookInfo")
      return { url: this.webhook?.url ?? "", pending_update_count: 0, ...this.webhookTrouble };
    if (method === "answerCallbackQuery") {
      this.answers.push(String(params.text ?? ""));
      return true;
    }
    if (["sendChatAction", "setMessageReaction", "setMyCommands"].includes(method)) return true;
    if (method === "getFile")
      return { file_id: params.file_id, file_unique_id: "u", file_path: `documents/${String(params.file_id)}` };
    if (method.startsWith("send")) return this.#send(method, params);
    if (method === "getChat") return this.#chat(String(params.chat_id));
    if (method === "editMessageText") return this.#edit(params, plain(String(params.text), params.parse_mode), "text");
    if (method === "editMessageCaption") return this.#edit(params, String(params.caption ?? ""), "caption");
    if (method === "editMessageReplyMarkup") return this.#edit(params, null);
    if (method === "deleteMessage") return this.#delete(params);
    throw new ApiError(404, "Not Found: method not found");
  }

  async #poll(params: Params, response: ServerResponse): Promise<unknown> {
    if (this.fault === "conflict" || (this.#polling && !this.#polling.destroyed && this.#polling !== response)) {
      const other = this.#polling;
      this.#polling = undefined;
      const description = "Conflict: terminated by other getUpdates request";
      if (this.fault !== "conflict" && other && !other.writableEnded)
        this.#answer(other, 409, { ok: false, error_code: 409, description });
      else
        throw new ApiError(
          409,
          "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
        );
    }
    this.#polling = response;
    const offset = Number(params.offset ?? 0);
    this.#updates = this.#updates.filter((update) => update.update_id >= offset);
    const waitMs = Math.min(Number(params.timeout ?? 0) * 1000, this.#options.pollMs ?? 50_000);
    if (this.#updates.length === 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        response.on("close", resolve);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    if (this.#polling === response) this.#polling = undefined;
    return this.#updates.slice(0, Number(params.limit ?? 100));
  }

  #flooded(chatId: string): void {
    const { flood } = this.#options;
    const count = (this.#sends.get(chatId) ?? 0) + 1;
    this.#sends.set(chatId, count);
    if (flood && count % flood.every === 0)
      throw new ApiError(429, `Too Many Requests: retry after ${flood.retryAfter}`, { retry_after: flood.retryAfter });
  }

  #send(method: string, params: Params): unknown {
    const chatId = String(params.chat_id);
    this.#flooded(chatId);
    const text =
      method === "sendMessage" ? plain(String(params.text), params.parse_mode) : String(params.caption ?? "");
    if (method === "sendMessage" && text.trim() === "") throw new ApiError(400, "Bad Request: message text is empty");
    if (text.length > 4096) throw new ApiError(400, "Bad Request: message is too long");
    const refused = this.refuse(method, chatId);
    if (refused) throw new ApiError(...refused);
    const reply = params.reply_parameters as { message_id?: number } | undefined;
    const id = this.#nextId(chatId);
    const message = this.#keep({
      chatId,
      id,
      fromBot: true,
      text,
      markup: JSON.stringify(params.reply_markup ?? null),
      deleted: false,
      kind: method.slice(4).toLowerCase(),
      silent: params.disable_notification === true,
      edits: 0,
      ...(reply?.message_id ? { replyTo: reply.message_id } : {}),
      ...(params.message_thread_id ? { thread: Number(params.message_thread_id) } : {}),
    });
    const given = params[method.slice(4).toLowerCase()];
    // The bytes of a file are in a separate part.
    const part = typeof given === "string" ? params[given.replace("attach://", "")] : given;
    const file = part as { bytes?: Buffer } | undefined;
    if (file?.bytes) this.files.set(`sent-${id}`, file.bytes);
    return { message_id: message.id, date: 1, chat: { id: Number(chatId), type: "private" }, text };
  }

  #own(params: Params): FakeMessage {
    const message = this.#byId.get(`${String(params.chat_id)}/${String(params.message_id)}`);
    if (!message || message.deleted) throw new ApiError(400, "Bad Request: message to edit not found");
    if (!message.fromBot && !this.channels.has(message.chatId))
      throw new ApiError(400, "Bad Request: message can't be edited");
    return message;
  }

  #chat(id: string): object {
    return {
      id: Number(id),
      type: this.channels.has(id) ? "channel" : id.startsWith("-100") ? "supergroup" : "private",
    };
  }

  #edit(params: Params, text: string | null, part?: "text" | "caption"): unknown {
    const message = this.#own(params);
    if (part && part !== (["message", "text"].includes(message.kind) ? "text" : "caption"))
      throw new ApiError(400, `Bad Request: there is no ${part} in the message to edit`);
    const markup = JSON.stringify(params.reply_markup ?? null);
    if (markup === message.markup && (text === null || text === message.text))
      throw new ApiError(
        400,
        "Bad Request: message is not modified: specified new message content and reply markup are exactly the same",
      );
    if (text !== null) this.#flooded(message.chatId);
    if (text !== null) message.text = text;
    message.markup = markup;
    message.edits += 1;
    return { message_id: message.id, date: 1, chat: { id: Number(message.chatId), type: "private" } };
  }

  #delete(params: Params): true {
    const message = this.#byId.get(`${params.chat_id}/${params.message_id}`);
    if (!message || message.deleted) throw new ApiError(400, "Bad Request: message to delete not found");
    message.deleted = true;
    return true;
  }

  /** Resolves when the condition holds; rejects after `ms`. */
  async until(condition: () => boolean, ms = 40_000): Promise<void> {
    await until(condition, { timeoutMs: ms, everyMs: 10 });
  }

  async close(): Promise<void> {
    for (const wake of this.#waiting.splice(0)) wake();
    this.#server.closeAllConnections();
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
