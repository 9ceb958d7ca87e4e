// Any log prefix × any crash point × any compaction cut becomes a request that the strict validators accept.
import fc from "fast-check";
import { expect, test } from "vitest";
import { SummaryEngine } from "../src/context/compaction/summary-engine.ts";
import type { Message } from "../src/core/message.ts";
import { contentText } from "../src/core/message.ts";
import { projectMessages } from "../src/core/model/projection.ts";
import { encodeAnthropic } from "../src/providers/transports/anthropic-encode.ts";
import { encodeChat } from "../src/providers/transports/chat-encode.ts";
import { encodeResponses } from "../src/providers/transports/responses-encode.ts";
import { longConversation } from "./kit/long-conversation.ts";
import { transportCall } from "./kit/transport-call.ts";
import { validateChatCompletions, validateResponses } from "./servers/fake-llm-validate.ts";
import { validateAnthropic } from "./servers/fake-llm-validate-anthropic.ts";

const anyText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("a word", "two words", "ünïcode 漢字 🎉", "x".repeat(500)) },
  { weight: 1, arbitrary: fc.constantFrom("", "   ", "\n") },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 10 }) },
);
const PIXEL = "data:image/png;base64,iVBORw0KGgo=";
const anyPart = fc.oneof(
  anyText.map((text) => ({ type: "text", text })),
  fc.constantFrom(
    { type: "image_url", image_url: { url: PIXEL } },
    { type: "image_url", image_url: { url: "https://example.test/a.png" } },
    { type: "image_url", image_url: { url: "file:///a" } },
    { type: "image_url" },
    { type: "audio" },
  ),
);
const anyContent = fc.oneof(
  { weight: 5, arbitrary: anyText },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.array(anyPart, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const anyId = fc.constantFrom("call_1", "call_2", "call_3", "", "bad id/é", "l".repeat(80));
const anyCall = fc.record({
  id: anyId,
  type: fc.constantFrom("function", undefined),
  function: fc.record({
    name: fc.constantFrom("terminal", "read_file", "od d.name", "n".repeat(100), ""),
    arguments: fc.oneof(fc.constantFrom("{}", '{"path":"a"}', "", "[1]", '{"cut": "of', '{"s":"\\ud800"}'), fc.json()),
  }),
});
const anyReasoning = fc.record(
  {
    reasoning: anyText,
    reasoning_content: anyText,
    finish_reason: fc.constantFrom("stop", "length"),
    reasoning_details: fc.constantFrom([{ type: "thinking", thinking: "t", signature: "sig" }], []),
    codex_reasoning_items: fc.constant([{ type: "reasoning", summary: [], encrypted_content: "abc" }]),
  },
  { requiredKeys: [] },
);
const anyAssistant = fc
  .tuple(anyContent, fc.option(fc.array(anyCall, { maxLength: 3 }), { nil: undefined }), anyReasoning)
  .map(([content, tool_calls, rest]) => ({
    role: "assistant",
    content,
    ...rest,
    ...(tool_calls ? { tool_calls } : {}),
  }));
const anyMessage = fc.oneof(
  { weight: 3, arbitrary: fc.record({ role: fc.constant("user"), content: anyContent }) },
  { weight: 4, arbitrary: anyAssistant },
  {
    weight: 4,
    arbitrary: fc.record({
      role: fc.constant("tool"),
      content: anyContent,
      tool_call_id: anyId,
      tool_name: fc.constant("terminal"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ role: fc.constantFrom("session_meta", "system", "developer"), content: anyContent }),
  },
);
const anyLog = fc.array(anyMessage, { maxLength: 30 }) as unknown as fc.Arbitrary<Message[]>;

/** Problems that the strictest services of the three dialects would report. */
function complaints(log: readonly Message[]): string[] {
  const messages = projectMessages(log);
  if (messages.length === 0) return [];
  const chat = transportCall({ request: { messages } });
  const claude = transportCall({ request: { messages }, model: "claude-sonnet-4-5" });
  return [
    ...validateChatCompletions(encodeChat(chat, true)).map((text) => `chat: ${text}`),
    ...validateAnthropic(encodeAnthropic(claude, true)).map((text) => `anthropic: ${text}`),
    ...validateResponses(encodeResponses(chat, true)).map((text) => `responses: ${text}`),
  ];
}

test("any prefix and any crash point of a damaged log", () => {
  fc.assert(
    fc.property(anyLog, fc.nat(30), fc.nat(30), (log, end, lost) => {
      const prefix = log.slice(0, end);
      expect(complaints(prefix)).toEqual([]);
      expect(complaints(prefix.filter((_, index) => index !== lost))).toEqual([]);
      expect(complaints([...prefix, { role: "user", content: "go on" }])).toEqual([]);
    }),
    { numRuns: 600, endOnFailure: true },
  );
});

test("any cut through a sound log, with or without a summary in front", () => {
  const { messages } = longConversation(4, 6_000);
  const summary: Message = { role: "user", content: "[CONTEXT COMPACTION — REFERENCE ONLY] notes" };
  for (let cut = 0; cut <= messages.length; cut++) {
    expect(complaints(messages.slice(0, cut))).toEqual([]);
    expect(complaints([summary, ...messages.slice(cut)])).toEqual([]);
    expect(complaints([...messages.slice(0, 3), ...messages.slice(cut)])).toEqual([]);
  }
});

test("any log after compaction in a small window, however damaged; the last question survives", async () => {
  await fc.assert(
    fc.asyncProperty(anyLog, anyLog, async (first, second) => {
      const engine = new SummaryEngine({ contextLength: 4_096, settings: { threshold: 0.1, protectLastN: 3 } });
      const question: Message = { role: "user", content: "which way, exactly?" };
      const once = await engine.compress([...first, question], { sessionId: "s", currentTokens: 9_000 });
      expect(complaints(once.messages)).toEqual([]);
      const twice = await engine.compress([...once.messages, ...second], { sessionId: "s", currentTokens: 9_000 });
      expect(complaints(twice.messages)).toEqual([]);
      expect(once.messages.map((message) => contentText(message.content)).join("\n")).toContain("which way, exactly?");
    }),
    { numRuns: 300, endOnFailure: true },
  );
});
