// Waits for a promise with a time limit.

/**
 * The result of `work`, or of `onTimeout` when `work` has not settled after `ms`. `onTimeout` may throw. Work that is
 * late is not stopped, and its later failure is ignored.
 */
export async function withTimeout<T, L>(work: Promise<T>, ms: number, onTimeout: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), ms);
  });
  try {
    const result = await Promise.race([work, timeout]);
    return result === LATE ? onTimeout() : result;
  } finally {
    clearTimeout(timer);
  }
}

const LATE = Symbol("late");

/** True when `work` was fulfilled or rejected within `ms`. */
export function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  return withTimeout(settled, ms, () => false);
}
