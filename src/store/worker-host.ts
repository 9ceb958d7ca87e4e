// The session store in a worker thread: the same contract, and the owner's event loop never waits for the disk.
import { Worker } from "node:worker_threads";
import type { ExportedSession, OnProgress } from "../core/session.ts";
import { BatchedPort } from "../lib/batched-port.ts";
import { findWorkerFile, SMALL_WORKER } from "../lib/worker-file.ts";
import type { FullStore } from "./full-store.ts";
import { recordInitError } from "./sqlite/connection/init-error.ts";
import type { ExportEntry } from "./sqlite/export.ts";
import { type Call, type Method, PROGRESS, type Reply, unpackError, type WorkerOptions } from "./worker-protocol.ts";

export interface WorkerStoreOptions extends WorkerOptions {
  readonly onNotice?: ((text: string) => void) | undefined;
  /** The bundled worker; found beside the program when left out. */
  readonly workerFile?: string | undefined;
}

const METHODS = [
  ...(["createSession", "ensureSession", "endSession", "reopenSession", "updateSystemPrompt"] as const),
  ...(["getSession", "updateTokenCounts", "splitSession", "resolveSessionId", "getCompressionTip"] as const),
  ...(["resolveResumeSessionId", "ancestors", "descendants", "setSessionTitle", "getSessionTitle"] as const),
  ...(["getSessionByTitle", "resolveSessionByTitle", "getNextTitleInLineage", "listSessions"] as const),
  ...(["searchSessions", "sessionCount", "appendMessage", "appendMessages", "replaceMessages"] as const),
  ...(["clearMessages", "getMessages", "getConversation", "messageCount", "searchMessages"] as const),
  ...(["exportSession", "importSession", "deleteSession", "pruneSessions", "pruneEmptyGhostSessions"] as const),
  ...(["finalizeOrphanedCompressionSessions", "getMeta", "setMeta", "vacuum", "maybeAutoPruneAndVacuum"] as const),
  ...(["stats", "health", "repair", "setIndexLayout", "applyTelegramTopicMigration"] as const),
  ...([
    "enableTelegramTopicMode",
    "disableTelegramTopicMode",
    "isTelegramTopicModeEnabled",
    "usesTelegramTopics",
  ] as const),
  ...(["getTelegramTopicBinding", "bindTelegramTopic", "isTelegramSessionLinkedToTopic"] as const),
  ...(["listUnlinkedTelegramSessionsForUser", "requestHandoff", "claimHandoff", "completeHandoff"] as const),
  ...(["failHandoff", "getHandoffState", "listPendingHandoffs"] as const),
];

type Listed = (typeof METHODS)[number];
type Proxied = { [name in Listed]: FullStore[name] };
/** Fails to compile when the contract gains a method that is not listed above. */
type Rest = Omit<FullStore, Listed> & { exportAll: unknown; close: unknown };

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  readonly onProgress: OnProgress | undefined;
}

function workerFile(): string {
  const found = findWorkerFile("store-worker");
  if (!found) throw new Error("The store's worker was not found; build the program first.");
  return found;
}

/** Takes the progress function out of the arguments, which must be plain data to travel. */
function detachProgress(args: readonly unknown[]): { plain: unknown[]; onProgress: OnProgress | undefined } {
  let onProgress: OnProgress | undefined;
  const plain = args.map((arg) => {
    if (typeof arg === "function") {
      onProgress = arg as OnProgress;
      return PROGRESS;
    }
    if (typeof arg === "object" && arg !== null && "onProgress" in arg && typeof arg.onProgress === "function") {
      onProgress = arg.onProgress as OnProgress;
      return { ...arg, onProgress: PROGRESS };
    }
    return arg;
  });
  return { plain, onProgress };
}

/** One worker at a time; a crashed one fails its calls, and the next call starts another. */
class WorkerLine {
  readonly #options: WorkerStoreOptions;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #calls: BatchedPort<Call> | undefined;
  #opened: Promise<unknown> | undefined;
  #nextId = 1;
  #closed = false;

  constructor(options: WorkerStoreOptions) {
    this.#options = options;
  }

  async call(method: Method, args: readonly unknown[]): Promise<unknown> {
    if (this.#closed) throw new Error(`The session store ${this.#options.path} has been closed.`);
    await this.open();
    const worker = this.#worker;
    if (!worker) throw new Error("The session store's worker has stopped.");
    return this.#send(worker, method, args);
  }

  /** Starts the worker and opens the file in it, once. */
  open(): Promise<unknown> {
    this.#opened ??= this.#start().catch((error: unknown) => {
      this.#opened = undefined;
      recordInitError(error);
      throw error;
    });
    return this.#opened;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    const worker = this.#worker;
    try {
      if (worker) await this.call("close", []);
    } finally {
      this.#closed = true;
      await worker?.terminate();
    }
  }

  async #start(): Promise<unknown> {
    const worker = new Worker(this.#options.workerFile ?? workerFile(), { stderr: false, ...SMALL_WORKER });
    this.#worker = worker;
    this.#calls = new BatchedPort(worker, ({ id }, error) => this.#settle(id)?.reject(error));
    worker.on("message", (replies: readonly Reply[]) => {
      for (const reply of replies) this.#receive(reply);
    });
    worker.on("error", (error) => this.#lose(worker, error));
    worker.on("exit", (code) => this.#lose(worker, new Error(`The session store's worker ended (exit code ${code}).`)));
    const { path, runtimePath, indexLayout, busyTimeoutMs, readOnly } = this.#options;
    try {
      return await this.#send(worker, "open", [{ path, runtimePath, indexLayout, busyTimeoutMs, readOnly }]);
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  #send(worker: Worker, method: Method | "open", args: readonly unknown[]): Promise<unknown> {
    const id = this.#nextId++;
    const { plain, onProgress } = detachProgress(args);
    return new Promise((resolve, reject) => {
      this.#calls?.send({ id, method, args: plain });
      this.#pending.set(id, { resolve, reject, onProgress });
      // An idle store does not keep the process alive; one with work does.
      if (this.#pending.size === 1) worker.ref();
    });
  }

  #receive(reply: Reply): void {
    if ("notice" in reply) {
      this.#options.onNotice?.(reply.notice);
      return;
    }
    if ("progress" in reply) {
      this.#pending.get(reply.id)?.onProgress?.(...reply.progress);
      return;
    }
    const pending = this.#settle(reply.id);
    if ("error" in reply) pending?.reject(unpackError(reply.error));
    else pending?.resolve(reply.value);
  }

  /** The call has its end: it is no longer waited for. */
  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker?.unref();
    return pending;
  }

  #lose(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#opened = undefined;
    const lost = [...this.#pending.values()];
    this.#pending.clear();
    for (const pending of lost) pending.reject(error);
  }
}

/** Rejects when the file cannot be opened; the worker is gone then. */
export async function openWorkerSessionStore(options: WorkerStoreOptions): Promise<FullStore> {
  const line = new WorkerLine(options);
  await line.open();
  const proxied = Object.fromEntries(
    METHODS.map((name) => [name, (...args: unknown[]) => line.call(name, args)]),
  ) as unknown as Proxied;
  const rest: Rest = {
    async *exportAll(source?: string): AsyncGenerator<ExportedSession> {
      const order = (await line.call("exportOrder", [source])) as ExportEntry[];
      for (const { id, last_active } of order) {
        const session = (await line.call("exportSession", [id])) as ExportedSession | null;
        if (session) yield { ...session, last_active };
      }
    },
    close: () => line.close(),
  };
  return { ...proxied, ...rest } as FullStore;
}
