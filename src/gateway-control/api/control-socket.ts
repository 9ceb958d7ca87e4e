// The control socket: the gateway answers one-line requests of other processes of the same user.
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { chmod, rm } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Home } from "../../core/home.ts";
import type { JsonObject } from "../../core/message.ts";
import { errorMessage } from "../../lib/error-message.ts";

const MAX_SOCKET_PATH = 100;
const ANSWER_MS = 5_000;
const MAX_REQUEST = 4_000_000;

type SocketHome = Pick<Home, "path">;

/** A Unix socket in the home, or in the temporary folder when the home's path is too long for a socket. */
export function controlPath(home: SocketHome): string {
  const path = join(home.path, "gateway.sock");
  if (path.length <= MAX_SOCKET_PATH) return path;
  return join(tmpdir(), `hermes-${createHash("sha256").update(home.path).digest("hex").slice(0, 16)}.sock`);
}

export interface ControlHandlers {
  status(): Promise<object>;
  stop(): void;
  restart(): void;
  /** Sends a message through the gateway's outbox; the answer has `problem` when it cannot be sent. */
  deliver(request: JsonObject): Promise<object>;
  /** Starts a scheduled job now; the answer has the number of the `run`, or the `problem`. */
  runJob(id: string): Promise<object>;
  /** Reads the configuration again; the answer has `changed`, and `problem` when it cannot be used. */
  reload(): Promise<object>;
}

async function answer(line: string, handlers: ControlHandlers): Promise<object> {
  const [word = "", ...rest] = line.split(" ");
  if (word === "status") return handlers.status();
  if (word === "deliver") return handlers.deliver(JSON.parse(rest.join(" ")) as JsonObject);
  if (word === "run-job") return handlers.runJob(rest.join(" "));
  if (word === "reload") return handlers.reload();
  if (word === "stop") handlers.stop();
  else if (word === "restart") handlers.restart();
  else return { error: `unknown request ${word}` };
  return { ok: true };
}

/** Listens for requests. Only the holder of the gateway lock may call this: it replaces an existing socket file. */
export async function serveControl(home: SocketHome, handlers: ControlHandlers): Promise<{ close(): Promise<void> }> {
  const path = controlPath(home);
  await rm(path, { force: true });
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    let line = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      line += chunk;
      if (line.length > MAX_REQUEST) return socket.destroy();
      if (!line.endsWith("\n")) return;
      answer(line.trim(), handlers).then(
        (value) => socket.end(`${JSON.stringify(value)}\n`),
        (error: unknown) => socket.end(`${JSON.stringify({ error: errorMessage(error) })}\n`),
      );
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  await chmod(path, 0o600);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

/** Every user can write to the temporary folder: a socket there is trusted only when the owner of the home owns it. */
function isTrusted(home: SocketHome): boolean {
  const path = controlPath(home);
  const socket = statSync(path, { throwIfNoEntry: false });
  return socket !== undefined && (path.startsWith(home.path) || socket.uid === statSync(home.path).uid);
}

/** The running gateway's answer; null when none answers within `waitMs`. */
export function askGateway(
  home: SocketHome,
  request: "status" | "stop" | "restart" | "reload" | `deliver ${string}` | `run-job ${string}`,
  waitMs: number = ANSWER_MS,
): Promise<JsonObject | null> {
  if (!isTrusted(home)) return Promise.resolve(null);
  return new Promise((resolve) => {
    const socket = createConnection(controlPath(home));
    let text = "";
    const timer = setTimeout(() => socket.destroy(), waitMs);
    socket.on("connect", () => socket.write(`${request}\n`));
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearTimeout(timer);
      try {
        resolve(JSON.parse(text) as JsonObject);
      } catch {
        // No process listens, or it ended while answering.
        resolve(null);
      }
    });
  });
}
