// The door to the gateway's mailbox: in this process for tests and tools, in a worker thread for the gateway itself.
import { Worker } from "node:worker_threads";
import type { Mailbox } from "../core/mailbox.ts";
import type { UsageLedger } from "../core/usage.ts";
import { BatchedPort } from "../lib/batched-port.ts";
import { findWorkerFile, SMALL_WORKER } from "../lib/worker-file.ts";
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

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

type Reply = { readonly id: number; readonly value?: unknown; readonly error?: PlainError };

export interface OpenedMailbox {
  readonly mailbox: Mailbox;
  /** The ledger over the same file, when it lives in the same worker. */
  readonly ledger?: UsageLedger | undefined;
}

async function openInWorker(path: string, file: string, onError: (error: unknown) => void): Promise<OpenedMailbox> {
  const worker = new Worker(file, { stderr: false, ...SMALL_WORKER });
  const waiting = new Map<number, Waiting>();
  const calls = new BatchedPort<Call>(worker, ({ id }, error) => {
    waiting.get(id)?.reject(error);
    waiting.delete(id);
  });
  let next = 1;
  let ended: Error | undefined;
  const call = (method: string, args: readonly unknown[]) =>
    new Promise<unknown>((resolve, reject) => {
      if (ended) return reject(ended);
      const id = next++;
      waiting.set(id, { resolve, reject });
      calls.send({ id, method, args });
    });
  const lose = (error: Error) => {
    ended ??= error;
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  };
  const receive = (reply: Reply) => {
    const found = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.error) found?.reject(unpackError(reply.error));
    else found?.resolve(reply.value);
  };
  worker.on("message", (replies: readonly Reply[]) => replies.forEach(receive));
  worker.on("error", lose);
  worker.on("exit", (code) => lose(new Error(`The mailbox's worker ended (exit code ${code}).`)));
  await call("open", [path]);
  const proxied = Object.fromEntries(METHODS.map((name) => [name, (...args: unknown[]) => call(name, args)]));
  const close = async () => {
    if (!ended) await call("close", []);
    await worker.terminate();
  };
  const ledger: UsageLedger = {
    // The worker commits in the order of the calls: the answer that a call paid for is never on disk before its cost,
    // and nobody has to wait for the disk in between.
    record: async (entry) => void call("record", [entry]).catch(onError),
    spent: (filter) => call("spent", [filter]) as ReturnType<UsageLedger["spent"]>,
    report: (query) => call("report", [query]) as ReturnType<UsageLedger["report"]>,
  };
  return { mailbox: { ...proxied, close } as unknown as Mailbox, ledger };
}

/** `onTrouble` is told when spending could not be recorded: that must not stop an answer. */
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
