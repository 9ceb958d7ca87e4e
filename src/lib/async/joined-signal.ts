// One signal for several reasons to stop, which leaves nothing behind on those that live on.
// `AbortSignal.any` leaves an entry on each of its sources for as long as the source lives: with the signal of a
// program that runs for months, one for every message. And on Node 20 it holds its sources weakly: an
// `AbortSignal.timeout` among them is collected as garbage, and then never fires.
import { setMaxListeners } from "node:events";

/** What a timer can count to; it would fire at once for more. */
const MOST_MS = 2_147_483_647;

export interface JoinedSignal {
  /** Fires with the first of its sources, with that one's reason, or with a `TimeoutError` when the time is over. */
  readonly signal: AbortSignal;
  /** Whether it was the time. */
  readonly late: boolean;
  /** The work is over: the sources forget this signal, which no longer fires. */
  release(): void;
}

/** For as long as the work takes: whoever joins also releases. */
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
    controller.abort(new DOMException("The time for this work is over.", "TimeoutError"));
  };
  const fired = sources.find((source) => source.aborted);
  if (fired) controller.abort(fired.reason);
  else {
    // A thousand chats may hang on the signal of one program: no reason for Node to warn.
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

/** Runs the work under a joined signal and releases it when the work has ended, well or badly. */
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
