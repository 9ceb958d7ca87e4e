// What `hermes usage` does: the ledger, grouped, with the caps that apply.

import { withLedger } from "../../app/ledger.ts";
import { openSettings } from "../../config/api.ts";
import type { Home } from "../../core/home.ts";
import type { JsonObject } from "../../core/message.ts";
import { addUsage, NO_USAGE, type UsageGroup } from "../../core/usage.ts";
import { type BudgetCaps, readProviderSettings } from "../settings.ts";

export type UsageGrouping = "model" | "purpose" | "session" | "day";

export interface UsageReport {
  readonly days: number;
  readonly by: UsageGrouping;
  readonly groups: readonly UsageGroup[];
  readonly total: Omit<UsageGroup, "key">;
  /** Dollars since midnight, and the caps of the configuration. */
  readonly today: number;
  readonly caps: BudgetCaps;
}

export async function usageReport(home: Home, options: { days: number; by: UsageGrouping }): Promise<UsageReport> {
  const { config } = await openSettings(home).inspect();
  const { budget } = readProviderSettings(config as unknown as JsonObject, home.env);
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  const today = midnight.getTime() / 1000;
  const since = today - (options.days - 1) * 86_400;
  return withLedger(home, async (ledger) => {
    const groups = await ledger.report({ since, by: options.by });
    let total = { calls: 0, usage: NO_USAGE, usd: 0, unpriced: 0, assumedUsd: 0 };
    for (const group of groups) {
      total = {
        calls: total.calls + group.calls,
        usage: addUsage(total.usage, group.usage),
        usd: total.usd + group.usd,
        unpriced: total.unpriced + group.unpriced,
        assumedUsd: total.assumedUsd + group.assumedUsd,
      };
    }
    return { ...options, groups, total, today: await ledger.spent({ since: today }), caps: budget };
  });
}
