// A cache with a time limit and a size limit; the least recently used entries are removed first.

export interface ByteCacheOptions {
  readonly maxBytes: number;
  readonly ttlMs: number;
  readonly now?: (() => number) | undefined;
}

export class ByteCache<T> {
  readonly #entries = new Map<string, { value: T; bytes: number; until: number }>();
  readonly #options: ByteCacheOptions;
  readonly #now: () => number;
  #bytes = 0;

  constructor(options: ByteCacheOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#drop(key);
    if (entry.until <= this.#now()) return undefined;
    this.#insert(key, entry);
    return entry.value;
  }

  /** `chars` is the size of the value. Values larger than the limit are not stored. */
  set(key: string, value: T, chars: number): void {
    this.#drop(key);
    const bytes = (chars + key.length) * 2;
    if (bytes > this.#options.maxBytes) return;
    this.#insert(key, { value, bytes, until: this.#now() + this.#options.ttlMs });
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#options.maxBytes) break;
      this.#drop(oldest);
    }
  }

  #insert(key: string, entry: { value: T; bytes: number; until: number }): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}
