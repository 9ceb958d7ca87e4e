// The worker thread that keeps the gateway's mailbox and its record of spending: the gateway's event loop never waits for the disk.
import { parentPort } from "node:worker_threads";
import type { Mailbox } from "../core/mailbox.ts";
import type { UsageLedger } from "../core/usage.ts";
import { BatchedPort } from "../lib/batched-port.ts";
import { createMailbox, GroupCommit } from "./runtime/mailbox.ts";
import { createUsageLedger, insertUsage } from "./runtime/usage-ledger.ts";
import { openRuntimeDb } from "./runtime-db.ts";
import { type PlainError, packError } from "./worker-protocol.ts";

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

const replies = new BatchedPort<{ readonly id: number; readonly value?: unknown; readonly error?: PlainError }>(
  port,
  ({ id }, error) => replies.send({ id, error: packError(error) }),
);

port.on("message", (calls: readonly Call[]) => {
  for (const call of calls)
    answer(call).then(
      (value) => replies.send({ id: call.id, value }),
      (error: unknown) => replies.send({ id: call.id, error: packError(error) }),
    );
});
