// The worker thread that keeps the gateway's mailbox and its record of spending: the gateway's event loop never waits for the disk.
import { parentPort } from "node:worker_threads";
import type { Mailbox } from "../core/mailbox.ts";
import type { UsageLedger } from "../core/usage.ts";
import { createMailbox, GroupCommit } from "./runtime/mailbox.ts";
import { createUsageLedger, insertUsage } from "./runtime/usage-ledger.ts";
import { openRuntimeDb } from "./runtime-db.ts";
import { packError } from "./worker-protocol.ts";

interface Call {
  readonly id: number;
  readonly method: keyof Mailbox | keyof UsageLedger | "open";
  readonly args: readonly unknown[];
}

const port = parentPort;
if (!port) throw new Error("This file runs as a worker thread of the gateway.");

let services: (Mailbox & UsageLedger) | undefined;

async function answer({ method, args }: Call): Promise<unknown> {
  if (method === "open") {
    const db = openRuntimeDb(String(args[0]));
    const group = new GroupCommit(db);
    services = {
      ...createUsageLedger(() => db),
      ...createMailbox(db, Date.now, group),
      // Spending shares the transactions of the mailbox, in the order of the calls.
      record: (entry) => group.note((on) => insertUsage(on, entry)),
    };
    return null;
  }
  if (!services) throw new Error("The mailbox was not opened.");
  const call = services[method] as (...values: readonly unknown[]) => Promise<unknown>;
  return call(...args);
}

port.on("message", (call: Call) => {
  answer(call).then(
    (value) => port.postMessage({ id: call.id, value }),
    (error: unknown) => port.postMessage({ id: call.id, error: packError(error) }),
  );
});
