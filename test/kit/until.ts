// Waits for a condition by polling.
import { setTimeout as sleep } from "node:timers/promises";

export interface UntilOptions {
  /** 30 s by default. */
  readonly timeoutMs?: number | undefined;
  readonly everyMs?: number | undefined;
  /** Text for the error: the condition and its last state. */
  readonly describe?: (() => string) | undefined;
}

/** Resolves when the condition holds; rejects after the time limit. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { timeoutMs = 30_000, everyMs = 25, describe }: UntilOptions = {},
): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > end)
      throw new Error(`waited ${timeoutMs / 1000} s for ${describe?.() ?? condition.toString()}`);
    await sleep(everyMs);
  }
}
