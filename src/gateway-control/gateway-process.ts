// What `hermes gateway …` does from outside: find the running gateway, ask it, stop it, install it as a service.
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { chmod, mkdir, open, readFile, rm } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Home } from "../core/home.ts";
import type { JsonObject } from "../core/message.ts";
import { privateDatabase } from "../home/home-layout.ts";
import { atomicWrite } from "../lib/atomic-write.ts";

/** Exit codes of `hermes gateway run`; 75 asks a service manager to start it again. */
export const EXIT = { ok: 0, failed: 1, alreadyRunning: 3, restart: 75 } as const;

const MAX_SOCKET_PATH = 100;
const ANSWER_MS = 5_000;
const MAX_REQUEST = 4_000_000;

export interface GatewayLock {
  release(): void;
}

function lockPath(home: Home): string {
  return join(home.path, "gateway.lock");
}

/** Held by the kernel for as long as the process lives; null when another gateway has it. */
export async function lockGateway(home: Home): Promise<GatewayLock | null> {
  const { takeKernelLock } = await import("../store/runtime/leases.ts");
  privateDatabase(home, "gateway.lock.db");
  return takeKernelLock(lockPath(home));
}

/**
 * The right to send what stands in the outbox: the gateway has it while it runs, other programs for a moment. Null when
 * somebody else still has it after `waitMs`. A process holds it once at a time.
 */
export async function lockOutbox(home: Home, waitMs = 0): Promise<GatewayLock | null> {
  const { takeKernelLock } = await import("../store/runtime/leases.ts");
  const deadline = Date.now() + waitMs;
  privateDatabase(home, "outbox.lock.db");
  for (;;) {
    const lock = takeKernelLock(join(home.path, "outbox.lock"));
    if (lock || Date.now() >= deadline) return lock;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The lock decides, not a file with a number in it. Where the lock cannot be tried, the gateway itself is asked. */
export async function isGatewayRunning(home: Home): Promise<boolean> {
  if (!existsSync(`${lockPath(home)}.db`)) return false;
  try {
    const lock = await lockGateway(home);
    lock?.release();
    return lock === null;
  } catch {
    return (await askGateway(home, "status")) !== null;
  }
}

/** A Unix socket in the home; in the temporary folder where the home's path is too long for one. */
export function controlPath(home: Home): string {
  const path = join(home.path, "gateway.sock");
  if (path.length <= MAX_SOCKET_PATH) return path;
  return join(tmpdir(), `hermes-${createHash("sha256").update(home.path).digest("hex").slice(0, 16)}.sock`);
}

export interface ControlHandlers {
  status(): Promise<object>;
  stop(): void;
  restart(): void;
  /** Sends a message through the gateway's outbox; answers with `problem` when it cannot be sent. */
  deliver(request: JsonObject): Promise<object>;
  /** Starts a scheduled job now; answers with the number of the `run`, or with the `problem`. */
  runJob(id: string): Promise<object>;
}

async function answer(line: string, handlers: ControlHandlers): Promise<object> {
  const [word = "", ...rest] = line.split(" ");
  if (word === "status") return handlers.status();
  if (word === "deliver") return handlers.deliver(JSON.parse(rest.join(" ")) as JsonObject);
  if (word === "run-job") return handlers.runJob(rest.join(" "));
  if (word === "stop") handlers.stop();
  else if (word === "restart") handlers.restart();
  else return { error: `unknown request ${word}` };
  return { ok: true };
}

/** Answers one-line requests. Only the holder of the lock may call this: an old socket file is replaced. */
export async function serveControl(home: Home, handlers: ControlHandlers): Promise<{ close(): Promise<void> }> {
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
        (error: unknown) =>
          socket.end(`${JSON.stringify({ error: error instanceof Error ? error.message : String(error) })}\n`),
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

/** The temporary folder is open to everybody: a socket there counts only when it is of the one who owns the home. */
function isOwn(home: Home): boolean {
  const path = controlPath(home);
  const socket = statSync(path, { throwIfNoEntry: false });
  return socket !== undefined && (path.startsWith(home.path) || socket.uid === statSync(home.path).uid);
}

/** The running gateway's answer; null when none answers. */
export function askGateway(
  home: Home,
  request: "status" | "stop" | "restart" | `deliver ${string}` | `run-job ${string}`,
  waitMs: number = ANSWER_MS,
): Promise<JsonObject | null> {
  if (!isOwn(home)) return Promise.resolve(null);
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
        // Nobody there, or it died while answering.
        resolve(null);
      }
    });
  });
}

