// The usage ledger of a home, opened on its own for commands that need nothing else of the store.
import { join } from "node:path";
import type { UsageLedger } from "../core/usage.ts";
import type { Home } from "./home.ts";

/** Runs the work with the ledger open and closes its file whatever happens. */
export async function withLedger<T>(home: Home, work: (ledger: UsageLedger) => Promise<T>): Promise<T> {
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
  try {
    return await work(ledger);
  } finally {
    for (const db of opened) db.close();
  }
}
