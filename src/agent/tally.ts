// What a turn has used so far: model calls, tokens and money.
import type { Cost, CostStatus, Usage } from "../core/usage.ts";
import { addUsage, NO_USAGE } from "../core/usage.ts";

/** From the surest to the least sure; a sum is only as sure as its worst part. */
const SURENESS: readonly CostStatus[] = ["included", "actual", "estimated", "unknown"];

const NO_COST: Cost = { usd: 0, status: "included", source: "none" };

/** A sum of money whose status is that of its least sure part; unpriced calls leave the known part standing. */
export function addCost(a: Cost, b: Cost): Cost {
  const worse = SURENESS.indexOf(b.status) >= SURENESS.indexOf(a.status) ? b : a;
  const usd = a.usd === null && b.usd === null ? null : (a.usd ?? 0) + (b.usd ?? 0);
  return {
    usd,
    status: worse.status,
    source: worse.source,
    ...(worse.pricingVersion === undefined ? {} : { pricingVersion: worse.pricingVersion }),
  };
}

export class Tally {
  modelCalls = 0;
  usage: Usage = NO_USAGE;
  #cost: Cost | undefined;

  get cost(): Cost {
    return this.#cost ?? NO_COST;
  }

  addCall(usage: Usage, cost: Cost): void {
    this.modelCalls += 1;
    this.addSpend(usage, cost);
  }

  /** Spend of somebody else that counts here: a subagent, a tool that asks models itself. */
  addSpend(usage: Usage, cost: Cost): void {
    this.usage = addUsage(this.usage, usage);
    this.#cost = this.#cost === undefined ? cost : addCost(this.#cost, cost);
  }
}
