// The usage ledger of a home: its file is opened at the first question, so that a run without a model call never does.
import { join } from "node:path";
import type { UsageLedger } from "../core/usage.ts";
import type { Home } from "./home.ts";

export interface OpenedLedger {
  readonly ledger: UsageLedger;
  close(): void;
}

export async function openLedger(home: Home): Promise<OpenedLedger> {
  const [{ openRuntimeDb }, { createUsageLedger }] = await Promise.all([
    import("../store/runtime-db.ts"),
    import("../store/runtime/usage-ledger.ts"),
  ]);
  const opened: { close(): void }[] = [];
  const ledger = createUsageLedger(() => {
    const db = openRuntimeDb(join(home.path, "runtime.db"));
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
