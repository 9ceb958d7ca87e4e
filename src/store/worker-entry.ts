// The worker thread that hosts a SQLite session store for a long-running process.
import { parentPort } from "node:worker_threads";
import { serveCalls, type WorkerRequest } from "../lib/worker-rpc.ts";
import { SqliteSessionStore } from "./sqlite-session-store.ts";
import { type Callable, type Method, PROGRESS, packError, type WorkerOptions } from "./worker-protocol.ts";

if (!parentPort) throw new Error("This file runs as a worker thread of the session store.");

let store: Promise<SqliteSessionStore> | undefined;

/** The arguments with a function that sends progress in place of the caller's. */
function withProgress({ args, progress }: WorkerRequest): unknown[] {
  return args.map((arg) => {
    if (arg === PROGRESS) return progress;
    if (typeof arg === "object" && arg !== null && "onProgress" in arg) return { ...arg, onProgress: progress };
    return arg;
  });
}

const onNotice: (notice: string) => void = serveCalls(parentPort, packError, async (request) => {
  if (request.method === "open") {
    const options = request.args[0] as WorkerOptions;
    store = SqliteSessionStore.open({ ...options, gather: true, onNotice });
    await store;
    return null;
  }
  if (!store) throw new Error("The store was not opened.");
  const target = (await store) as Callable;
  return target[request.method as Method](...(withProgress(request) as never[]));
});
