// Batches messages to another thread: waking the thread takes longer than handling a message.

interface Port {
  postMessage(value: unknown): void;
}

/**
 * Everything that is sent before the next turn of the event loop is posted as one array, in order. `refused` is called for
 * an item that cannot be cloned; the others of its batch are posted.
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
    // After the promise callbacks that are ready now, so that the calls they make go into the same batch.
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
