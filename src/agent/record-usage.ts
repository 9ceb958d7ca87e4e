// Records what a model call used: in the turn's totals, the session row, the context engine and an event.
import type { ModelResponse } from "../core/model/provider.ts";
import { promptTokens } from "../core/store/usage.ts";
import type { Turn } from "./turn-state.ts";

/** Part of the compaction threshold from which the user is notified. */
const PRESSURE = 0.85;

async function updateRow(turn: Turn, response: ModelResponse): Promise<void> {
  const { usage, cost, identity } = response;
  const { store, log } = turn.state;
  const billed = cost.usd ?? undefined;
  await store.updateTokenCounts(log.sessionId, {
    inputTokens: usage.input,
    outputTokens: usage.output,
    cacheReadTokens: usage.cacheRead,
    cacheWriteTokens: usage.cacheWrite,
    reasoningTokens: usage.reasoning,
    actualCostUsd: cost.status === "actual" ? billed : undefined,
    estimatedCostUsd: cost.status === "actual" ? undefined : billed,
    // The row holds a sum, so it gets the status of the turn so far, not of this call.
    costStatus: turn.totals.cost.status,
    costSource: turn.totals.cost.source,
    pricingVersion: cost.pricingVersion,
    billingProvider: identity.provider,
    billingBaseUrl: identity.baseUrl,
    billingMode: cost.status === "included" ? "subscription_included" : undefined,
    model: identity.model,
    apiCallCount: 1,
  });
}

/**
 * Must be called before the reply is appended: the provider counted the log of the request. The session row is updated
 * together with the next messages, or by `writePendingUsage`.
 */
export function recordUsage(turn: Turn, response: ModelResponse): void {
  const { engine, log } = turn.state;
  const { usage, cost } = response;
  const prompt = promptTokens(usage);
  const contextTokens = prompt + usage.output;
  turn.totals.modelCalls += 1;
  turn.totals.add(usage, cost);
  engine.updateFromResponse({
    promptTokens: prompt,
    completionTokens: usage.output,
    totalTokens: contextTokens,
  });
  log.reported(prompt);
  turn.emit({ type: "usage", usage, cost, contextTokens, contextLength: engine.contextLength });
  warnNearlyFull(turn, prompt);
  const earlier = turn.pendingUsage;
  turn.pendingUsage = async () => {
    await earlier?.();
    await updateRow(turn, response);
  };
}

/** Shown to the user once until the usage falls below the limit again, never to the model: it would cut its work short. */
function warnNearlyFull(turn: Turn, prompt: number): void {
  const { state } = turn;
  const threshold = state.engine.thresholdTokens;
  if (threshold <= 0 || state.settings.compaction === false) return;
  const full = prompt >= threshold * PRESSURE;
  const shown = state.pressureShown;
  state.pressureShown = full;
  if (!full || shown) return;
  const percent = Math.round((prompt / threshold) * 100);
  const tokens = `${prompt.toLocaleString("en-US")}/${threshold.toLocaleString("en-US")} tokens`;
  turn.notice("warning", `⚠️ Context is ${percent}% to compaction threshold (${tokens})`);
}
