// The worker thread that hosts a SQLite session store for a long-running process.
import { parentPort } from "node:worker_threads";
import { serveCalls } from "../lib/worker-rpc.ts";
import { SqliteSessionStore } from "./sqlite-session-store.ts";
import { type Callable, type Method, PROGRESS, packError, type WorkerOptions } from "./worker-protocol.ts";

const port = parentPort;
if (!port) throw new Error("This file runs as a worker thread of the session store.");

let store: Promise<SqliteSessionStore> | undefined;

/** Puts a function that reports progress where the caller's function was. */
function withProgress(args: readonly unknown[], report: (done: number, total: number) => void): unknown[] {
  return args.map((arg) => {
    if (arg === PROGRESS) return report;
    if (typeof arg === "object" && arg !== null && "onProgress" in arg) return { ...arg, onProgress: report };
    return arg;
  });
}

const sendNotice = serveCalls(port, packError, async ({ method, args, progress }) => {
  if (method === "open") {
    const options = args[0] as WorkerOptions;
    store = SqliteSessionStore.open({ ...options, gather: true, onNotice: (notice) => sendNotice(notice) });
    await store;
    return null;
  }
  if (!store) throw new Error("The store was not opened.");
  const target = (await store) as Callable;
  return target[method as Method](...(withProgress(args, progress) as never[]));
});
