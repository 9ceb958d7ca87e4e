// Model calls, tokens and cost of one turn.
import type { Cost, CostStatus, Usage } from "../core/store/usage.ts";
import { addUsage, NO_USAGE } from "../core/store/usage.ts";

/** From the most to the least certain; a sum is only as certain as its least certain part. */
const CERTAINTY: readonly CostStatus[] = ["included", "actual", "estimated", "unknown"];
const NO_COST: Cost = { usd: 0, status: "included", source: "none" };

/** A sum with the status of its least certain part; calls without a price do not erase the known part. */
function addCost(a: Cost, b: Cost): Cost {
  const worse = CERTAINTY.indexOf(b.status) >= CERTAINTY.indexOf(a.status) ? b : a;
  const usd = a.usd === null && b.usd === null ? null : (a.usd ?? 0) + (b.usd ?? 0);
  return { usd, status: worse.status, source: worse.source, pricingVersion: worse.pricingVersion };
}

export class TurnTotals {
  modelCalls = 0;
  usage: Usage = NO_USAGE;
  #cost: Cost | undefined;

  get cost(): Cost {
    return this.#cost ?? NO_COST;
  }

  /** Also counts the model calls of subagents and of tools. */
  add(usage: Usage, cost: Cost): void {
    this.usage = addUsage(this.usage, usage);
    this.#cost = this.#cost === undefined ? cost : addCost(this.#cost, cost);
  }
}
