import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { transportCall } from "../../../test/kit/transport-call.ts";
import { validateChatCompletions, validateResponses } from "../../../test/servers/fake-llm-validate.ts";
import { validateAnthropic } from "../../../test/servers/fake-llm-validate-anthropic.ts";
import type { AssistantMessage, ContentPart, Json, Message, ToolMessage } from "../../core/message.ts";
import type { ReasoningEffort } from "../../core/model/provider.ts";
import type { ProviderQuirks } from "../quirks.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { chatCompletions } from "./chat-completions.ts";
import { codexResponses } from "./codex-responses.ts";
import type { Amendments, TransportCall } from "./transport.ts";

const words = fc.oneof(
  fc.string({ minLength: 1, maxLength: 20 }),
  fc.constantFrom("Hello", " ", "\n", "\ud83d", "日本", "<think>x"),
);
const image = fc.constantFrom<ContentPart>(
  { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
  { type: "image_url", image_url: { url: "https://example.org/a.jpg" } },
);
const textPart = words.map((text): ContentPart => ({ type: "text", text }));
const content = fc.oneof(words, fc.array(fc.oneof(textPart, image), { maxLength: 3 }), fc.constant(null));
const id = fc.oneof(
  fc.constantFrom("call_1", "call_2", "a.b", "a:b", "x".repeat(90), "fc/1|2"),
  fc.string({ maxLength: 6 }),
);
const args = fc.oneof(
  fc.constantFrom("", "{}", "null", "[1]", '{"b":1,"a":{"d":2,"c":3}}', '{"path": "a', '{"n":12345678901234567890}'),
  fc.dictionary(fc.string({ maxLength: 4 }), fc.oneof(fc.string(), fc.integer())).map((value) => JSON.stringify(value)),
);
const details = fc.array(
  fc.constantFrom<Json>(
    { type: "thinking", thinking: "hm", signature: "sig" },
    { type: "thinking", thinking: "unsigned" },
    { type: "redacted_thinking", data: "xx" },
    { type: "reasoning.text", text: "hm", index: 0 },
    { type: "reasoning.encrypted", data: "zz" },
  ),
  { maxLength: 2 },
);
const items = fc.array(
  fc.constantFrom<Json>(
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "enc" },
    { type: "reasoning", id: "rs_2", summary: [{ type: "summary_text", text: "s" }] },
  ),
  { maxLength: 2 },
);
const spoken = fc.array(
  fc.constantFrom<Json>(
    {
      type: "message",
      role: "assistant",
      id: "msg_1",
      phase: "final_answer",
      content: [{ type: "output_text", text: "hi" }],
    },
    { type: "message", role: "assistant", id: "weird", content: [{ type: "output_text", text: " " }] },
  ),
  { maxLength: 1 },
);
const assistant = fc.record({
  content,
  calls: fc.uniqueArray(fc.record({ id, name: fc.constantFrom("read_file", "terminal"), args }), {
    maxLength: 3,
    selector: (call) => call.id,
  }),
  reasoning: fc.option(fc.constantFrom("thought", ""), { nil: undefined }),
  own: fc.option(fc.constantFrom("own thought", ""), { nil: undefined }),
  details,
  items,
  spoken,
  results: fc.array(content, { minLength: 3, maxLength: 3 }),
  userBetween: fc.boolean(),
  after: content,
});

/** A projection in the sense of the contract: paired, alternating, ends with the user or a result. */
const conversation = fc
  .record({ first: content, steps: fc.array(assistant, { maxLength: 5 }), last: content })
  .map(({ first, steps, last }) => {
    const messages: Message[] = [{ role: "user", content: first }];
    for (const step of steps) {
      const message: AssistantMessage = {
        role: "assistant",
        content: step.content,
        finish_reason: "stop",
        ...(step.calls.length > 0
          ? {
              tool_calls: step.calls.map((call) => ({
                id: call.id,
                type: "function" as const,
                function: { name: call.name, arguments: call.args },
                extra_content: { google: { thought_signature: "s" } },
              })),
            }
          : {}),
        ...(step.reasoning === undefined ? {} : { reasoning: step.reasoning }),
        ...(step.own === undefined ? {} : { reasoning_content: step.own }),
        reasoning_details: step.details,
        codex_reasoning_items: step.items,
        codex_message_items: step.spoken,
      };
      messages.push(message);
      for (const [index, call] of step.calls.entries()) {
        const result: ToolMessage = {
          role: "tool",
          content: step.results[index] ?? null,
          tool_call_id: call.id,
          tool_name: call.name,
        };
        messages.push(result);
      }
      if (step.calls.length === 0 || step.userBetween) messages.push({ role: "user", content: step.after });
    }
    if (messages.at(-1)?.role === "assistant") messages.push({ role: "user", content: last });
    return messages;
  });

