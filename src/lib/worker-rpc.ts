// Calls to a worker thread and their replies. Both sides send in batches.
import { BatchedPort } from "./batched-port.ts";

/** A `Worker`, a `MessagePort` or the parent's port. */
interface Port {
  postMessage(value: unknown): void;
  on(event: string, listener: (value: unknown) => void): unknown;
  ref?(): unknown;
  unref?(): unknown;
}

/** Turns errors into plain data and back: classes of errors are lost between threads. */
export interface ErrorCodec<P> {
  pack(error: unknown): P;
  unpack(plain: P): Error;
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

type Reply<P> =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: P }
  | { readonly id: number; readonly progress: readonly unknown[] }
  | { readonly event: unknown };

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  readonly onProgress: ((...values: never[]) => void) | undefined;
}

export interface WorkerClientOptions<P> {
  /** For messages: "The session store's worker". */
  readonly name: string;
  readonly unpackError: ErrorCodec<P>["unpack"];
  /** The worker keeps the process alive only while calls are pending. */
  readonly idleUnref?: boolean | undefined;
  readonly onEvent?: ((event: never) => void) | undefined;
  /** Called once, when the worker has failed or exited. */
  readonly onEnd?: (() => void) | undefined;
}

/** The caller's side. When the worker ends, pending and later calls are rejected. */
export class WorkerClient<P> {
  readonly #port: Port;
  readonly #options: WorkerClientOptions<P>;
  readonly #calls: BatchedPort<Call>;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #ended: Error | undefined;

  constructor(port: Port, options: WorkerClientOptions<P>) {
    this.#port = port;
    this.#options = options;
    this.#calls = new BatchedPort(port, ({ id }, error) => this.#settle(id)?.reject(error));
    port.on("message", (replies) => {
      for (const reply of replies as readonly Reply<P>[]) this.#receive(reply);
    });
    port.on("error", (error) => this.#end(error as Error));
    port.on("exit", (code) => this.#end(new Error(`${options.name} ended (exit code ${code}).`)));
  }

  get ended(): boolean {
    return this.#ended !== undefined;
  }

  call(method: string, args: readonly unknown[], onProgress?: (...values: never[]) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      const id = this.#nextId++;
      this.#pending.set(id, { resolve, reject, onProgress });
      if (this.#options.idleUnref && this.#pending.size === 1) this.#port.ref?.();
      this.#calls.send({ id, method, args });
    });
  }

  #receive(reply: Reply<P>): void {
    if ("event" in reply) this.#options.onEvent?.(reply.event as never);
    else if ("progress" in reply) this.#pending.get(reply.id)?.onProgress?.(...(reply.progress as never[]));
    else if ("error" in reply) this.#settle(reply.id)?.reject(this.#options.unpackError(reply.error));
    else this.#settle(reply.id)?.resolve(reply.value);
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#options.idleUnref && this.#pending.size === 0) this.#port.unref?.();
    return pending;
  }

  #end(error: Error): void {
    if (this.#ended) return;
    this.#ended = error;
    const lost = [...this.#pending.values()];
    this.#pending.clear();
    for (const pending of lost) pending.reject(error);
    this.#options.onEnd?.();
  }
}

export interface WorkerRequest {
  readonly method: string;
  readonly args: readonly unknown[];
  /** Calls the `onProgress` of the caller. */
  progress(...values: readonly unknown[]): void;
}

/** The worker's side. `answer` runs once per call; calls do not wait for each other. Returns the sender of events. */
export function serveCalls<P>(
  port: Port,
  packError: ErrorCodec<P>["pack"],
  answer: (request: WorkerRequest) => Promise<unknown>,
): (event: unknown) => void {
  const replies = new BatchedPort<Reply<P>>(port, (reply, error) => {
    if ("id" in reply) replies.send({ id: reply.id, error: packError(error) });
  });
  port.on("message", (calls) => {
    for (const { id, method, args } of calls as readonly Call[]) {
      const progress = (...values: readonly unknown[]) => replies.send({ id, progress: values });
      answer({ method, args, progress }).then(
        (value) => replies.send({ id, value }),
        (error: unknown) => replies.send({ id, error: packError(error) }),
      );
    }
  });
  return (event) => replies.send({ event });
}
