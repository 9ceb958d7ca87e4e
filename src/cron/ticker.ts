// The ticker of a long-running process: a tick on every full minute, signs of life, and an end that waits for the runs.
import type { JobLedger } from "../core/job.ts";
import type { Owners } from "./owner.ts";
import type { Scheduler } from "./scheduler.ts";

export interface TickerParts {
  readonly scheduler: Scheduler;
  readonly ledger: JobLedger;
  readonly owners: Owners;
  now(): number;
  notice(text: string): void;
  /** Default 60 s. */
  readonly everyMs?: number | undefined;
  /** Runs of lost processes are looked for this often. Default 10 s. */
  readonly recoverMs?: number | undefined;
}

const EVERY_MS = 60_000;
const RECOVER_MS = 10_000;
const KEEP_MS = 180 * 86_400_000;
const DAY_MS = 86_400_000;
const HELD = "Hermes Agent v0.14 runs jobs of this home at the moment; what is due waits until it is done";

export class CronTicker {
  readonly #parts: TickerParts;
  readonly #everyMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #recovery: ReturnType<typeof setInterval> | undefined;
  #startedAt = 0;
  #tickedAt = 0;
  #prunedAt = 0;
  #lastError = "";
  #stopped = false;
  #ticking: Promise<void> | undefined;

  constructor(parts: TickerParts) {
    this.#parts = parts;
    this.#everyMs = parts.everyMs ?? EVERY_MS;
  }

  /** The last tick that went well, in milliseconds, and what the last one complained about. */
  get health(): { readonly tickedAt: number; readonly failure: string; readonly late: boolean } {
    const late =
      this.#startedAt > 0 && this.#parts.now() - Math.max(this.#tickedAt, this.#startedAt) > 3 * this.#everyMs;
    return { tickedAt: this.#tickedAt, failure: this.#lastError, late };
  }

  /** Ticks at once, then on every full minute of the clock. */
  start(): void {
    if (this.#startedAt > 0) return;
    this.#startedAt = this.#parts.now();
    this.#recovery = setInterval(() => void this.#watch(), this.#parts.recoverMs ?? RECOVER_MS);
    void this.#tick();
  }

  /** No further ticks; waits for the runs, and interrupts them when they take longer than `drainMs`. */
  async stop(options: { readonly drainMs?: number | undefined } = {}): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearInterval(this.#recovery);
    await this.#ticking;
    const { scheduler, ledger, owners } = this.#parts;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, options.drainMs ?? 30_000);
    });
    await Promise.race([scheduler.idle(), late]);
    clearTimeout(timer);
    await scheduler.stop();
    await ledger.unbeat(owners.self);
  }

  /** The next full minute is computed from the clock each time: delays do not add up, and sleep is no matter. */
  #plan(): void {
    if (this.#stopped) return;
    const wait = this.#everyMs - (this.#parts.now() % this.#everyMs);
    this.#timer = setTimeout(() => void this.#tick(), wait);
  }

  /** Also the watchdog: a machine that slept, or a lost timer, is noticed here and the tick is made up for. */
  async #watch(): Promise<void> {
    if (this.#stopped || this.#ticking) return;
    const since = this.#parts.now() - this.#tickedAt;
    // Before the last tick means that the clock was set back: due times have to be looked at.
    if (since > 1.5 * this.#everyMs || since < 0) {
      clearTimeout(this.#timer);
      await this.#tick();
      return;
    }
    try {
      await this.#parts.scheduler.recover();
    } catch (error) {
      this.#parts.notice(`Scheduled jobs could not be looked after: ${wordsOf(error)}`);
    }
  }

  #tick(): Promise<void> {
    this.#ticking ??= this.#tickOnce().finally(() => {
      this.#ticking = undefined;
      this.#plan();
    });
    return this.#ticking;
  }

  /** Never rejects: a tick that fails is told once and tried again at the next minute. */
  async #tickOnce(): Promise<void> {
    const { scheduler, ledger, owners, now, notice } = this.#parts;
    let details = "";
    try {
      // The other one may need minutes at each of its ticks: that is a state to be seen, not news.
      if ((await scheduler.tick()).held) details = HELD;
    } catch (error) {
      details = wordsOf(error);
      if (details !== this.#lastError) notice(`Scheduled jobs are not looked at: ${details}`);
    }
    this.#lastError = details;
    this.#tickedAt = now();
    try {
      await ledger.beat({ owner: owners.self, startedAt: this.#startedAt, tickedAt: this.#tickedAt, failure: details });
      if (this.#tickedAt - this.#prunedAt > DAY_MS) {
        this.#prunedAt = this.#tickedAt;
        await ledger.prune(this.#tickedAt - KEEP_MS);
      }
    } catch (error) {
      notice(`The ledger of scheduled jobs cannot be written: ${wordsOf(error)}`);
    }
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
