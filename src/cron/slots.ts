// A limit on how much goes on at the same time; the rest waits its turn.

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
      // The place goes to the next in line, or becomes free.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#used -= 1;
    }
  }
}
