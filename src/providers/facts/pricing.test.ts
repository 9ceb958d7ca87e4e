import { expect, test } from "vitest";
import { effectiveConfig } from "../../../test/kit/effective-config.ts";
import { requireEndpoint } from "../../../test/kit/require-endpoint.ts";
import type { Usage } from "../../core/store/usage.ts";
import { MODEL_DATA } from "../catalog/model-data.ts";
import type { Endpoint } from "../endpoint.ts";
import { readProviderSettings } from "../settings.ts";
import { calculateCost, dollars, pricesFor } from "./pricing.ts";
import { listedPrice } from "./pricing-table.ts";

const USED: Usage = { input: 1_000_000, output: 100_000, cacheRead: 2_000_000, cacheWrite: 400_000, reasoning: 5 };

function endpoint(provider: string, model: string, env: Record<string, string> = {}): Endpoint {
  return requireEndpoint({ provider, model }, { settings: readProviderSettings(effectiveConfig(), env), env });
}

function cost(target: Endpoint, usage: Usage = USED, known = {}) {
  return calculateCost(target, usage, pricesFor(target, known));
}

test("a model on the host of its maker has list prices, cache included", () => {
  const claude = endpoint("anthropic", "claude-sonnet-4-6", { ANTHROPIC_API_KEY: "sk-ant-api-1" });
  expect(cost(claude)).toMatchObject({
    usd: 3 + 1.5 + 0.6 + 1.5,
    status: "estimated",
    source: "official_docs_snapshot",
  });
  expect(cost(claude).pricingVersion).toMatch(/^\d{4}-\d{2}$/);
});

test("tokens without a known price get an assumed one", () => {
  const gpt = endpoint("openai", "gpt-4o", { OPENAI_API_KEY: "sk-proj-1" });
  expect(cost(gpt)).toMatchObject({ status: "estimated", source: "assumed_price" });
  expect(cost(gpt).usd).toBeCloseTo(2.5 + 1 + 2.5 + 0.4 * 2.5 * 1.25);
  expect(cost(gpt, { ...USED, cacheWrite: 0 }).usd).toBeCloseTo(2.5 + 1 + 2.5);
});

test("the price of the user wins over the endpoint's, the endpoint's over the list", () => {
  const router = endpoint("openrouter", "some/model", { OPENROUTER_API_KEY: "sk-or-1" });
  const listed = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
  expect(cost(router)).toMatchObject({ status: "estimated", source: "assumed_price" });
  expect(cost(router, USED, { listed })).toMatchObject({ usd: 1.1, source: "provider_models_api" });
  expect(cost(router, USED, { listed, override: { ...listed, input: 2 } })).toMatchObject({
    usd: 2.1,
    source: "user_override",
  });
});

test("list prices do not apply to a proxy; local and offline models are free", () => {
  const proxy = endpoint("anthropic", "claude-sonnet-4-6", {
    ANTHROPIC_API_KEY: "sk-ant-api-1",
    ANTHROPIC_BASE_URL: "https://proxy.example",
  });
  expect(cost(proxy).source).toBe("assumed_price");
  expect(cost(endpoint("ollama", "llama3"))).toEqual({ usd: 0, status: "included", source: "none" });
  expect(cost(endpoint("offline", "offline")).usd).toBe(0);
});

test.each([
  ["anthropic", "claude-opus-5-5", 4, 20],
  ["anthropic", "claude-sonnet-5-5-20260929", 2, 10],
  ["anthropic", "claude-opus-4-8", 5, 25],
  ["openai", "gpt-6.1-sol", 2, 10],
  ["openai", "gpt-5.5-pro", 30, 180],
  ["xai", "grok-4.6", 2, 6],
  ["zai", "glm-5.3", 1.4, 4.4],
  ["deepseek", "deepseek-v4-pro", 1.74, 3.48],
  ["bedrock", "anthropic.claude-haiku-4-5", 0.8, 4],
])("the list price of %s/%s", (provider, model, input, output) => {
  expect(listedPrice(provider, model)?.prices).toMatchObject({ input, output });
});

test("every row of the model data names its page and the month in which it was read", () => {
  for (const { source, read, rows } of MODEL_DATA) {
    expect(source).not.toBe("");
    expect(read).toMatch(/^20\d\d-\d\d$/);
    for (const { name } of rows) expect(name).toBe(name.toLowerCase());
  }
});

test.each([
  ["openai", "gpt-5.6-sol"],
  ["openai", "gpt-7"],
  ["anthropic", "claude-opus-6"],
  ["xai", "grok-4.7"],
  ["gemini", "gemini-3.9-flash"],
  ["deepseek", "deepseek-flash"],
  ["custom", "never-heard-of-it"],
])("a newer or unknown model of %s (%s) gets an assumed price, not the price of an older one", (provider, model) => {
  expect(listedPrice(provider, model)).toBeUndefined();
  const used = { ...USED, input: 1_000, output: 1_000, cacheRead: 1_000, cacheWrite: 1_000 };
  const target = { ...endpoint("openrouter", "some/model", { OPENROUTER_API_KEY: "sk-or-1" }), model };
  expect(cost(target, used).usd).toBeGreaterThan(0.004);
});

test("the longest family name wins; dots and dashes are equal", () => {
  expect(listedPrice("openai", "gpt-5.4-mini-2026")?.prices.input).toBe(0.75);
  expect(listedPrice("anthropic", "claude-opus-4.6")?.prices.input).toBe(5);
  expect(listedPrice("anthropic", "claude-opus-4-20250514")?.prices.input).toBe(15);
  expect(listedPrice("anthropic", "mystery")).toBeUndefined();
  expect(dollars({ ...USED, cacheRead: 0, cacheWrite: 0 }, { input: 1, output: 10 })).toBe(2);
});
