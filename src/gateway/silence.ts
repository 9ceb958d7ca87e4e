// A limit on silence: a turn that shows no sign of life is ended.

/** `signal` fires when nothing was heard for so long. 0 means no limit. */
export class Silence {
  readonly #controller = new AbortController();
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
    this.reset();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  reset(): void {
    clearTimeout(this.#timer);
    if (this.#ms > 0) this.#timer = setTimeout(() => this.#controller.abort(), this.#ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
