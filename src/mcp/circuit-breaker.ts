// Stops calls to a server that keeps failing, and lets one through after a pause.

const FAILURES = 3;
const PAUSE_MS = 60_000;

export class CircuitBreaker {
  readonly #now: () => number;
  #failures = 0;
  #openedAt: number | undefined;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Milliseconds until the next call is let through; 0 when calls may be made. */
  get waitMs(): number {
    if (this.#openedAt === undefined) return 0;
    return Math.max(0, this.#openedAt + PAUSE_MS - this.#now());
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openedAt = undefined;
  }

  failed(): void {
    this.#failures += 1;
    if (this.#failures >= FAILURES) this.#openedAt = this.#now();
  }
}
