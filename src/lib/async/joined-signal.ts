// Joins abort signals without leaving listeners on them. `AbortSignal.any` leaves an entry on each source for as long as the
// source lives: with the signal of a long-running program, one per message. And on Node 20 it holds its sources weakly: an
// `AbortSignal.timeout` among them can be garbage-collected and then never fires.
import { setMaxListeners } from "node:events";

/** The longest delay of a timer; a longer one would fire at once. */
const MOST_MS = 2_147_483_647;

export interface JoinedSignal {
  /** Aborts with the first source and its reason, or with a `TimeoutError` after the time limit. */
  readonly signal: AbortSignal;
  /** True when the time limit aborted it. */
  readonly late: boolean;
  /** Removes the listeners from the sources; the signal no longer aborts. */
  release(): void;
}

/** The caller must call `release` when the work has ended. */
export function joinSignals(sources: readonly AbortSignal[], limitMs?: number): JoinedSignal {
  const controller = new AbortController();
  const { signal } = controller;
  let timer: NodeJS.Timeout | undefined;
  let late = false;
  const release = () => {
    clearTimeout(timer);
    for (const source of sources) source.removeEventListener("abort", stop);
  };
  function stop(this: AbortSignal): void {
    release();
    controller.abort(this.reason);
  }
  const expire = () => {
    late = true;
    release();
    controller.abort(new DOMException("The operation timed out.", "TimeoutError"));
  };
  const fired = sources.find((source) => source.aborted);
  if (fired) controller.abort(fired.reason);
  else {
    // A thousand chats may listen to the signal of one program; Node would warn about a leak.
    setMaxListeners(0, ...sources);
    for (const source of sources) source.addEventListener("abort", stop);
    if (limitMs !== undefined) timer = setTimeout(expire, Math.min(limitMs, MOST_MS)).unref();
  }
  return {
    signal,
    get late() {
      return late;
    },
    release,
  };
}

/** Runs the work with a joined signal and releases the signal when the work has settled. */
export async function underSignals<T>(
  sources: readonly AbortSignal[],
  limitMs: number | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const joined = joinSignals(sources, limitMs);
  try {
    return await work(joined.signal);
  } finally {
    joined.release();
  }
}
