// A loop that waits for one thing after the other, and ends with its signal whatever the others do.

/**
 * Each promise against the same signal: one listener for the whole loop, and nothing left behind by a promise that was
 * in time. Once the signal has fired and `graceMs` more have passed, every wait resolves with `outcome`.
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

  /** One wait at a time. Work that loses may still fail later; nobody is left to hear it. */
  run<T>(work: Promise<T>): Promise<T | S> {
    return new Promise<T | S>((resolve, reject) => {
      this.#lose = () => resolve(this.#outcome);
      work.then(resolve, reject);
      if (this.#over) this.#lose();
    });
  }

  /** The loop is over. */
  close(): void {
    clearTimeout(this.#timer);
    this.#lose = undefined;
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}
