// Values that are loaded when they are first needed.

export interface Lazy<T> {
  /** Loads once and returns the same promise from then on. A failed load is tried again at the next call. */
  (): Promise<T>;
  /** The promise of a load that was started; undefined when none was. Does not start one. */
  peek(): Promise<T> | undefined;
}

export function lazy<T>(load: () => Promise<T>): Lazy<T> {
  let loaded: Promise<T> | undefined;
  const get = () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
  return Object.assign(get, { peek: () => loaded });
}
