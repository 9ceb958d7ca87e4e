// A time limit that can be paused, for example while a user is being asked.

/** The longest delay of a timer; a longer deadline never passes. */
const LONGEST_TIMER_MS = 2_147_483_647;

export class Deadline {
  readonly #controller = new AbortController();
  #leftMs: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #pauses = 0;
  #stopped = false;

  /** Starts at once. */
  constructor(ms: number) {
    this.#leftMs = ms;
    this.#start();
  }

  /** Aborted when the time is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get passed(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Pauses nest: the clock runs again when every pause has been resumed. */
  pause(): void {
    this.#pauses += 1;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs -= performance.now() - this.#startedAt;
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0) this.#start();
  }

  async whilePaused<T>(work: () => Promise<T>): Promise<T> {
    this.pause();
    try {
      return await work();
    } finally {
      this.resume();
    }
  }

  /** The work has ended: the deadline no longer passes. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #start(): void {
    if (this.#timer !== undefined || this.#stopped || this.passed || this.#leftMs > LONGEST_TIMER_MS) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => this.#controller.abort(), Math.max(0, this.#leftMs));
  }
}
