// Runs due jobs in a long-running process: a tick on every full minute, heartbeats, and a stop that waits for the runs.
import type { JobLedger } from "../../core/job.ts";
import { settlesWithin } from "../../lib/async/with-timeout.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { Owners } from "./owner.ts";
import type { Scheduler } from "./scheduler.ts";

export interface TickerOptions {
  readonly scheduler: Scheduler;
  readonly ledger: JobLedger;
  readonly owners: Owners;
  now(): number;
  notice(text: string): void;
  /** Default 60 s. */
  readonly everyMs?: number | undefined;
  /** How often runs of lost processes are recovered. Default 10 s. */
  readonly recoverMs?: number | undefined;
}

const TICK_MS = 60_000;
const RECOVER_MS = 10_000;
const RETENTION_MS = 180 * 86_400_000;
const DRAIN_MS = 30_000;
const DAY_MS = 86_400_000;
const HELD = "Hermes Agent v0.14 runs jobs of this home at the moment; due jobs wait until it is done";

export class CronTicker {
  readonly #options: TickerOptions;
  readonly #everyMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #recovery: ReturnType<typeof setInterval> | undefined;
  #startedAt = 0;
  #tickedAt = 0;
  #prunedAt = 0;
  #lastError = "";
  #stopped = false;
  #ticking: Promise<void> | undefined;

  constructor(options: TickerOptions) {
    this.#options = options;
    this.#everyMs = options.everyMs ?? TICK_MS;
  }

  /** The time of the last tick, its error, and whether ticks are overdue. */
  get health(): { readonly tickedAt: number; readonly failure: string; readonly late: boolean } {
    const late =
      this.#startedAt > 0 && this.#options.now() - Math.max(this.#tickedAt, this.#startedAt) > 3 * this.#everyMs;
    return { tickedAt: this.#tickedAt, failure: this.#lastError, late };
  }

  /** Ticks at once, then on every full minute of the clock. */
  start(): void {
    if (this.#startedAt > 0) return;
    this.#startedAt = this.#options.now();
    this.#recovery = setInterval(() => void this.#watch(), this.#options.recoverMs ?? RECOVER_MS);
    void this.#tick();
  }

  /** Stops ticking, waits for the runs, and interrupts those that take longer than `drainMs` (default 30 s). */
  async stop(options: { readonly drainMs?: number | undefined } = {}): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearInterval(this.#recovery);
    await this.#ticking;
    const { scheduler, ledger, owners } = this.#options;
    await settlesWithin(scheduler.idle(), options.drainMs ?? DRAIN_MS);
    await scheduler.stop();
    await ledger.removeHeartbeat(owners.self);
  }

  /** The next full minute is computed from the clock each time, so that delays do not add up. */
  #plan(): void {
    if (this.#stopped) return;
    const wait = this.#everyMs - (this.#options.now() % this.#everyMs);
    this.#timer = setTimeout(() => void this.#tick(), wait);
  }

  /** Recovers lost runs, and ticks when a tick was missed, for example because the machine slept. */
  async #watch(): Promise<void> {
    if (this.#stopped || this.#ticking) return;
    const since = this.#options.now() - this.#tickedAt;
    // A time before the last tick means that the clock was set back: due times must be checked.
    if (since > 1.5 * this.#everyMs || since < 0) {
      clearTimeout(this.#timer);
      await this.#tick();
      return;
    }
    try {
      await this.#options.scheduler.recover();
    } catch (error) {
      this.#options.notice(`Lost runs of scheduled jobs could not be recovered: ${errorMessage(error)}`);
    }
  }

  #tick(): Promise<void> {
    this.#ticking ??= this.#tickOnce().finally(() => {
      this.#ticking = undefined;
      this.#plan();
    });
    return this.#ticking;
  }

  /** Never rejects: a failed tick is reported once and repeated at the next minute. */
  async #tickOnce(): Promise<void> {
    const { scheduler, ledger, owners, now, notice } = this.#options;
    let details = "";
    try {
      // v0.14 may hold the lock for minutes at each of its ticks: the status shows it, but no notice is needed.
      if ((await scheduler.tick()).held) details = HELD;
    } catch (error) {
      details = errorMessage(error);
      if (details !== this.#lastError) notice(`Scheduled jobs are not run: ${details}`);
    }
    this.#lastError = details;
    this.#tickedAt = now();
    try {
      await ledger.recordHeartbeat({
        owner: owners.self,
        startedAt: this.#startedAt,
        tickedAt: this.#tickedAt,
        failure: details,
      });
      if (this.#tickedAt - this.#prunedAt > DAY_MS) {
        this.#prunedAt = this.#tickedAt;
        await ledger.prune(this.#tickedAt - RETENTION_MS);
      }
    } catch (error) {
      notice(`The ledger of scheduled jobs cannot be written: ${errorMessage(error)}`);
    }
  }
}
