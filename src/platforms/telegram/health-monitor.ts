// Health as the time since the last proof of receiving: an open connection alone proves nothing.
import type { PlatformHealth } from "../../core/chat/platform.ts";

export class HealthMonitor {
  readonly #now: () => number;
  readonly #okMs: number;
  readonly #redMs: number;
  readonly #since: number;
  #provenAt: number | null = null;
  #reason: string | undefined;

  /** Silence of `okMs` is normal; after `redMs` the state is red. */
  constructor(now: () => number, okMs: number, redMs: number) {
    this.#now = now;
    this.#okMs = okMs;
    this.#redMs = redMs;
    this.#since = now();
  }

  beat(at: number): void {
    this.#provenAt = at;
    this.#reason = undefined;
  }

  miss(reason: string): void {
    this.#reason = reason;
  }

  health(): PlatformHealth {
    const silent = this.#now() - (this.#provenAt ?? this.#since);
    const reason = this.#reason ?? (silent > this.#okMs ? `no response for ${Math.round(silent / 1000)} s` : undefined);
    const state = silent > this.#redMs ? "red" : reason ? "degraded" : this.#provenAt === null ? "connecting" : "ok";
    return { state, provenAt: this.#provenAt, reason };
  }
}
