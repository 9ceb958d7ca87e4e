// As much of fetch's `Headers` as the model SDKs use to put a request together. The build gives it to them, because
// the first touch of the real class loads the whole of Node's fetch, 30 ms in which nothing has left yet.

export class LightHeaders {
  readonly #values = new Map<string, string>();

  append(name: string, value: unknown): void {
    const key = name.toLowerCase();
    const before = this.#values.get(key);
    this.#values.set(key, before === undefined ? String(value) : `${before}, ${value}`);
  }

  set(name: string, value: unknown): void {
    this.#values.set(name.toLowerCase(), String(value));
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  entries(): IterableIterator<[string, string]> {
    return this.#values.entries();
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.#values.entries();
  }
}
