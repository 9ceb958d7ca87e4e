// Keeps one platform connected: connects, watches its health, and reconnects when it stays unreachable.
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type {
  HealthState,
  Platform,
  PlatformConnection,
  PlatformContext,
  PlatformHealth,
} from "../../core/chat/platform.ts";
import { formatError, UserError } from "../../core/failure.ts";
import { settlesWithin } from "../../lib/async/with-timeout.ts";

export interface LinkTimes {
  readonly connectMs: number;
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  readonly watchMs: number;
  /** A connection that is red for this long is replaced. */
  readonly rebuildMs: number;
  /** Time limit for closing the old connection. */
  readonly closeMs?: number | undefined;
}

const CLOSE_MS = 5_000;
const SILENCE_MS = 60_000;

export const LINK_TIMES: LinkTimes = {
  connectMs: 30_000,
  firstPauseMs: 1_000,
  maxPauseMs: 30_000,
  watchMs: 2_000,
  rebuildMs: 5_000,
};

export interface LinkState {
  readonly name: string;
  readonly state: HealthState | "fatal" | "stopped";
  readonly account: string | null;
  /** Unix milliseconds. */
  readonly provenAt: number | null;
  readonly reason: string | null;
  /** Connections replaced since the last traffic. */
  readonly rebuilds: number;
}

/** One line about a platform. */
export function formatLine(state: LinkState, now: number): string {
  const traffic =
    state.provenAt === null ? "no traffic yet" : `last traffic ${Math.round((now - state.provenAt) / 1000)} s ago`;
  return `${state.name}: ${state.state}, ${traffic}${state.reason ? ` (${state.reason})` : ""}`;
}

/** Null for a platform that is not set up; else why its settings are invalid, to be shown in the status. */
export function unusable(
  platform: Platform,
  { setting, section }: Pick<PlatformContext, "setting" | "section">,
  reason: string,
): LinkState | null {
  const isPartlySet = platform.settings.some(({ env, required }) => required && (setting(env) ?? "") !== "");
  if (!isPartlySet && section.enabled !== true) return null;
  return { name: platform.name, state: "fatal", account: null, provenAt: null, reason, rebuilds: 0 };
}

export interface LinkParts {
  readonly platform: Platform;
  /** The context without the members of a single connection. */
  readonly context: Omit<PlatformContext, "lost" | "signal">;
  readonly times: LinkTimes;
  /** Called when the state changes. */
  changed(state: LinkState): void;
}

