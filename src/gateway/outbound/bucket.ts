// A token bucket: limits the average rate of messages and allows short bursts.
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

  /** True when a message can be sent now. */
  get ready(): boolean {
    this.#fill();
    return this.#tokens >= 1;
  }

  /** Takes a token if there is one. */
  tryTake(): boolean {
    if (!this.ready) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Resolves when a message may be sent, or when the signal fires. */
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
