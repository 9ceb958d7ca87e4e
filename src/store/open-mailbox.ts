// Opens the gateway's mailbox: in this process for tests and tools, in a worker thread for the gateway.
import { Worker } from "node:worker_threads";
import type { Mailbox } from "../core/store/mailbox.ts";
import type { UsageLedger } from "../core/store/usage.ts";
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
  /** The usage ledger of the same file, when the mailbox is in a worker. */
  readonly ledger?: UsageLedger | undefined;
}

async function openInWorker(path: string, file: string, onError: (error: unknown) => void): Promise<OpenedMailbox> {
  const worker = new Worker(file, { stderr: false, ...SMALL_WORKER });
  const client = new WorkerClient<PlainError>(worker, { name: "The mailbox's worker", unpackError });
  await client.call("open", [path]);
  const proxied = Object.fromEntries(METHODS.map((name) => [name, (...args: unknown[]) => client.call(name, args)]));
  const close = async () => {
    if (!client.ended) await client.call("close", []);
    await worker.terminate();
  };
  const ledger: UsageLedger = {
    // The worker commits in the order of the calls: an answer is never on disk before the cost of its model call,
    // and the caller does not wait for the disk.
    record: async (entry) => void client.call("record", [entry]).catch(onError),
    spent: (filter) => client.call("spent", [filter]) as ReturnType<UsageLedger["spent"]>,
    report: (query) => client.call("report", [query]) as ReturnType<UsageLedger["report"]>,
  };
  return { mailbox: { ...proxied, close } as unknown as Mailbox, ledger };
}

/** `onError` gets errors of the usage ledger, which must not stop an answer. */
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
