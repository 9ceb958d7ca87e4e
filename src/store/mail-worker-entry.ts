// The worker thread of the gateway's mailbox and usage ledger: the event loop of the gateway never waits for the disk.
import { parentPort } from "node:worker_threads";
import type { Mailbox } from "../core/store/mailbox.ts";
import type { UsageLedger } from "../core/store/usage.ts";
import { serveCalls } from "../lib/worker-rpc.ts";
import { createMailbox, GroupCommit } from "./runtime/mailbox.ts";
import { createUsageLedger, insertUsage } from "./runtime/usage-ledger.ts";
import { openRuntimeDb } from "./runtime-db.ts";
import { packError } from "./worker-protocol.ts";

if (!parentPort) throw new Error("This file runs as a worker thread of the gateway.");

let services: (Mailbox & UsageLedger) | undefined;

serveCalls(parentPort, packError, async ({ method, args }) => {
  if (method === "open") {
    const db = openRuntimeDb(String(args[0]));
    const group = new GroupCommit(db);
    services = {
      ...createUsageLedger(() => db),
      ...createMailbox(db, Date.now, group),
      // Usage shares the transactions of the mailbox, in the order of the calls.
      record: (entry) => group.note((on) => insertUsage(on, entry)),
    };
    return null;
  }
  if (!services) throw new Error("The mailbox was not opened.");
  const call = services[method as keyof typeof services] as (...values: readonly unknown[]) => Promise<unknown>;
  return call(...args);
});
