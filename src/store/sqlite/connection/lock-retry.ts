// Waiting for other writers: whole transactions are tried again, without ever blocking the process.
import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../../../core/failure.ts";
import { isLocked } from "../../../lib/sqlite-error.ts";

const ATTEMPTS = 15;
const PAUSE_MIN_MS = 20;
const PAUSE_MAX_MS = 150;
/** Within an attempt the lock is asked for again and again: writers hold it for about a millisecond. */
const ATTEMPT_MS = 1000;
const POLL_MIN_MS = 1;
const POLL_MAX_MS = 5;
/** A writer that had to wait this recently pauses before its next write. */
const RECENT_CONFLICT_MS = 250;

function between(min: number, max: number): number {
  return min + Math.random() * (max - min);
}

/** The longer a writer has waited, the more often it retries, so that none starves. */
function pollPause(waitedMs: number): number {
  return between(POLL_MIN_MS, Math.max(POLL_MIN_MS, POLL_MAX_MS - waitedMs / 20));
}

/** Runs transactions of one connection and retries them while another connection holds the lock. */
export class LockRetry {
  readonly #path: string;
  #lastConflictAt = Number.NEGATIVE_INFINITY;

  constructor(path: string) {
    this.#path = path;
  }

  /** `body` must be safe to run again. Only locks are retried. */
  async retry<T>(body: () => T): Promise<T> {
    const start = performance.now();
    for (let attempt = 1; ; attempt++) {
      const deadline = performance.now() + ATTEMPT_MS;
      for (;;) {
        try {
          return body();
        } catch (error) {
          if (!isLocked(error)) throw error;
          this.#lastConflictAt = performance.now();
          if (this.#lastConflictAt > deadline && attempt === ATTEMPTS) throw lockedError(this.#path, error);
        }
        if (this.#lastConflictAt > deadline) break;
        await sleep(pollPause(this.#lastConflictAt - start));
      }
      await sleep(between(PAUSE_MIN_MS, PAUSE_MAX_MS));
    }
  }

  /** A short pause before a write when other writers were active: without it the same writer could get the lock every time. */
  async yieldToOthers(): Promise<void> {
    if (performance.now() - this.#lastConflictAt < RECENT_CONFLICT_MS) await sleep(1);
  }
}

function lockedError(path: string, cause: unknown): UserError {
  return new UserError(`database is locked: another process has been holding ${path}.`, {
    hint: "Try again; if it stays so, look for a stuck hermes process.",
    cause,
  });
}
