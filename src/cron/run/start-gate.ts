// Limits how many runs start at the same time, so that a process that dies leaves few of them unfinished.

const MAX_STARTING = 8;
const START_MS = 1_000;

export class StartGate {
  readonly #waiting: (() => void)[] = [];
  #used = 0;

  /** Waits for a slot, which is freed when the work ends or after one second. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#used >= MAX_STARTING) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#used += 1;
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      const next = this.#waiting.shift();
      if (next) next();
      else this.#used -= 1;
    };
    const timer = setTimeout(release, START_MS);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      release();
    }
  }
}
