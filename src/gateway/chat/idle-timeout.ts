// A limit on silence: a turn that shows no sign of life is ended.

/** `signal` fires when nothing was heard for so long. 0 means no limit. */
export class IdleTimeout {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    if (ms > 0) this.#timer = setTimeout(() => this.#controller.abort(), ms);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** A sign of life; called for every piece of an answer. */
  reset(): void {
    this.#timer?.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
