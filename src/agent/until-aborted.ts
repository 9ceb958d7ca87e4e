// Waits that end with an abort signal, also when the work ignores it.

export const ABORTED = Symbol("aborted");

/** Resolves with the value, or with ABORTED once the signal has fired and `graceMs` more have passed. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal, graceMs = 0): Promise<T | typeof ABORTED> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<typeof ABORTED>((resolve) => {
    onAbort = () => {
      timer = setTimeout(() => resolve(ABORTED), graceMs);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  // Work that loses the race may reject later, when nothing handles it any more.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  }
}

/** The result of optional work: `fallback` when it fails or has not ended at the abort. */
export async function valueOrFallback<T>(work: Promise<T>, signal: AbortSignal, fallback: T): Promise<T> {
  try {
    const value = await untilAborted(work, signal);
    return value === ABORTED ? fallback : value;
  } catch {
    return fallback;
  }
}
