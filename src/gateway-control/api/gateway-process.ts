// The gateway process seen from other processes: is it running, stop it, start it in the background.
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Config } from "../../core/config/config.ts";
import type { Home } from "../../core/home.ts";
import { askGateway } from "./control-socket.ts";
import type { GatewayLocks } from "./locks.ts";

const POLL_MS = 100;

const pause = () => new Promise((resolve) => setTimeout(resolve, POLL_MS));

/** Decided by the lock, not by a file with a process id. Where the lock cannot be tried, asks the gateway itself. */
export async function isGatewayRunning(home: Home, locks: GatewayLocks): Promise<boolean> {
  if (!existsSync(join(home.path, "gateway.lock.db"))) return false;
  try {
    const lock = await locks.gateway();
    lock?.release();
    return lock === null;
  } catch {
    return (await askGateway(home, "status")) !== null;
  }
}

async function findParent(pid: number): Promise<number> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "ppid=", "-p", String(pid)]);
    return Number(stdout);
  } catch {
    // Small systems have no ps. Without /proc the parent is unknown.
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    return Number(/^.*\) \S+ (\d+)/s.exec(stat)?.[1] ?? 0);
  }
}

/** True when a turn of the running gateway started this process: then it must not wait for the end of that turn. */
export async function isInsideGateway(home: Home): Promise<boolean> {
  const gateway = Number((await askGateway(home, "status"))?.pid ?? 0);
  if (gateway === 0) return false;
  for (let pid = process.ppid; pid > 1; pid = await findParent(pid)) if (pid === gateway) return true;
  return false;
}

/** How long a stop may take: the gateway finishes running turns, then closes everything. */
export function stopSeconds(config: Pick<Config, "agent">): number {
  return config.agent.restart_drain_timeout + 30;
}

/** Waits until the lock is free; false when it is still held after `ms`. */
export async function waitUntilStopped(home: Home, locks: GatewayLocks, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (await isGatewayRunning(home, locks)) {
    if (Date.now() > deadline) return false;
    await pause();
  }
  return true;
}

/**
 * Asks the running gateway to stop and retries until it answers: during start-up it holds the lock before it listens. False
 * when it does not answer within `ms`.
 */
export async function askToStop(home: Home, locks: GatewayLocks, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while ((await askGateway(home, "stop")) === null) {
    if (!(await isGatewayRunning(home, locks))) return true;
    if (Date.now() > deadline) return false;
    await pause();
  }
  return true;
}

/** Set for a gateway that runs in the background without a terminal or a service manager. */
const DETACHED = "HERMES_GATEWAY_DETACHED";

export function isDetached(home: Home): boolean {
  return home.env[DETACHED] !== undefined;
}

export interface Detached {
  /** What the process wrote to stderr; resolves when the process has ended. */
  readonly ended: Promise<string>;
}

/**
 * Starts the gateway in the background, detached from this terminal. It logs to `logs/gateway.log`; errors from before the
 * log is open are in `logs/gateway-errors.log`.
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
