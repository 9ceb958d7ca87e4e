// The gateway process: locks, log, control socket, signals and exit code.
import { appendFile, mkdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { openGatewayLocks } from "../../app/open-delivery.ts";
import { type OpenedGateway, openGateway } from "../../app/open-gateway.ts";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import type { DeliveryMessage, DeliveryTarget } from "../../core/job.ts";
import { serveControl } from "../../gateway-control/api/control-socket.ts";
import { EXIT } from "../../gateway-control/api/exit-codes.ts";
import { type GatewayLocks, type HomeLock, waitForOutbox } from "../../gateway-control/api/locks.ts";
import { writeState } from "../../gateway-control/api/state-file.ts";
import { Gateway } from "./gateway.ts";

const LOG_BYTES = 5_000_000;
const LOCK_ROUNDS = 10;
/** Other processes hold the outbox for two minutes at most. */
const OUTBOX_WAIT_MS = 150_000;

export interface RunOptions {
  /** Prints a line in the terminal. */
  out(text: string): void;
  readonly verbose?: boolean | undefined;
}

type Level = "info" | "warning" | "error";

/** Writes lines in order and in the background; rotates the file when it is large. */
class LogFile {
  readonly #path: string;
  #work: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  write(line: string): void {
    this.#work = this.#work.then(() => this.#append(line)).catch(() => undefined);
  }

  async #append(line: string): Promise<void> {
    await mkdir(join(this.#path, ".."), { recursive: true, mode: 0o700 });
    const info = await stat(this.#path).catch(() => null);
    if (info && info.size > LOG_BYTES) await rename(this.#path, `${this.#path}.1`);
    await appendFile(this.#path, `${line}\n`, { mode: 0o600 });
  }

  flush(): Promise<void> {
    return this.#work;
  }
}

interface ShutdownReason {
  readonly code: number;
  readonly reason: string;
}

/** Resolves when the process should end: by a signal, the control socket or a chat command. */
class ShutdownRequest {
  readonly requested: Promise<ShutdownReason>;
  #resolve: (ending: ShutdownReason) => void = () => undefined;

  constructor() {
    this.requested = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    process.once("SIGINT", () => this.end(EXIT.ok, "interrupted"));
    process.once("SIGTERM", () => this.end(EXIT.ok, "SIGTERM"));
    process.once("SIGUSR1", () => this.end(EXIT.restart, "restart"));
  }

  end(code: number, reason: string): void {
    this.#resolve({ code, reason });
  }
}

/** Retries: a process that checks whether a gateway runs holds the lock for a moment. */
async function lockWithRetry(locks: GatewayLocks): Promise<HomeLock | null> {
  for (let round = 1; ; round++) {
    const lock = await locks.gateway();
    if (lock || round === LOCK_ROUNDS) return lock;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Both locks of the home as one, or the exit code when one of them cannot be taken. */
async function takeLocks(home: Home, { out }: RunOptions): Promise<HomeLock | { readonly code: number }> {
  const locks = openGatewayLocks(home);
  const lock = await lockWithRetry(locks);
  if (!lock) {
    out("A gateway is already running for this home. See: hermes gateway status");
    return { code: EXIT.alreadyRunning };
  }
  let outbox = await waitForOutbox(locks, 1_000);
  if (!outbox) {
    out("Another process of this home is sending messages; the gateway starts afterwards.");
    outbox = await waitForOutbox(locks, OUTBOX_WAIT_MS);
  }
  const release = () => {
    outbox?.release();
    lock.release();
  };
  if (outbox) return { release };
  release();
  out("Another process of this home is still sending messages; try again.");
  return { code: EXIT.failed };
}

interface Logged {
  readonly opened: OpenedGateway;
  log(level: Level, text: string): void;
}

/** Notices from start-up are logged later, when the secrets to redact are known. */
async function openLogged(home: Home, file: LogFile, options: RunOptions): Promise<Logged> {
  const early: string[] = [];
  let notice = (text: string): void => void early.push(text);
  const opened = await openGateway(home, { onNotice: (text) => notice(text) });
  const log = (level: Level, text: string): void => {
    const line = opened.app.redact(`${new Date().toISOString()} ${level} ${text}`);
    file.write(line);
    if (options.verbose || level !== "info") options.out(line);
  };
  notice = (text) => log("warning", text);
  for (const text of early) notice(text);
  return { opened, log };
}

/** Runs until stopped. Returns an exit code of `EXIT`. */
export async function runGateway(home: Home, options: RunOptions): Promise<number> {
  const lock = await takeLocks(home, options);
  if ("code" in lock) return lock.code;
  const file = new LogFile(join(home.path, "logs", "gateway.log"));
  const shutdown = new ShutdownRequest();
  const { opened, log } = await openLogged(home, file, options);
  const gateway = new Gateway(opened, {
    log,
    changed: () =>
      void gateway
        .status()
        .then((status) => writeState(home.path, status))
        .catch(() => undefined),
    restart: () => shutdown.end(EXIT.restart, "restart"),
  });
  // Requests wait for the start: before it no platform is known.
  let ready: () => void = () => undefined;
  const started = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const control = await serveControl(home, {
    status: async () => ({ ...(await gateway.status()), pid: process.pid, cron: ticker?.health ?? null }),
    stop: () => shutdown.end(EXIT.ok, "stopped by command"),
    restart: () => shutdown.end(EXIT.restart, "restart"),
    deliver: async ({ target, message }) => {
      await started;
      const sending = gateway.deliveries.send(
        target as unknown as DeliveryTarget,
        message as unknown as DeliveryMessage,
      );
      return { problem: (await sending) ?? null };
    },
    runJob: async (id) => {
      await started;
      try {
        return { run: await (await opened.app.cron()).scheduler.startNow(id) };
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        return { problem: error.message, hint: error.hint ?? null };
      }
    },
  });
  let ticker: ReturnType<Awaited<ReturnType<typeof opened.app.cron>>["ticker"]> | undefined;
  try {
    await gateway.start();
    ready();
    ticker = (await opened.app.cron()).ticker();
    ticker.start();
    const { platforms } = await gateway.status();
    const usable = platforms.filter(({ state }) => state !== "fatal");
    const names = usable.map((platform) => platform.name).join(", ");
    options.out(
      names
        ? `The gateway is running: ${names}. Ctrl-C stops it.`
        : "The gateway is running without a platform; scheduled jobs run. Set up a platform: hermes gateway setup",
    );
    log("info", `started with ${names || "no platform"}`);
    const { code, reason } = await shutdown.requested;
    options.out("Stopping: running turns are finished first.");
    log("info", `stopping: ${reason}`);
    const drainMs = opened.app.config.agent.restart_drain_timeout * 1000;
    const [drained] = await Promise.all([gateway.stop(drainMs), ticker.stop({ drainMs })]);
    log("info", drained ? "stopped" : "stopped; interrupted turns resume after the next start");
    await writeState(home.path, await gateway.status());
    return code;
  } finally {
    await control.close();
    await opened.close();
    await file.flush();
    lock.release();
  }
}
