// A small Discord on loopback: the REST routes and the gateway socket that a bot uses, with sessions that can be resumed.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

export interface DiscordCall {
  readonly method: string;
  /** Without `/v10`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: { readonly [key: string]: unknown };
  /** Names of the files of a multipart request. */
  readonly files: readonly string[];
}

interface Session {
  readonly id: string;
  readonly events: { readonly t: string; readonly s: number; readonly d: unknown }[];
  socket: WebSocket | undefined;
}

export interface FakeDiscord {
  /** The value for DISCORD_API_ROOT. */
  readonly url: string;
  readonly token: string;
  readonly botId: string;
  readonly calls: readonly DiscordCall[];
  /** Sign-ins that arrived: `identify` or `resume:<sequence>`. */
  readonly logins: readonly string[];
  /** Messages by id, as the bot left them. */
  readonly messages: ReadonlyMap<string, { readonly [key: string]: unknown }>;
  heartbeats: number;
  /** No heartbeat is answered while this is false. */
  answerHeartbeats: boolean;
  addChannel(channel: { id: string; type: number; [key: string]: unknown }): void;
  addMember(userId: string, roles: readonly string[]): void;
  /** Sends an event to the bot, or keeps it until the bot resumes. */
  dispatch(type: string, data: unknown): void;
  say(channelId: string, content: string, more?: { [key: string]: unknown }): string;
  /** Answers the next matching REST calls in another way. */
  failNext(match: RegExp, status: number, body?: unknown, headers?: { [name: string]: string }): void;
  /** Cuts the socket without a close frame. */
  cut(): void;
  /** Tells the bot to reconnect (op 7). */
  askReconnect(): void;
  /** Forgets sessions: the next resume is refused. */
  forgetSessions(): void;
  close(): Promise<void>;
}

const TOKEN = "MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde.abcdefghijklmnopqrstuvwxyz0123456789";
const BOT = {
  id: "900000000000000001",
  username: "hermes",
  discriminator: "0",
  global_name: "Hermes",
  avatar: null,
  bot: true,
};

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function parse(request: IncomingMessage, raw: Buffer): Pick<DiscordCall, "body" | "files"> {
  const text = raw.toString("latin1");
  if (!request.headers["content-type"]?.includes("multipart/form-data"))
    return { body: raw.length > 0 ? JSON.parse(raw.toString("utf8")) : {}, files: [] };
  const files = [...text.matchAll(/filename="([^"]*)"/g)].map((match) => match[1] ?? "");
  const json = /name="payload_json"\r\n(?:[^\r]+\r\n)*\r\n([\s\S]*?)\r\n--/.exec(text)?.[1] ?? "{}";
  return { body: JSON.parse(Buffer.from(json, "latin1").toString("utf8")), files };
}

interface Planned {
  readonly match: RegExp;
  readonly status: number;
  readonly body: unknown;
  readonly headers: { readonly [name: string]: string };
}

class Discord {
  readonly calls: DiscordCall[] = [];
  readonly logins: string[] = [];
  readonly messages = new Map<string, { [key: string]: unknown }>();
  readonly channels = new Map<string, { id: string; type: number; [key: string]: unknown }>();
  readonly members = new Map<string, readonly string[]>();
  readonly planned: Planned[] = [];
  readonly nonces = new Map<string, string>();
  sessions: Session[] = [];
  heartbeats = 0;
  answerHeartbeats = true;
  port = 0;
  #next = 1_000_000_000_000_000_000n;

  readonly heartbeatMs: number;

  constructor(heartbeatMs: number) {
    this.heartbeatMs = heartbeatMs;
  }

