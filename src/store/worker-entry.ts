// The worker thread that hosts a SQLite session store for a long-running process.
import { parentPort } from "node:worker_threads";
import { BatchedPort } from "../lib/batched-port.ts";
import { SqliteSessionStore } from "./sqlite-session-store.ts";
import { type Call, type Callable, PROGRESS, packError, type Reply, type WorkerOptions } from "./worker-protocol.ts";

const port = parentPort;
if (!port) throw new Error("This file runs as a worker thread of the session store.");

let store: Promise<SqliteSessionStore> | undefined;

const replies = new BatchedPort<Reply>(port, (reply, error) => {
  if ("id" in reply) send({ id: reply.id, error: packError(error) });
});

function send(reply: Reply): void {
  replies.send(reply);
}

/** Puts a sender of progress where the caller's function was. */
function withProgress(id: number, args: readonly unknown[]): unknown[] {
  const report = (done: number, total: number) => send({ id, progress: [done, total] });
  return args.map((arg) => {
    if (arg === PROGRESS) return report;
    if (typeof arg === "object" && arg !== null && "onProgress" in arg) return { ...arg, onProgress: report };
    return arg;
  });
}

async function answer({ id, method, args }: Call): Promise<unknown> {
  if (method === "open") {
    const options = args[0] as WorkerOptions;
    store = SqliteSessionStore.open({ ...options, gather: true, onNotice: (notice) => send({ notice }) });
    await store;
    return null;
  }
  if (!store) throw new Error("The store was not opened.");
  const target = (await store) as Callable;
  return target[method](...(withProgress(id, args) as never[]));
}

port.on("message", (calls: readonly Call[]) => {
  for (const call of calls)
    answer(call).then(
      (value) => send({ id: call.id, value }),
      (error: unknown) => send({ id: call.id, error: packError(error) }),
    );
});
