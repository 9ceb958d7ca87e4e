// Hard spending caps, checked before each call against the ledger.
import type { Config } from "../../core/config/config.ts";
import type { Failure } from "../../core/failure.ts";
import type { ModelRequest } from "../../core/model/provider.ts";
import { inDollars, type SpendFilter, type UsageLedger } from "../../core/store/usage.ts";

type SpendScope = Pick<ModelRequest, "sessionId" | "jobId">;

/** Local midnight, in seconds since the epoch. */
function startOfDay(now: number): number {
  const day = new Date(now);
  day.setHours(0, 0, 0, 0);
  return day.getTime() / 1000;
}

interface Cap {
  readonly name: string;
  readonly setting: string;
  readonly usd: number;
  readonly filter: SpendFilter;
}

function capsFor(caps: Config["budget"], scope: SpendScope, now: number): Cap[] {
  const { daily_usd: daily, session_usd: session, job_usd: job } = caps;
  const { sessionId, jobId } = scope;
  const found: Cap[] = [];
  if (daily !== null)
    found.push({ name: "daily", setting: "budget.daily_usd", usd: daily, filter: { since: startOfDay(now) } });
  if (session !== null && sessionId !== undefined)
    found.push({ name: "session", setting: "budget.session_usd", usd: session, filter: { sessionId } });
  if (job !== null && jobId !== undefined)
    found.push({ name: "job", setting: "budget.job_usd", usd: job, filter: { jobId } });
  return found;
}

/** The failure that stops the call; undefined when no cap is reached. */
export async function overCap(
  ledger: UsageLedger,
  caps: Config["budget"],
  scope: SpendScope,
  now: number,
): Promise<Failure | undefined> {
  for (const cap of capsFor(caps, scope, now)) {
    const spent = await ledger.spent(cap.filter);
    if (spent < cap.usd) continue;
    return {
      kind: "budget_exceeded",
      message: `The ${cap.name} spending cap of ${inDollars(cap.usd)} is reached (${inDollars(spent)} spent); no call was made`,
      hint: `Raise ${cap.setting} in config.yaml (\`hermes config set ${cap.setting} …\`), or use a local model. \`hermes usage\` shows what was spent.`,
    };
  }
  return undefined;
}
