// Token counters, cost and billing identity of a session.
import type { TokenUpdate } from "../../core/store/session.ts";
import type { StoreContext } from "./context.ts";
import { createSession } from "./sessions.ts";

const COUNTERS = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"];

const COMMON = `
  cost_status = COALESCE(?, cost_status),
  cost_source = COALESCE(?, cost_source),
  pricing_version = COALESCE(?, pricing_version),
  billing_provider = COALESCE(billing_provider, ?),
  billing_base_url = COALESCE(billing_base_url, ?),
  billing_mode = COALESCE(billing_mode, ?),
  model = COALESCE(model, ?)
  WHERE id = ?`;

const INCREMENT = `UPDATE sessions SET
  ${COUNTERS.map((name) => `${name} = COALESCE(${name}, 0) + ?`).join(", ")},
  api_call_count = COALESCE(api_call_count, 0) + ?,
  estimated_cost_usd = COALESCE(estimated_cost_usd, 0) + COALESCE(?, 0),
  actual_cost_usd = COALESCE(actual_cost_usd + ?, ?, actual_cost_usd),
  ${COMMON}`;

const ABSOLUTE = `UPDATE sessions SET
  ${COUNTERS.map((name) => `${name} = ?`).join(", ")},
  api_call_count = ?,
  estimated_cost_usd = COALESCE(?, 0),
  actual_cost_usd = COALESCE(?, ?, actual_cost_usd),
  ${COMMON}`;

/** Adds to the counters, or sets them. Creates the row (source `unknown`) when it is not there yet. */
export function updateTokenCounts(context: StoreContext, id: string, update: TokenUpdate): void {
  createSession(context, { id, source: "unknown" });
  context.db
    .prepare(update.absolute ? ABSOLUTE : INCREMENT)
    .run(
      update.inputTokens ?? 0,
      update.outputTokens ?? 0,
      update.cacheReadTokens ?? 0,
      update.cacheWriteTokens ?? 0,
      update.reasoningTokens ?? 0,
      update.apiCallCount ?? 0,
      update.estimatedCostUsd ?? null,
      update.actualCostUsd ?? null,
      update.actualCostUsd ?? null,
      update.costStatus ?? null,
      update.costSource ?? null,
      update.pricingVersion ?? null,
      update.billingProvider ?? null,
      update.billingBaseUrl ?? null,
      update.billingMode ?? null,
      update.model ?? null,
      id,
    );
}
