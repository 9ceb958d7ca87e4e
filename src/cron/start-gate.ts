// Runs that begin at the same moment begin a few at a time: a process that dies then leaves few of them half done.

const AT_ONCE = 8;
const START_MS = 1_000;

export class StartGate {
  readonly #waiting: (() => void)[] = [];
  #used = 0;

  /** Waits for a place; it is free again when the work has ended, or after a second of it. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#used >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
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
