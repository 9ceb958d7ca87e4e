// The gateway process: locks, log, control socket, signals and exit code.
import { openGatewayLocks } from "../../app/open-delivery.ts";
import { type OpenedGateway, openGateway } from "../../app/open-gateway.ts";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import type { DeliveryMessage, DeliveryTarget } from "../../core/job.ts";
import type { Log } from "../../core/log.ts";
import { serveControl } from "../../gateway-control/api/control-socket.ts";
import { EXIT } from "../../gateway-control/api/exit-codes.ts";
import { type GatewayLocks, type HomeLock, waitForOutbox } from "../../gateway-control/api/locks.ts";
import { writeState } from "../../gateway-control/api/state-file.ts";
import { openHomeLog } from "../../logs/api.ts";
import { Gateway } from "./gateway.ts";

const LOCK_ROUNDS = 10;
/** Other processes hold the outbox for two minutes at most. */
const OUTBOX_WAIT_MS = 150_000;

export interface RunOptions {
  /** Prints a line in the terminal. */
  out(text: string): void;
  readonly verbose?: boolean | undefined;
  /** Runs shell hooks that were not approved. */
  readonly acceptHooks?: boolean | undefined;
}

type Level = "info" | "warning" | "error";

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
  readonly file: Log;
  log(level: Level, text: string): void;
}

const LEVELS = { info: "INFO", warning: "WARNING", error: "ERROR" } as const;

/** Notices from start-up are logged later, when the secrets to redact are known. */
async function openLogged(home: Home, options: RunOptions): Promise<Logged> {
  const early: string[] = [];
  let notice = (text: string): void => void early.push(text);
  const opened = await openGateway(home, { acceptHooks: options.acceptHooks, onNotice: (text) => notice(text) });
  const redact = (text: string) => opened.app.redact(text);
  const file = openHomeLog(home, opened.app.config, { name: "gateway", redact });
  const log = (level: Level, text: string): void => {
    file.write({ level: LEVELS[level], component: "gateway", message: text });
    if (options.verbose || level !== "info") options.out(redact(`${new Date().toISOString()} ${level} ${text}`));
  };
  notice = (text) => log("warning", text);
  for (const text of early) notice(text);
  return { opened, file, log };
}

/** Runs until stopped. Returns an exit code of `EXIT`. */
export async function runGateway(home: Home, options: RunOptions): Promise<number> {
  const lock = await takeLocks(home, options);
  if ("code" in lock) return lock.code;
  const shutdown = new ShutdownRequest();
  const { opened, file, log } = await openLogged(home, options);
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
    reload: () => opened.reload(),
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
