import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Actions, type CallError, classify, findLimit } from "./classify.ts";

const WHO = { provider: "p", model: "m", label: "The provider" };
const LARGE = { tokens: 90_000, messages: 100, window: 200_000 };
const SMALL = { tokens: 900, messages: 3, window: 200_000 };

function flags(actions: Actions): string {
  const names = (["retry", "compact", "rotate", "fallback"] as const).filter((name) => actions[name]);
  return [...names, ...(actions.recovery ? [actions.recovery] : [])].join(" ");
}

const ROWS: readonly (readonly [string, Partial<CallError>, string, string])[] = [
  [
    "refused thinking",
    { status: 400, message: "Invalid `signature` in `thinking` block" },
    "thinking_signature",
    "retry strip_thinking",
  ],
  [
    "long context plan",
    { status: 429, message: "Extra usage is required for long context requests" },
    "long_context_tier",
    "retry compact",
  ],
  [
    "grammar",
    { status: 400, message: "Unable to generate parser for this template: failed to parse grammar" },
    "llama_cpp_grammar_pattern",
    "retry strip_schema_patterns",
  ],
  ["401", { status: 401, message: "bad key" }, "auth", "rotate fallback"],
  ["403", { status: 403, message: "not allowed" }, "auth", "rotate fallback"],
  ["auth words", { message: "Invalid API key provided" }, "auth", "rotate fallback"],
  ["402", { status: 402, message: "Payment Required" }, "billing", "rotate fallback"],
  ["403 key limit", { status: 403, message: "Key limit exceeded (total limit)" }, "billing", "rotate fallback"],
  ["quota words", { message: "You exceeded your current quota, please check your plan" }, "billing", "rotate fallback"],
  [
    "429 out of credit",
    { status: 429, message: "insufficient_quota: you exceeded your current quota" },
    "billing",
    "rotate fallback",
  ],
  ["429", { status: 429, message: "slow down" }, "rate_limit", "retry rotate fallback"],
  [
    "402 that passes",
    { status: 402, message: "Usage limit reached, resets at 5pm" },
    "rate_limit",
    "retry rotate fallback",
  ],
  ["throttle words", { message: "ThrottlingException: Too many requests" }, "rate_limit", "retry rotate fallback"],
  [
    "usage limit that passes",
    { message: "usage limit reached, try again in 30 s" },
    "rate_limit",
    "retry rotate fallback",
  ],
  ["permanent usage limit", { message: "usage limit reached" }, "billing", "rotate fallback"],
  ["503", { status: 503, message: "" }, "overloaded", "retry"],
  ["529", { status: 529, message: "Overloaded" }, "overloaded", "retry"],
  ["500", { status: 500, message: "" }, "server_error", "retry"],
  ["502", { status: 502, message: "" }, "server_error", "retry"],
  ["time-out", { transport: "timeout", message: "no first token" }, "timeout", "retry"],
  ["TLS", { transport: "tls", message: "ssl alert", size: LARGE }, "timeout", "retry"],
  ["disconnect", { transport: "cut", message: "", size: SMALL }, "timeout", "retry"],
  [
    "overflow words",
    { status: 400, message: "This model's maximum context length is 8192 tokens" },
    "context_overflow",
    "retry compact",
  ],
  [
    "overflow code",
    { status: 400, code: "context_length_exceeded", message: "too big" },
    "context_overflow",
    "retry compact",
  ],
  ["overflow in Chinese", { status: 400, message: "输入超过最大长度" }, "context_overflow", "retry compact"],
  ["bare 400 on a large session", { status: 400, message: "Error", size: LARGE }, "context_overflow", "retry compact"],
  ["bare 400 on a small session", { status: 400, message: "Error", size: SMALL }, "format_error", "fallback"],
  [
    "disconnect on a large session",
    { transport: "cut", message: "", size: { ...LARGE, tokens: 130_000 } },
    "context_overflow",
    "retry compact",
  ],
  ["413", { status: 413, message: "" }, "payload_too_large", "retry compact"],
  ["image size", { status: 400, message: "image exceeds 5 MB maximum" }, "image_too_large", "retry shrink_images"],
  [
    "blind model",
    { status: 400, message: "This model does not support image input" },
    "format_error",
    "retry fallback drop_images",
  ],
  ["404 model", { status: 404, message: "The model `x` does not exist" }, "model_not_found", "fallback"],
  ["400 model", { status: 400, message: "x is not a valid model ID" }, "model_not_found", "fallback"],
  [
    "data policy",
    { status: 404, message: "No endpoints found matching your data policy" },
    "provider_policy_blocked",
    "",
  ],
  [
    "data policy with 400",
    { status: 400, message: "No endpoints available matching your data policy" },
    "provider_policy_blocked",
    "",
  ],
  [
    "data policy without a status",
    { message: "No endpoints available matching your guardrail restrictions and data policy" },
    "provider_policy_blocked",
    "",
  ],
  [
    "llama.cpp schema",
    { status: 400, message: "json-schema-to-grammar failed to convert schema" },
    "llama_cpp_grammar_pattern",
    "retry strip_schema_patterns",
  ],
  [
    "other 400",
    { status: 400, message: "messages: field required, please see the reference for the format" },
    "format_error",
    "fallback",
  ],
  ["422", { status: 422, message: "Unprocessable entity in the request, see details" }, "format_error", "fallback"],
  ["bare 404", { status: 404, message: "not here" }, "unknown", "retry"],
  ["anything else", { message: "strange" }, "unknown", "retry"],
  [
    "temperature",
    { status: 400, message: "Unsupported value: 'temperature' does not support 0.3 with this one" },
    "format_error",
    "retry fallback drop_temperature",
  ],
  [
    "output limit",
    { status: 400, message: "max_tokens must be less than or equal to 8192 for this one" },
    "format_error",
    "retry fallback lower_max_tokens",
  ],
];

describe("classification of errors", () => {
  test.each(ROWS)("%s", (_name, facts, kind, actions) => {
    const verdict = classify({ message: "", ...facts }, WHO);
    expect([verdict.failure.kind, flags(verdict.actions)]).toEqual([kind, actions]);
  });

  test("the wait after a rate limit comes from the header, else from the text", () => {
    expect(classify({ status: 429, message: "try again in 1m30s" }, WHO).failure.retryAfterMs).toBe(90_000);
    expect(classify({ status: 429, message: "try again in 9s", retryAfterMs: 5 }, WHO).failure.retryAfterMs).toBe(5);
  });

  test("every failure has a kind and one short sentence", () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.integer({ min: 300, max: 600 }), { nil: undefined }), (message, status) => {
        const { failure } = classify({ message, ...(status === undefined ? {} : { status }) }, WHO);
        expect(failure.message.length).toBeLessThan(450);
        expect(failure.kind).toBeTruthy();
      }),
    );
  });

  test.each([
    ["This model's maximum context length is 128000 tokens. However, you requested 130000", 128_000],
    ["prompt is too long: 210000 tokens > 200000 maximum", 200_000],
    ["the request exceeds the available context size (8,192 tokens)", undefined],
    ["max_model_len=32768", 32_768],
  ])("reads the limit in %j", (message, limit) => {
    if (limit !== undefined) expect(findLimit(message)).toBe(limit);
    else expect([undefined, 8192]).toContain(findLimit(message));
  });
});
