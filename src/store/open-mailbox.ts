// Opens the gateway's mailbox: in this process for tests and commands, in a worker thread for the gateway.
import { Worker } from "node:worker_threads";
import type { Mailbox } from "../core/mailbox.ts";
import type { UsageLedger } from "../core/usage.ts";
import { findWorkerFile, SMALL_WORKER } from "../lib/worker-file.ts";
import { WorkerClient } from "../lib/worker-rpc.ts";
import { type PlainError, unpackError } from "./worker-protocol.ts";

const METHODS: readonly (keyof Mailbox)[] = [
  ...(["accept", "pending", "begin", "finish", "enqueue", "sending", "sent", "postponed", "failed"] as const),
  ...([
    "findOutgoing",
    "knownMessages",
    "newestMessages",
    "failures",
    "getMemory",
    "setMemory",
    "counts",
    "prune",
  ] as const),
];

export interface OpenedMailbox {
  readonly mailbox: Mailbox;
  /** The ledger over the same file, when it lives in the same worker. */
  readonly ledger?: UsageLedger | undefined;
}

async function openInWorker(path: string, file: string, onError: (error: unknown) => void): Promise<OpenedMailbox> {
  const worker = new Worker(file, { stderr: false, ...SMALL_WORKER });
  const client = new WorkerClient<PlainError>(worker, { name: "The mailbox's worker", unpackError });
  const call = (method: string, args: readonly unknown[]) => client.call(method, args);
  await call("open", [path]);
  const proxied = Object.fromEntries(METHODS.map((name) => [name, (...args: unknown[]) => call(name, args)]));
  const close = async () => {
    if (!client.ended) await call("close", []);
    await worker.terminate();
  };
  const ledger: UsageLedger = {
    // The worker commits in the order of the calls, so the cost of an answer is on disk before the answer without waiting for
    // the disk here.
    record: async (entry) => void call("record", [entry]).catch(onError),
    spent: (filter) => call("spent", [filter]) as ReturnType<UsageLedger["spent"]>,
    report: (query) => call("report", [query]) as ReturnType<UsageLedger["report"]>,
  };
  return { mailbox: { ...proxied, close } as unknown as Mailbox, ledger };
}

/** `onError` is called when a cost could not be recorded, which must not stop an answer. */
export async function openMailbox(
  path: string,
  host: "in-process" | "worker",
  onError: (error: unknown) => void = () => undefined,
): Promise<OpenedMailbox> {
  const file = host === "worker" ? findWorkerFile("mail-worker") : undefined;
  if (host === "worker" && file) return openInWorker(path, file, onError);
  if (host === "worker") throw new Error("The mailbox's worker was not found; build the program first.");
  const [{ createMailbox }, { openRuntimeDb }] = await Promise.all([
    import("./runtime/mailbox.ts"),
    import("./runtime-db.ts"),
  ]);
  return { mailbox: createMailbox(openRuntimeDb(path)) };
}
