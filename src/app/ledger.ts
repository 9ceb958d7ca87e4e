// The usage ledger of a home: its file is opened at the first question, so that a run without a model call never does.

import type { Home } from "../core/home.ts";
import type { SessionIndex, SessionLog } from "../core/session.ts";
import type { UsageLedger } from "../core/usage.ts";
import { privateDatabase } from "../home/home-layout.ts";

export interface OpenedLedger {
  readonly ledger: UsageLedger;
  close(): void;
}

export async function openLedger(home: Home): Promise<OpenedLedger> {
  const [{ openRuntimeDbOrView }, { createUsageLedger }] = await Promise.all([
    import("../store/runtime-db.ts"),
    import("../store/runtime/usage-ledger.ts"),
  ]);
  const opened: { close(): void }[] = [];
  const ledger = createUsageLedger(() => {
    const db = openRuntimeDbOrView(privateDatabase(home, "runtime.db"));
    opened.push(db);
    return db;
  });
  return {
    ledger,
    close: () => {
      for (const db of opened.splice(0)) db.close();
    },
  };
}

/** Runs the work with the ledger open and closes its file whatever happens. */
export async function withLedger<T>(home: Home, work: (ledger: UsageLedger) => Promise<T>): Promise<T> {
  const { ledger, close } = await openLedger(home);
  try {
    return await work(ledger);
  } finally {
    close();
  }
}

/** The session and those that it was compacted from, oldest first. Branches and delegations start anew. */
async function findConversation(store: SessionLog & SessionIndex, sessionId: string): Promise<readonly string[]> {
  const chain = [sessionId];
  const parents = (await store.ancestors(sessionId)).slice(0, -1).reverse();
  for (const id of parents) {
    if ((await store.getSession(id))?.end_reason !== "compression") break;
    chain.unshift(id);
  }
  return chain;
}

/** The same ledger, in which what a session spent includes the sessions that it was compacted from. */
export function ledgerByConversation(ledger: UsageLedger, store: SessionLog & SessionIndex): UsageLedger {
  // Where a session comes from never changes once it has a parent; without one it may not be stored yet.
  const known = new Map<string, readonly string[]>();
  const findIds = async (sessionId: string) => {
    const found = known.get(sessionId) ?? (await findConversation(store, sessionId));
    if (found.length > 1) known.set(sessionId, found);
    return found;
  };
  return {
    record: (entry) => ledger.record(entry),
    report: (options) => ledger.report(options),
    spent: async (filter) => {
      const { sessionId } = filter;
      return ledger.spent(typeof sessionId === "string" ? { ...filter, sessionId: await findIds(sessionId) } : filter);
    },
  };
}
