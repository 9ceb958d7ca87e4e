// The server for tool calls of a script: a Unix socket with a token that only the script has, one call at a time.
import { timingSafeEqual } from "node:crypto";
import { chmodSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import type { JsonObject } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import type { ToolResult } from "../../core/tool/tool.ts";
import { scriptArguments } from "./script-tools.ts";

const MAX_REQUEST_BYTES = 32 * 1024 * 1024;
const NEWLINE = 10;

export interface ToolServerOptions {
  readonly socketPath: string;
  /** Required in every request. */
  readonly token: string;
  readonly allowed: readonly string[];
  readonly maxCalls: number;
  /** `number` counts the calls of this run from 1. Never throws. */
  call(name: string, args: JsonObject, number: number): Promise<ToolResult>;
}

interface Request {
  readonly tool: string;
  readonly args: JsonObject;
}

function sameToken(given: unknown, token: string): boolean {
  if (typeof given !== "string") return false;
  const a = Buffer.from(given);
  const b = Buffer.from(token);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The request, or a problem with it. Null when the token is wrong or missing. */
function readRequest(line: Buffer, token: string): Request | string | null {
  let value: { token?: unknown; tool?: unknown; args?: unknown } | null;
  try {
    value = JSON.parse(line.toString("utf8"));
  } catch {
    return null;
  }
  if (value === null || typeof value !== "object" || !sameToken(value.token, token)) return null;
  const { tool, args = {} } = value;
  if (typeof tool !== "string") return "a call needs the name of a tool";
  if (args === null || typeof args !== "object" || Array.isArray(args)) return `the arguments of ${tool} must be named`;
  return { tool, args: args as JsonObject };
}

export class ToolServer {
  readonly #options: ToolServerOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** The end of the queue: calls of all connections run one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #calls = 0;
  #closed = false;

  private constructor(options: ToolServerOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async listen(options: ToolServerOptions): Promise<ToolServer> {
    const server = new ToolServer(options);
    await new Promise<void>((resolve, reject) => {
      server.#server.once("error", reject);
      server.#server.listen(options.socketPath, resolve);
    });
    chmodSync(options.socketPath, 0o600);
    return server;
  }

  /** Calls that reached a tool. */
  get calls(): number {
    return this.#calls;
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    // A killed script resets the connection; its end is handled by the caller.
    socket.on("error", () => socket.destroy());
    let pieces: Buffer[] = [];
    let size = 0;
    socket.on("data", (chunk: Buffer) => {
      let rest = chunk;
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
        const line = Buffer.concat([...pieces, rest.subarray(0, end)]);
        pieces = [];
        size = 0;
        rest = rest.subarray(end + 1);
        this.#last = this.#last.then(() => this.#serve(socket, line));
      }
      size += rest.length;
      if (size > MAX_REQUEST_BYTES) socket.destroy();
      else if (rest.length > 0) pieces.push(rest);
    });
  }

  async #serve(socket: Socket, line: Buffer): Promise<void> {
    if (this.#closed || socket.destroyed) return;
    const request = readRequest(line, this.#options.token);
    if (request === null) {
      socket.destroy();
      return;
    }
    const response = typeof request === "string" ? { ok: false, error: request } : await this.#callTool(request);
    if (!socket.destroyed) socket.write(`${JSON.stringify(response)}\n`);
  }

  async #callTool({ tool, args }: Request): Promise<JsonObject> {
    const { allowed, maxCalls, call } = this.#options;
    if (!allowed.includes(tool))
      return { ok: false, error: `a script cannot call ${tool}; it can call ${allowed.join(", ") || "no tool"}` };
    if (this.#calls >= maxCalls)
      return {
        ok: false,
        error: `the limit of ${maxCalls} tool calls in one script is reached; do less in one script`,
      };
    this.#calls++;
    const result = await call(tool, scriptArguments(tool, args) as JsonObject, this.#calls);
    return { ok: true, content: contentText(result.content) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