export class PlatformLink {
  readonly #parts: LinkParts;
  readonly #stopping = new AbortController();
  #connection: PlatformConnection | undefined;
  #giveUp: AbortController | undefined;
  #lost: { reason: string; fatal: boolean } | undefined;
  #state: LinkState["state"] = "connecting";
  #reason: string | null = null;
  #rebuilds = 0;
  /** `provenAt` of the new connection: the time of its sign-in. */
  #signedInAt: number | null = null;
  /** Start of the current outage. */
  #lastTrafficAt: number;
  /** Time of the last traffic, else of the start. */
  #hadTraffic = false;
  #work: Promise<void> | undefined;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    this.#lastTrafficAt = parts.context.now();
  }

  get connection(): PlatformConnection | undefined {
    return this.#connection;
  }

  get state(): LinkState {
    const health = this.#connection?.health();
    if (health) this.#recordTraffic(health);
    const state = health?.state ?? this.#state;
    // After connections that signed in but received nothing, a sign-in no longer counts as proof.
    const trusted = (health !== undefined && this.#rebuilds === 0) || state === "fatal" || state === "stopped";
    const silent = !trusted && this.#parts.context.now() - this.#lastTrafficAt > SILENCE_MS;
    return {
      name: this.#parts.platform.name,
      state: silent ? "red" : state,
      account: this.#connection?.accountName ?? this.#connection?.account ?? null,
      provenAt: this.#hadTraffic ? this.#lastTrafficAt : null,
      reason: health?.reason ?? this.#reason,
      rebuilds: this.#rebuilds,
    };
  }

  /** Only traffic counts as recovery, not an open connection. */
  #recordTraffic({ provenAt }: PlatformHealth): void {
    if (provenAt === null || (this.#hadTraffic && provenAt === this.#lastTrafficAt)) return;
    if (provenAt === this.#signedInAt && this.#rebuilds > 0) return;
    this.#lastTrafficAt = provenAt;
    this.#hadTraffic = true;
    if (provenAt === this.#signedInAt) return;
    this.#rebuilds = 0;
    this.#reason = null;
  }

  start(): void {
    this.#work ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#giveUp?.abort();
    await this.#work;
    this.#state = "stopped";
  }

  #set(state: LinkState["state"], reason: string | null): void {
    this.#state = state;
    this.#reason = reason;
    this.#parts.changed(this.state);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const connected = await this.#connect();
      if (connected) await this.#watch();
      if (this.#lost?.fatal) {
        this.#set("fatal", this.#lost.reason);
        return;
      }
      if (signal.aborted) return;
      const { firstPauseMs, maxPauseMs } = this.#parts.times;
      const pause = Math.min(firstPauseMs * 2 ** Math.min(this.#rebuilds, 10), maxPauseMs);
      this.#rebuilds += 1;
      await sleep(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  async #connect(): Promise<boolean> {
    const { platform, context, times } = this.#parts;
    this.#lost = undefined;
    this.#giveUp = new AbortController();
    const { signal } = this.#giveUp;
    setMaxListeners(0, signal);
    const lost: PlatformContext["lost"] = (reason, options) => {
      this.#lost ??= { reason, fatal: options?.fatal ?? false };
    };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error("no answer while connecting")), times.connectMs);
    });
    const connecting = platform.connect({ ...context, lost, signal });
    try {
      this.#connection = await Promise.race([connecting, late]);
      this.#signedInAt = this.#connection.health().provenAt;
      this.#set("ok", this.#rebuilds > 0 ? this.#reason : null);
      return true;
    } catch (error) {
      const reason = formatError(error);
      // Closes a connection that opens after the time-out.
      connecting.then(
        (connection) => connection.close(),
        () => undefined,
      );
      this.#giveUp.abort();
      if (error instanceof UserError) this.#lost = { reason, fatal: true };
      context.log("warning", `${platform.label}: ${reason}`);
      if (!this.#stopping.signal.aborted) this.#set("connecting", reason);
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves when the connection is closed: on request, when it reports itself lost, or when it is red for too long. */
  async #watch(): Promise<void> {
    const { times, context, platform } = this.#parts;
    const { signal } = this.#stopping;
    let redSince: number | null = null;
    let shown: string = this.state.state;
    while (!signal.aborted && !this.#lost && this.#connection) {
      await sleep(times.watchMs, undefined, { signal }).catch(() => undefined);
      const health = this.#connection.health();
      const { state } = this;
      if (state.state !== shown) this.#parts.changed(state);
      shown = state.state;
      if (health.state !== "red") redSince = null;
      else redSince ??= context.now();
      if (redSince !== null && context.now() - redSince >= times.rebuildMs) {
        this.#lost = { reason: health.reason ?? "no traffic", fatal: false };
        context.log("warning", `${platform.label}: ${this.#lost.reason}; reconnecting`);
      }
    }
    const closing = this.#connection;
    if (this.#lost) this.#set("connecting", this.#lost.reason);
    this.#connection = undefined;
    this.#giveUp?.abort();
    // A close that hangs or fails must not delay the next connection.
    const closed = await settlesWithin((async () => closing?.close())(), times.closeMs ?? CLOSE_MS);
    if (!closed) context.log("warning", `${platform.label}: the old connection does not close; it is abandoned`);
  }
}
