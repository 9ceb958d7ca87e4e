import { expect, test } from "vitest";
import { setUpClient } from "../../../test/kit/model-client.ts";

test.each([
  ["openrouter", "anthropic/claude-sonnet-4.5", "5m", "Prompt caching: ENABLED (Claude via OpenRouter, 5m TTL)"],
  ["anthropic", "claude-sonnet-4-5", "1h", "Prompt caching: ENABLED (Claude via Anthropic, 1h TTL)"],
  ["openrouter", "openai/gpt-5", "5m", ""],
] as const)("the line about prompt caching: %s with %s and %s", async (provider, model, ttl, line) => {
  const made = await setUpClient({
    config: { model: { provider, default: model }, prompt_caching: { cache_ttl: ttl } },
    env: { OPENROUTER_API_KEY: "test-key", ANTHROPIC_API_KEY: "test-key" },
  });
  try {
    expect(made.client.caching).toMatchObject({ status: line, enabled: line !== "" });
  } finally {
    await made.close();
  }
});
