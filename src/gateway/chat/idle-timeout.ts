// Ends a turn that produces no events for too long.

/** `signal` fires after `ms` without `reset`. 0 means no limit. */
export class IdleTimeout {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    if (ms > 0) this.#timer = setTimeout(() => this.#controller.abort(), ms);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Called for every event of the turn. */
  reset(): void {
    this.#timer?.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
