// For loops that wait for one promise after another and must stop with a signal even if a promise never settles.

/**
 * Races each promise against the same signal, with one listener for the whole loop. When the signal has aborted and
 * `graceMs` have passed, every wait resolves with `outcome`.
 */
export class SignalRace<S> {
  readonly #signal: AbortSignal;
  readonly #outcome: S;
  readonly #graceMs: number;
  #over = false;
  #lose: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(signal: AbortSignal, outcome: S, graceMs = 0) {
    this.#signal = signal;
    this.#outcome = outcome;
    this.#graceMs = graceMs;
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  readonly #onAbort = (): void => {
    if (this.#graceMs > 0) this.#timer = setTimeout(() => this.#end(), this.#graceMs);
    else this.#end();
  };

  #end(): void {
    this.#over = true;
    this.#lose?.();
  }

  /** One wait at a time. A later failure of work that lost the race is ignored. */
  run<T>(work: Promise<T>): Promise<T | S> {
    return new Promise<T | S>((resolve, reject) => {
      this.#lose = () => resolve(this.#outcome);
      work.then(resolve, reject);
      if (this.#over) this.#lose();
    });
  }

  /** Must be called after the loop. */
  close(): void {
    clearTimeout(this.#timer);
    this.#lose = undefined;
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}
