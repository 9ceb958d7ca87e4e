// Waiting for other writers: whole transactions are tried again after a random pause, without blocking the process.
import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../../core/failure.ts";
import { isLocked } from "./driver.ts";

export const ATTEMPTS = 15;
const PAUSE_MIN_MS = 20;
const PAUSE_MAX_MS = 150;

/** `body` must be safe to run again. Only locks are retried. */
export async function retryLocked<T>(path: string, body: () => T): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return body();
    } catch (error) {
      if (!isLocked(error)) throw error;
      if (attempt === ATTEMPTS) {
        throw new UserError(`database is locked: another process has been holding ${path}.`, {
          cure: "Try again; if it stays so, look for a stuck hermes process.",
          cause: error,
        });
      }
    }
    await sleep(PAUSE_MIN_MS + Math.random() * (PAUSE_MAX_MS - PAUSE_MIN_MS));
  }
}
