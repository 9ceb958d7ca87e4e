// The time limits of one exchange with a provider, and its abort signal.
import { SignalRace } from "../../lib/async/signal-race.ts";
import { type TransportCall, TransportError, type TransportErrorKind } from "./transport.ts";

/** How long to wait for the usage and the end of the body after the answer is complete. */
const FINISH_MS = 5_000;
const MAX_TIMER = 2_147_483_647;

/** The reason of every abort; made once, because every exchange ends with an abort. */
const ENDED = new Error("the exchange is over");

/** Call `progress` for each event of the answer and `close` at the end. */
export class ExchangeLimits {
  readonly #call: TransportCall;
  readonly #controller = new AbortController();
  readonly #onAbort = () => this.#stop("aborted");
  #stopped: TransportErrorKind | null = null;
  #finishing = false;
  readonly #first: ReturnType<typeof setTimeout>;
  #idle: ReturnType<typeof setTimeout> | null = null;
  readonly #total: ReturnType<typeof setTimeout>;

  constructor(call: TransportCall, stream: boolean) {
    this.#call = call;
    const { firstTokenMs, totalMs } = call.timeouts;
    // An answer that is not streamed arrives all at once, so the limit for its beginning is the total limit.
    this.#first = this.#timer("first_token_timeout", stream ? firstTokenMs : totalMs);
    this.#total = this.#timer("total_timeout", totalMs);
    if (call.signal.aborted) this.#stop("aborted");
    else call.signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Fires when a limit runs out, when the caller aborts, and after `close`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The limit that ran out, or `aborted`; null while neither has happened. */
  get stopped(): TransportErrorKind | null {
    return this.#stopped;
  }

  #timer(kind: TransportErrorKind, ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#stop(kind), Math.min(Math.max(0, ms), MAX_TIMER));
  }

  #stop(kind: TransportErrorKind): void {
    this.#stopped ??= kind;
    this.#controller.abort(ENDED);
  }

  /** A piece of the answer has arrived. */
  progress(): void {
    if (this.#idle) return void this.#idle.refresh();
    clearTimeout(this.#first);
    this.#idle = this.#timer("idle_timeout", this.#call.timeouts.idleMs);
  }

  /** The answer is complete: the rest of the body gets a short limit. */
  finishing(): void {
    if (this.#finishing) return;
    this.#finishing = true;
    if (this.#idle) clearTimeout(this.#idle);
    this.#idle = this.#timer("idle_timeout", Math.min(FINISH_MS, this.#call.timeouts.idleMs));
  }

  /** Clears the timers and closes the socket unless its body was read to the end. */
  close(): void {
    clearTimeout(this.#first);
    clearTimeout(this.#total);
    if (this.#idle) clearTimeout(this.#idle);
    this.#call.signal.removeEventListener("abort", this.#onAbort);
    this.#controller.abort(ENDED);
  }

  /** The same items; throws within a tick when the exchange is stopped, even while the source waits. */
  async *watch<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = source[Symbol.asyncIterator]();
    const race = new SignalRace(this.signal, "stopped" as const);
    let finished = false;
    try {
      while (true) {
        const next = await race.run(iterator.next());
        if (next === "stopped") throw new TransportError("interrupted", { kind: "aborted" });
        if (next.done) {
          finished = true;
          return;
        }
        yield next.value;
      }
    } finally {
      race.close();
      // Not awaited: a source that hangs must not block its reader.
      if (!finished) iterator.return?.().catch(() => undefined);
    }
  }
}