  newId(): string {
    // Ids grow with time, as Discord's do.
    const now = (BigInt(Date.now()) - 1_420_070_400_000n) << 22n;
    this.#next = now > this.#next ? now : this.#next + 1n;
    return String(this.#next);
  }

  serve(method: string, path: string, call: DiscordCall): [number, unknown] {
    if (method === "GET" && path === "/gateway/bot")
      return [
        200,
        {
          url: `ws://127.0.0.1:${this.port}`,
          shards: 1,
          session_start_limit: { total: 1000, remaining: 1000, reset_after: 0, max_concurrency: 1 },
        },
      ];
    if (method === "GET" && path === "/users/@me") return [200, BOT];
    if (method === "GET" && path === "/applications/@me") return [200, { id: "800000000000000001" }];
    const member = /^\/guilds\/\d+\/members\/(\d+)$/.exec(path);
    if (member) {
      const roles = this.members.get(member[1] ?? "");
      return roles ? [200, { roles }] : [404, { code: 10_007, message: "Unknown Member" }];
    }
    const guilds = [...new Set([...this.channels.values()].map((channel) => String(channel.guild_id)))];
    if (path === "/users/@me/guilds") return [200, guilds.map((id) => ({ id, name: `Server ${id}` }))];
    const listed = /^\/guilds\/(\d+)\/channels$/.exec(path);
    if (listed) return [200, [...this.channels.values()].filter((channel) => channel.guild_id === listed[1])];
    const channel = /^\/channels\/(\d+)(.*)$/.exec(path);
    if (channel) return this.#inChannel(method, channel[1] ?? "", channel[2] ?? "", call);
    return [200, {}];
  }

  #inChannel(method: string, channelId: string, rest: string, call: DiscordCall): [number, unknown] {
    if (rest === "" && method === "GET") {
      const channel = this.channels.get(channelId);
      return channel ? [200, channel] : [404, { code: 10_003, message: "Unknown Channel" }];
    }
    if (rest === "/messages" && method === "POST") return [200, this.#create(channelId, call)];
    if (rest === "/messages" && method === "GET") {
      const before = BigInt(call.query.get("before") ?? "9223372036854775807");
      const after = BigInt(call.query.get("after") ?? "0");
      const limit = Number(call.query.get("limit") ?? 50);
      const here = [...this.messages.values()].filter((message) => message.channel_id === channelId);
      const found = here.filter(({ id }) => BigInt(String(id)) < before && BigInt(String(id)) > after);
      // After an id come the next ones, else the newest; the newest of them first.
      return [200, (call.query.has("after") ? found.slice(0, limit) : found.slice(-limit)).reverse()];
    }
    const one = /^\/messages\/(\d+)(.*)$/.exec(rest);
    const message = this.messages.get(one?.[1] ?? "");
    if (one?.[2] === "/threads") {
      const id = one[1] ?? "";
      if (this.channels.has(id)) return [400, { code: 160_004, message: "A thread has already been created" }];
      const thread = { id, type: 11, parent_id: channelId, name: call.body.name };
      this.channels.set(id, thread);
      return [201, thread];
    }
    if (one?.[2]?.startsWith("/reactions")) return [204, null];
    if (method === "PATCH" && message) {
      Object.assign(message, call.body);
      return [200, message];
    }
    if (method === "DELETE" && one)
      return this.messages.delete(one[1] ?? "") ? [204, null] : [404, { code: 10_008, message: "Unknown Message" }];
    return [200, {}];
  }

  #create(channelId: string, call: DiscordCall): unknown {
    const { nonce, enforce_nonce: enforce } = call.body;
    const known = enforce ? this.nonces.get(String(nonce)) : undefined;
    if (known) return this.messages.get(known);
    const id = this.newId();
    const attachments = call.files.map((filename) => ({ id: this.newId(), filename, size: 1, url: "" }));
    const message = { content: "", ...call.body, id, channel_id: channelId, author: BOT, attachments, mentions: [] };
    this.messages.set(id, message);
    if (nonce) this.nonces.set(String(nonce), id);
    return message;
  }

  accept(socket: WebSocket): void {
    const send = (payload: unknown) => socket.send(JSON.stringify(payload));
    send({ op: 10, d: { heartbeat_interval: this.heartbeatMs } });
    socket.on("message", (raw) => {
      const { op, d } = JSON.parse(String(raw)) as { op: number; d: { [key: string]: unknown } };
      if (op === 1) {
        this.heartbeats += 1;
        if (this.answerHeartbeats) send({ op: 11 });
      }
      if (op === 2) this.#identify(socket, d);
      if (op === 6) this.#resume(socket, d);
    });
  }