/** `gateway_state.json`, for programs that read the file of v0.14. */
export async function writeState(home: Home, status: object): Promise<void> {
  const { state, platforms, activeTurns } = status as {
    state?: string | undefined;
    platforms?: readonly { name: string; state: string; reason: string | null }[] | undefined;
    activeTurns?: number | undefined;
  };
  const words: { readonly [state: string]: string } = {
    ok: "connected",
    degraded: "connected",
    red: "retrying",
    stopped: "disconnected",
  };
  const now = new Date().toISOString();
  const listed = (platforms ?? []).map((each) => [
    each.name,
    { state: words[each.state] ?? each.state, error_code: null, error_message: each.reason, updated_at: now },
  ]);
  const file = {
    gateway_state: state ?? "stopped",
    exit_reason: null,
    restart_requested: false,
    active_agents: activeTurns ?? 0,
    platforms: Object.fromEntries(listed) as object,
    pid: process.pid,
    updated_at: now,
  };
  await atomicWrite(join(home.path, "gateway_state.json"), `${JSON.stringify(file, null, 2)}\n`, 0o600);
}

async function parentOf(pid: number): Promise<number> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "ppid=", "-p", String(pid)]);
    return Number(stdout);
  } catch {
    // Small systems have no ps; where there is no /proc either, nobody is known to be our parent.
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    return Number(/^.*\) \S+ (\d+)/s.exec(stat)?.[1] ?? 0);
  }
}

/** True when a turn of the running gateway started this program: then it must not wait for the end of that turn. */
export async function isInsideGateway(home: Home): Promise<boolean> {
  const gateway = Number((await askGateway(home, "status"))?.pid ?? 0);
  if (gateway === 0) return false;
  for (let pid = process.ppid; pid > 1; pid = await parentOf(pid)) if (pid === gateway) return true;
  return false;
}

/** How long a stop may take: running turns are finished, then everything is closed. */
export async function stopSeconds(home: Home): Promise<number> {
  const { loadConfig } = await import("../config/load.ts");
  const { config } = await loadConfig({ home });
  return config.agent.restart_drain_timeout + 30;
}

/** Waits until the lock is free; false when it is still held after `ms`. */
export async function waitUntilStopped(home: Home, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (await isGatewayRunning(home)) {
    if (Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return true;
}

/**
 * Asks the running gateway to stop, until it is heard: one that is just starting holds the lock before it listens. False
 * when it does not answer within `ms`.
 */
export async function askToStop(home: Home, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while ((await askGateway(home, "stop")) === null) {
    if (!(await isGatewayRunning(home))) return true;
    if (Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return true;
}

/** Set for a gateway that runs in the background by itself, without a terminal or a service manager. */
const DETACHED = "HERMES_GATEWAY_DETACHED";

export function isDetached(home: Home): boolean {
  return home.env[DETACHED] !== undefined;
}

export interface Detached {
  /** What it said before it ended; pending while it runs. */
  readonly ended: Promise<string>;
}

/**
 * Starts the gateway in the background, detached from this terminal. Its log is `logs/gateway.log`; what a program says that
 * cannot even log stands in `logs/gateway-errors.log`.
 */
export async function startDetached(home: Home, program: readonly string[]): Promise<Detached> {
  const logs = join(home.path, "logs");
  await mkdir(logs, { recursive: true, mode: 0o700 });
  const [command = process.execPath, ...args] = program;
  const path = join(logs, "gateway-errors.log");
  const errors = await open(path, "w", 0o600);
  try {
    const child = spawn(command, [...args, "gateway", "run"], {
      cwd: home.path,
      env: { ...home.env, [DETACHED]: "1" },
      detached: true,
      stdio: ["ignore", "ignore", errors.fd],
    });
    child.unref();
    const exit = new Promise<void>((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", () => resolve());
    });
    return { ended: exit.then(() => readFile(path, "utf8")) };
  } finally {
    await errors.close();
  }
}
