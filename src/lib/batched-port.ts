// Messages to another thread, gathered: waking that thread costs more than what is said to it.

interface Port {
  postMessage(value: unknown): void;
}

/**
 * Everything that is sent before the event loop turns goes as one list, in order. The receiver gets arrays. `refused` is
 * told of an item that cannot travel; its neighbours do.
 */
export class BatchedPort<T> {
  readonly #port: Port;
  readonly #refused: (item: T, error: unknown) => void;
  #waiting: T[] = [];

  constructor(port: Port, refused: (item: T, error: unknown) => void) {
    this.#port = port;
    this.#refused = refused;
  }

  send(item: T): void {
    this.#waiting.push(item);
    // After the promises that are ready now: what follows from one answer leaves together.
    if (this.#waiting.length === 1) process.nextTick(() => this.#flush());
  }

  #flush(): void {
    const items = this.#waiting;
    this.#waiting = [];
    try {
      this.#port.postMessage(items);
    } catch {
      for (const item of items) this.#post(item);
    }
  }

  #post(item: T): void {
    try {
      this.#port.postMessage([item]);
    } catch (error) {
      this.#refused(item, error);
    }
  }
}
