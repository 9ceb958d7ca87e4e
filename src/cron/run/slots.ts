// Limits how many tasks run at the same time; the others wait in a queue.

export class Slots {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #used = 0;

  /** 0 for no limit. */
  constructor(limit: number) {
    this.#limit = limit > 0 ? limit : Number.POSITIVE_INFINITY;
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#used >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#used += 1;
    try {
      return await work();
    } finally {
      // Pass the slot to the next task, or free it.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#used -= 1;
    }
  }
}
