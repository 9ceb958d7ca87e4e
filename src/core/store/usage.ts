// What a model call used and what it cost.

/** `input` excludes cached tokens: the whole prompt is input + cacheRead + cacheWrite. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

export type CostStatus = "actual" | "estimated" | "included" | "unknown";

export interface Cost {
  /** US dollars; null when a price for a used bucket is not known. */
  readonly usd: number | null;
  readonly status: CostStatus;
  /** `provider_models_api`, `official_docs_snapshot`, `user_override`, `assumed_price`, `none` … */
  readonly source: string;
  readonly pricingVersion?: string | undefined;
}

/** The source of a cost whose price is not known and was assumed, on the high side. */
export const ASSUMED_PRICE = "assumed_price";

/** One row per model call, for any purpose. */
export interface LedgerEntry {
  /** Seconds since the epoch. */
  readonly at: number;
  /** `turn`, `wrap_up`, or the name of an auxiliary task: `compression`, `title_generation` … */
  readonly purpose: string;
  readonly sessionId: string | null;
  readonly jobId: string | null;
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly usage: Usage;
  readonly cost: Cost;
  readonly durationMs: number;
  readonly outcome: "ok" | "failed" | "interrupted";
}

export interface SpendFilter {
  /** Seconds since the epoch. */
  readonly since?: number | undefined;
  /** Several for a conversation that was compacted into new sessions. */
  readonly sessionId?: string | readonly string[] | undefined;
  readonly jobId?: string | undefined;
}

export interface UsageGroup {
  readonly key: string;
  readonly calls: number;
  readonly usage: Usage;
  readonly usd: number;
  /** Calls whose price is not known; their cost is not in `usd`. */
  readonly unpriced: number;
  /** The part of `usd` that is based on an assumed price. */
  readonly assumedUsd: number;
}

/** The durable record of spend. `record` resolves when the row is on disk. */
export interface UsageLedger {
  record(entry: LedgerEntry): Promise<void>;
  /** Dollars spent under the filter. */
  spent(filter: SpendFilter): Promise<number>;
  /** With `sessionIds`, only what these sessions used. */
  report(options: {
    since: number;
    by: "model" | "purpose" | "session" | "day";
    sessionIds?: readonly string[] | undefined;
  }): Promise<UsageGroup[]>;
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    reasoning: a.reasoning + b.reasoning,
  };
}

/** Tokens that the provider read: fresh and cached. */
export function promptTokens(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheWrite;
}

/** `$1.50`; small amounts with as many digits as needed to differ from zero. */
export function inDollars(usd: number): string {
  if (usd === 0 || Math.abs(usd) >= 0.01) return `$${usd.toFixed(2)}`;
  return `$${usd.toFixed(Math.min(20, 1 - Math.floor(Math.log10(Math.abs(usd)))))}`;
}