const effort = fc.constantFrom<ReasoningEffort | undefined>(
  undefined,
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
);
const quirks = fc.record<ProviderQuirks>(
  {
    reasoning: fc.constantFrom(
      "effort",
      "openrouter",
      "thinking",
      "kimi",
      "deepseek",
      "gemini",
      "qwen",
      "ollama",
      "none",
    ),
    replay: fc.constantFrom("none", "details", "content", "echo"),
    contentAsParts: fc.boolean(),
    thinkingBlocks: fc.constantFrom("signed", "strip"),
    promptCacheKey: fc.boolean(),
    numCtx: fc.constant(8192),
    sessionMetadata: fc.boolean(),
    extraContent: fc.boolean(),
    plainSchemas: fc.boolean(),
    defaultMaxTokens: fc.constant(32_000),
    cacheMarks: fc.constantFrom({ layout: "envelope", models: ["*"] }, { layout: "native", models: ["claude"] }),
  },
  { requiredKeys: [] },
);
const amend = fc.record<Amendments>(
  {
    stripReasoning: fc.boolean(),
    stripImages: fc.boolean(),
    maxImageBytes: fc.constant(4),
    plainSchemas: fc.boolean(),
  },
  { requiredKeys: [] },
);
const TOOL = {
  name: "read_file",
  description: "Reads.",
  parameters: { type: "object", properties: { path: { type: "string", pattern: "x" } } },
};

function callsWith(models: readonly string[]) {
  return fc
    .record({
      messages: conversation,
      quirks,
      amend,
      effort,
      model: fc.constantFrom(...models),
      system: fc.constantFrom("", "You are Hermes."),
      temperature: fc.option(fc.constantFrom(0, 0.3, 1.5), { nil: undefined }),
      tools: fc.boolean(),
      ttl: fc.constantFrom<"5m" | "1h">("5m", "1h"),
      limit: fc.option(fc.constantFrom(1, 500, 200_000), { nil: undefined }),
    })
    .map(
      (given): TransportCall =>
        transportCall({
          model: given.model,
          quirks: given.quirks,
          amend: given.amend,
          cacheTtl: given.ttl,
          request: {
            messages: given.messages,
            system: given.system,
            tools: given.tools ? [TOOL] : [],
            ...(given.effort === undefined ? {} : { reasoningEffort: given.effort }),
            ...(given.temperature === undefined ? {} : { temperature: given.temperature }),
            ...(given.limit === undefined ? {} : { maxOutputTokens: given.limit }),
          },
        }),
    );
}

const RUNS = { numRuns: 400 };

describe("any projection becomes a body that strict services accept", () => {
  test("chat completions", () => {
    fc.assert(
      fc.property(callsWith(["fake-model", "gpt-5.1", "o3-mini", "anthropic/claude-sonnet-4.5", "kimi-k2"]), (call) => {
        const body = chatCompletions().encode(call);
        expect(validateChatCompletions(JSON.parse(JSON.stringify(body)))).toEqual([]);
        const echoed = chatCompletions().encode({ ...call, quirks: { ...call.quirks, replay: "echo" } });
        expect(validateChatCompletions(echoed, { reasoning: "required" })).toEqual([]);
      }),
      RUNS,
    );
  });

  test("anthropic messages", () => {
    const models = [
      "claude-opus-4-7",
      "claude-sonnet-4-6",
      "claude-sonnet-4-5-20250929",
      "claude-opus-4-20250514",
      "claude-3-5-haiku-latest",
      "claude-haiku-4-5",
      "MiniMax-M2",
    ];
    fc.assert(
      fc.property(callsWith(models), (call) => {
        const body = anthropicMessages().encode(call);
        expect(validateAnthropic(JSON.parse(JSON.stringify(body)))).toEqual([]);
      }),
      RUNS,
    );
  });

  test("responses", () => {
    fc.assert(
      fc.property(callsWith(["gpt-5.1-codex", "grok-4"]), (call) => {
        const body = codexResponses().encode(call);
        expect(validateResponses(JSON.parse(JSON.stringify(body)))).toEqual([]);
      }),
      RUNS,
    );
  });

  test("a longer conversation keeps the bytes of the shorter one", () => {
    fc.assert(
      fc.property(callsWith(["gpt-4.1"]), fc.constantFrom("none", "echo"), (call, replay) => {
        const plain = { ...call, quirks: { replay } as ProviderQuirks, amend: {} };
        const grown = {
          ...plain,
          request: {
            ...plain.request,
            messages: [
              ...plain.request.messages,
              { role: "assistant", content: "ok" } as const,
              { role: "user", content: "more" } as const,
            ],
          },
        };
        const short = chatCompletions().encode(plain).messages as Json[];
        const long = chatCompletions().encode(grown).messages as Json[];
        expect(JSON.stringify(long.slice(0, short.length))).toBe(JSON.stringify(short));
      }),
    );
  });
});
