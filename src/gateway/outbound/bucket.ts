// A token bucket: so many messages a second on average, with a short burst.
import { setTimeout as sleep } from "node:timers/promises";

export class Bucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #filledAt = performance.now();

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
  }

  /** A message could leave at once. */
  get ready(): boolean {
    this.#fill();
    return this.#tokens >= 1;
  }

  /** Takes a place that is free now; false when none is. */
  tryTake(): boolean {
    if (!this.ready) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Resolves when a message may leave, or when the signal fires. */
  async take(signal: AbortSignal): Promise<void> {
    this.#fill();
    this.#tokens -= 1;
    if (this.#tokens >= 0) return;
    const waitMs = (-this.#tokens / this.#perSecond) * 1000;
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
  }

  #fill(): void {
    const now = performance.now();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#filledAt) / 1000) * this.#perSecond);
    this.#filledAt = now;
  }
}
