// Health as time since proven receive: a connection that hears nothing cannot call itself connected.
import type { PlatformHealth } from "../../core/platform.ts";

export class HealthMonitor {
  readonly #now: () => number;
  readonly #okMs: number;
  readonly #redMs: number;
  readonly #since: number;
  #provenAt: number | null = null;
  #reason: string | undefined;

  /** Quiet for `okMs` is normal; for `redMs` it is deafness. */
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
    const reason =
      this.#reason ?? (silent > this.#okMs ? `nothing heard for ${Math.round(silent / 1000)} s` : undefined);
    const state = silent > this.#redMs ? "red" : reason ? "degraded" : this.#provenAt === null ? "connecting" : "ok";
    return { state, provenAt: this.#provenAt, ...(reason ? { reason } : {}) };
  }
}
