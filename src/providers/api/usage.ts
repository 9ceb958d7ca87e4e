// The report of `hermes usage`: the ledger in groups, and the spending caps.
import { addUsage, NO_USAGE, type UsageGroup } from "../../core/store/usage.ts";
import type { ModelsContext } from "./models-context.ts";

export type UsageGrouping = "model" | "purpose" | "session" | "day";

export interface UsageReport {
  readonly days: number;
  readonly by: UsageGrouping;
  readonly groups: readonly UsageGroup[];
  readonly total: Omit<UsageGroup, "key">;
  /** Dollars since midnight, and the caps of the configuration. */
  readonly today: number;
  readonly caps: {
    readonly dailyUsd?: number | undefined;
    readonly sessionUsd?: number | undefined;
    readonly jobUsd?: number | undefined;
  };
}

export async function usageReport(
  { settings, withLedger }: ModelsContext,
  options: { days: number; by: UsageGrouping },
): Promise<UsageReport> {
  const { budget } = (await settings.inspect()).config;
  const caps = {
    dailyUsd: budget.daily_usd ?? undefined,
    sessionUsd: budget.session_usd ?? undefined,
    jobUsd: budget.job_usd ?? undefined,
  };
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  const today = midnight.getTime() / 1000;
  const since = today - (options.days - 1) * 86_400;
  return withLedger(async (ledger) => {
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
    return { ...options, groups, total, today: await ledger.spent({ since: today }), caps };
  });
}
