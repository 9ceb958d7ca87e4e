// A usage ledger in memory, for tests of code that records usage.
import type { LedgerEntry, SpendFilter, Usage, UsageGroup, UsageLedger } from "../../src/core/store/usage.ts";
import { addUsage, NO_USAGE } from "../../src/core/store/usage.ts";

export class MemoryLedger implements UsageLedger {
  readonly entries: LedgerEntry[] = [];

  record(entry: LedgerEntry): Promise<void> {
    this.entries.push(entry);
    return Promise.resolve();
  }

  spent(filter: SpendFilter): Promise<number> {
    const counted = this.entries.filter(
      (entry) =>
        (filter.since === undefined || entry.at >= filter.since) &&
        (filter.sessionId === undefined || [filter.sessionId].flat().includes(entry.sessionId ?? "")) &&
        (filter.jobId === undefined || entry.jobId === filter.jobId),
    );
    return Promise.resolve(counted.reduce((sum, entry) => sum + (entry.cost.usd ?? 0), 0));
  }

  report(): Promise<UsageGroup[]> {
    return Promise.resolve([]);
  }

  /** The sum of all entries, to compare with what a server billed. */
  total(): Usage {
    return this.entries.reduce((sum, entry) => addUsage(sum, entry.usage), NO_USAGE);
  }
}
