// Books what a model call used: the turn's total, the session row, the engine, the surface.
import type { ModelResponse } from "../core/provider.ts";
import { promptTokens } from "../core/usage.ts";
import type { TurnScope } from "./turn-scope.ts";

const PRESSURE = 0.85;

async function updateRow(turn: TurnScope, response: ModelResponse): Promise<void> {
  const { usage, cost, identity } = response;
  const { store } = turn.thread.parts;
  const billed = cost.status === "actual" ? "actualCostUsd" : "estimatedCostUsd";
  await store.updateTokenCounts(turn.thread.log.sessionId, {
    inputTokens: usage.input,
    outputTokens: usage.output,
    cacheReadTokens: usage.cacheRead,
    cacheWriteTokens: usage.cacheWrite,
    reasoningTokens: usage.reasoning,
    ...(cost.usd === null ? {} : { [billed]: cost.usd }),
    // A sum is only as sure as its least sure part, so the row takes the status of the turn so far, not of this call.
    costStatus: turn.tally.cost.status,
    costSource: turn.tally.cost.source,
    ...(cost.pricingVersion === undefined ? {} : { pricingVersion: cost.pricingVersion }),
    billingProvider: identity.provider,
    billingBaseUrl: identity.baseUrl,
    ...(cost.status === "included" ? { billingMode: "subscription_included" } : {}),
    model: identity.model,
    apiCallCount: 1,
  });
}

/** Called before the reply is stored: the provider counted the log as it stood when it was asked. Resolves when the row is. */
export async function accountFor(turn: TurnScope, response: ModelResponse): Promise<void> {
  const { thread } = turn;
  const { engine } = thread.parts;
  const { usage, cost } = response;
  const prompt = promptTokens(usage);
  turn.tally.addCall(usage, cost);
  engine.updateFromResponse({
    promptTokens: prompt,
    completionTokens: usage.output,
    totalTokens: prompt + usage.output,
  });
  thread.reported(prompt);
  const contextTokens = prompt + usage.output;
  turn.emit({ type: "usage", usage, cost, contextTokens, contextLength: engine.contextLength });
  warnOfPressure(turn, prompt);
  await updateRow(turn, response);
}

/** Told to the person once a session; the model is never told, it would hurry. */
function warnOfPressure(turn: TurnScope, prompt: number): void {
  const { thread } = turn;
  const { engine, settings } = thread.parts;
  const threshold = engine.thresholdTokens;
  if (thread.pressureShown || settings.compression === false || threshold <= 0 || prompt < threshold * PRESSURE) return;
  thread.pressureShown = true;
  const percent = Math.round((prompt / threshold) * 100);
  turn.notice("info", `The conversation is at ${percent} % of the size at which older parts are summarised.`);
}