  #identify(socket: WebSocket, d: { [key: string]: unknown }): void {
    if (d.token !== TOKEN) {
      socket.close(4004, "Authentication failed");
      return;
    }
    this.logins.push("identify");
    const session: Session = { id: `session-${this.sessions.length}-${Date.now()}`, events: [], socket };
    this.sessions.push(session);
    this.push(session, "READY", {
      v: 10,
      user: BOT,
      guilds: [],
      session_id: session.id,
      resume_gateway_url: `ws://127.0.0.1:${this.port}`,
      application: { id: "800000000000000001", flags: 0 },
    });
  }

  #resume(socket: WebSocket, d: { [key: string]: unknown }): void {
    this.logins.push(`resume:${d.seq}`);
    const session = this.sessions.find(({ id }) => id === d.session_id);
    if (!session) {
      socket.send(JSON.stringify({ op: 9, d: false }));
      return;
    }
    session.socket = socket;
    for (const event of session.events) if (event.s > Number(d.seq)) socket.send(JSON.stringify({ op: 0, ...event }));
    this.push(session, "RESUMED", {});
  }

  push(session: Session, t: string, d: unknown): void {
    const event = { t, s: session.events.length + 1, d };
    session.events.push(event);
    session.socket?.send(JSON.stringify({ op: 0, ...event }));
  }
}

async function answer(discord: Discord, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const raw = await readAll(request);
  const method = request.method ?? "GET";
  const path = (request.url ?? "").replace(/^\/v10/, "").split("?")[0] ?? "";
  if (path.startsWith("/files/")) return void response.end(`bytes of ${path}`);
  const { searchParams: query } = new URL(request.url ?? "", "http://x");
  const call: DiscordCall = { method, path, query, ...parse(request, raw) };
  discord.calls.push(call);
  const send = (status: number, body: unknown, headers: { readonly [name: string]: string } = {}) => {
    if (body === null) return void response.writeHead(status, headers).end();
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
  const open = path.startsWith("/interactions/") || path.startsWith("/webhooks/");
  if (!open && request.headers.authorization !== `Bot ${TOKEN}`)
    return send(401, { message: "401: Unauthorized", code: 0 });
  const index = discord.planned.findIndex(({ match }) => match.test(`${method} ${path}`));
  const plan = index < 0 ? undefined : discord.planned.splice(index, 1)[0];
  if (plan?.status === 0) return void request.socket.destroy();
  if (plan) return send(plan.status, plan.body, plan.headers);
  const [status, body] = discord.serve(method, path, call);
  send(status, body);
}

export async function startFakeDiscord(options: { heartbeatMs?: number } = {}): Promise<FakeDiscord> {
  const discord = new Discord(options.heartbeatMs ?? 40_000);
  const server = createServer((request, response) => void answer(discord, request, response));
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => discord.accept(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  discord.port = (server.address() as AddressInfo).port;
  const newest = () => discord.sessions.at(-1);
  const dispatch = (type: string, data: unknown) => {
    const session = newest();
    if (session) discord.push(session, type, data);
  };
  return {
    url: `http://127.0.0.1:${discord.port}`,
    token: TOKEN,
    botId: BOT.id,
    calls: discord.calls,
    logins: discord.logins,
    messages: discord.messages,
    get heartbeats() {
      return discord.heartbeats;
    },
    set heartbeats(value) {
      discord.heartbeats = value;
    },
    get answerHeartbeats() {
      return discord.answerHeartbeats;
    },
    set answerHeartbeats(value) {
      discord.answerHeartbeats = value;
    },
    addChannel: (channel) => void discord.channels.set(channel.id, channel),
    addMember: (userId, roles) => void discord.members.set(userId, roles),
    dispatch,
    say: (channelId, content, more = {}) => {
      const id = discord.newId();
      const author = { id: "500", username: "ada", global_name: "Ada", discriminator: "0", avatar: null };
      const mentioned = [...content.matchAll(/<@(\d+)>/g)].map((match) => ({
        ...BOT,
        id: match[1],
        bot: match[1] === BOT.id,
      }));
      const message = {
        id,
        channel_id: channelId,
        type: 0,
        content,
        author,
        timestamp: new Date().toISOString(),
        edited_timestamp: null,
        mentions: mentioned,
        attachments: [],
        ...more,
      };
      discord.messages.set(id, { ...message });
      dispatch("MESSAGE_CREATE", message);
      return id;
    },
    failNext: (match, status, body = { message: "planned", code: 0 }, headers = {}) =>
      void discord.planned.push({ match, status, body, headers }),
    cut: () => {
      newest()?.socket?.terminate();
      const session = newest();
      if (session) session.socket = undefined;
    },
    askReconnect: () => newest()?.socket?.send(JSON.stringify({ op: 7, d: null })),
    forgetSessions: () => {
      discord.sessions = [];
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets.clients) socket.terminate();
        sockets.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
