// The session store in a worker thread: the same contract, and the event loop of the caller never waits for the disk.
import { Worker } from "node:worker_threads";
import type { ExportedSession, OnProgress } from "../core/store/session.ts";
import { findWorkerFile, SMALL_WORKER } from "../lib/worker-file.ts";
import { WorkerClient } from "../lib/worker-rpc.ts";
import type { FullStore } from "./full-store.ts";
import type { ExportEntry } from "./sqlite/export.ts";
import { type Method, type PlainError, PROGRESS, unpackError, type WorkerOptions } from "./worker-protocol.ts";

export interface WorkerStoreOptions extends WorkerOptions {
  readonly onNotice?: ((text: string) => void) | undefined;
  /** The bundled worker file; found beside the program when absent. */
  readonly workerFile?: string | undefined;
}

const METHODS = [
  ...(["createSession", "ensureSession", "endSession", "reopenSession", "updateSystemPrompt"] as const),
  ...(["getSession", "updateTokenCounts", "splitSession", "resolveSessionId", "getCompressionTip"] as const),
  ...(["resolveResumeSessionId", "ancestors", "descendants", "setSessionTitle", "getSessionTitle"] as const),
  ...(["getSessionByTitle", "resolveSessionByTitle", "getNextTitleInLineage", "listSessions"] as const),
  ...(["searchSessions", "sessionCount", "appendMessage", "appendMessages", "replaceMessages"] as const),
  ...([
    "clearMessages",
    "undoMessages",
    "getMessages",
    "getConversation",
    "messageCount",
    "toolResults",
    "searchMessages",
  ] as const),
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
/** Does not compile when the contract has a method that is not listed above. */
type Rest = Omit<FullStore, Listed> & { exportAll: unknown; close: unknown };

function workerFile(): string {
  const found = findWorkerFile("store-worker");
  if (!found) throw new Error("The store's worker was not found; build the program first.");
  return found;
}

/** Takes the progress function out of the arguments, which must be plain data. */
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

interface StartedWorker {
  readonly worker: Worker;
  readonly client: WorkerClient<PlainError>;
}

/** One worker at a time. When it crashes, its calls fail and the next call starts another. */
class StoreWorker {
  readonly #options: WorkerStoreOptions;
  #started: Promise<StartedWorker> | undefined;
  #closed = false;

  constructor(options: WorkerStoreOptions) {
    this.#options = options;
  }

  async call(method: Method, args: readonly unknown[]): Promise<unknown> {
    if (this.#closed) throw new Error(`The session store ${this.#options.path} has been closed.`);
    const { client } = await this.start();
    const { plain, onProgress } = detachProgress(args);
    return client.call(method, plain, onProgress);
  }

  /** Starts the worker and opens the file in it, once. */
  start(): Promise<StartedWorker> {
    this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    const started = await this.#started;
    try {
      if (started) await this.call("close", []);
    } finally {
      this.#closed = true;
      await started?.worker.terminate();
    }
  }

  async #start(): Promise<StartedWorker> {
    const worker = new Worker(this.#options.workerFile ?? workerFile(), { stderr: false, ...SMALL_WORKER });
    const client = new WorkerClient<PlainError>(worker, {
      name: "The session store's worker",
      unpackError,
      idleUnref: true,
      onEvent: (notice: string) => this.#options.onNotice?.(notice),
      onEnd: () => {
        this.#started = undefined;
      },
    });
    const { path, runtimePath, indexLayout, busyTimeoutMs, readOnly } = this.#options;
    try {
      await client.call("open", [{ path, runtimePath, indexLayout, busyTimeoutMs, readOnly }]);
    } catch (error) {
      await worker.terminate();
      throw error;
    }
    return { worker, client };
  }
}

/** Rejects when the file cannot be opened, and ends the worker. */
export async function openWorkerSessionStore(options: WorkerStoreOptions): Promise<FullStore> {
  const worker = new StoreWorker(options);
  await worker.start();
  const proxied = Object.fromEntries(
    METHODS.map((name) => [name, (...args: unknown[]) => worker.call(name, args)]),
  ) as unknown as Proxied;
  const rest: Rest = {
    async *exportAll(source?: string): AsyncGenerator<ExportedSession> {
      const order = (await worker.call("exportOrder", [source])) as ExportEntry[];
      for (const { id, last_active } of order) {
        const session = (await worker.call("exportSession", [id])) as ExportedSession | null;
        if (session) yield { ...session, last_active };
      }
    },
    close: () => worker.close(),
  };
  return { ...proxied, ...rest } as FullStore;
}
