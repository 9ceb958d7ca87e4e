import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { gather, transportCall } from "../../../test/kit/transport-call.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { chatCompletions } from "./chat-completions.ts";
import { codexResponses } from "./codex-responses.ts";
import type { Transport } from "./transport.ts";

function recorded(name: string): Uint8Array {
  return readFileSync(new URL(`../../../test/fixtures/wire/${name}.sse`, import.meta.url));
}

/** Answers every request with these bytes, cut at these places. */
function answering(bytes: Uint8Array, cuts: readonly number[] = []): typeof fetch {
  return async () => {
    const at = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        let from = 0;
        for (const to of [...at, bytes.length]) {
          if (to > from) controller.enqueue(bytes.subarray(from, to));
          from = to;
        }
        controller.close();
      },
    });
    return new Response(body, {
      headers: { "content-type": "text/event-stream", "x-ratelimit-remaining-requests": "59" },
    });
  };
}

const play = (transport: Transport, name: string, cuts: readonly number[] = []) =>
  gather(transport, transportCall({ fetch: answering(recorded(name), cuts) }));

const NAMES: readonly (readonly [string, () => Transport])[] = [
  ["chat-openai-text", chatCompletions],
  ["chat-openai-parallel-calls", chatCompletions],
  ["chat-openrouter-reasoning", chatCompletions],
  ["chat-deepseek-reasoner", chatCompletions],
  ["chat-local-think-tags", chatCompletions],
  ["chat-gemini-signature", chatCompletions],
  ["chat-reused-index", chatCompletions],
  ["anthropic-thinking-tools", anthropicMessages],
  ["anthropic-refusal", anthropicMessages],
  ["responses-codex", codexResponses],
];

describe("recorded frames", () => {
  test("text with cached tokens and rate-limit headers", async () => {
    const { text, done } = await play(chatCompletions(), "chat-openai-text");
    expect(text).toBe("Grüße aus 東京 🗼.");
    expect(done.usage).toEqual({ input: 56, output: 9, cacheRead: 64, cacheWrite: 0, reasoning: 0 });
    expect(done.rateLimits).toEqual({ "x-ratelimit-remaining-requests": "59" });
  });

  test("parallel calls in pieces; a new id on a known index is another call", async () => {
    const { done, started } = await play(chatCompletions(), "chat-openai-parallel-calls");
    expect(started).toEqual(["read_file", "terminal"]);
    expect(done.message).toEqual({
      role: "assistant",
      content: null,
      finish_reason: "tool_calls",
      tool_calls: [
        { id: "call_aa", type: "function", function: { name: "read_file", arguments: '{"path":"a.txt"}' } },
        { id: "call_bb", type: "function", function: { name: "terminal", arguments: '{"command":"ls"}' } },
      ],
    });
    const reused = await play(chatCompletions(), "chat-reused-index");
    expect(reused.done.message.tool_calls?.map((call) => call.id)).toEqual(["a1", "a2"]);
    expect(reused.done.usageEstimated).toBe(true);
  });

  test("opaque reasoning is merged and stored; the stated cost is reported", async () => {
    const { done, reasoning } = await play(chatCompletions(), "chat-openrouter-reasoning");
    expect(reasoning).toBe("First look.");
    expect(done.message.reasoning_details).toEqual([
      { type: "reasoning.text", text: "First look.", signature: "Er4C", index: 0, format: "anthropic-claude-v1" },
    ]);
    expect(done.message.reasoning_content).toBeUndefined();
    expect(done.reportedCostUsd).toBe(0.0042);
    expect(done.usage).toEqual({ input: 50, output: 30, cacheRead: 800, cacheWrite: 150, reasoning: 12 });
  });

  test("reasoning_content is stored, to be sent back", async () => {
    const { done } = await play(chatCompletions(), "chat-deepseek-reasoner");
    expect(done.message.reasoning_content).toBe("Let me read.");
    expect(done.usage).toMatchObject({ input: 10, cacheRead: 40, reasoning: 8 });
  });

  test("think tags become reasoning; calls without ids get stable ones", async () => {
    const first = await play(chatCompletions(), "chat-local-think-tags");
    expect([first.text, first.reasoning.trim()]).toEqual(["Here you are.", "secret plan"]);
    const ids = first.done.message.tool_calls?.map((call) => call.id) ?? [];
    expect(new Set(ids).size).toBe(2);
    expect(ids.every((id) => /^call_[0-9a-f]{24}$/.test(id))).toBe(true);
    const again = await play(chatCompletions(), "chat-local-think-tags");
    expect(again.done.message).toEqual(first.done.message);
    expect(first.done.finishReason).toBe("tool_calls");
  });

  test("thought signatures are stored with their call", async () => {
    const { done } = await play(chatCompletions(), "chat-gemini-signature");
    expect(done.message.tool_calls?.[0]?.extra_content).toEqual({ google: { thought_signature: "CpQB" } });
  });

  test("signed and redacted thinking is stored unchanged", async () => {
    const { done, text, reasoning } = await play(anthropicMessages(), "anthropic-thinking-tools");
    expect([text, reasoning]).toEqual(["Ich schaue nach: ä → ß", "I should list."]);
    expect(done.message.reasoning_details).toEqual([
      { type: "thinking", thinking: "I should list.", signature: "EqQBCg" },
      { type: "redacted_thinking", data: "EmwKAhgB" },
    ]);
    expect(done.message.tool_calls?.map((call) => call.function)).toEqual([
      { name: "search_files", arguments: '{"pattern": "*.md"}' },
      { name: "todo", arguments: "{}" },
    ]);
    expect(done.usage).toEqual({ input: 12, output: 88, cacheRead: 2000, cacheWrite: 300, reasoning: 0 });
    expect((await play(anthropicMessages(), "anthropic-refusal")).done.finishReason).toBe("content_filter");
  });

  test("items are stored although the closing event is empty", async () => {
    const { done, text, reasoning } = await play(codexResponses(), "responses-codex");
    expect([text, reasoning, done.finishReason]).toEqual(["Let me look.", "**Reading** the file", "tool_calls"]);
    expect(done.message.codex_reasoning_items).toMatchObject([{ type: "reasoning", encrypted_content: "gAAAAB" }]);
    expect(done.message.codex_message_items).toMatchObject([{ id: "msg_1", phase: "commentary" }]);
    expect(done.message.tool_calls).toEqual([
      { id: "call_1", type: "function", function: { name: "read_file", arguments: '{"path":"a.txt"}' } },
    ]);
    expect(done.usage).toEqual({ input: 132, output: 60, cacheRead: 768, cacheWrite: 0, reasoning: 32 });
  });

  test("a failed response is an error with its code", async () => {
    await expect(play(codexResponses(), "responses-failed")).rejects.toMatchObject({
      kind: "stream_error",
      code: "rate_limit_exceeded",
      message: "Please try again in 2s.",
    });
  });

  test.each(NAMES)("%s: the same events however the bytes are cut", async (name, make) => {
    const whole = await play(make(), name);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { maxLength: 30 }), async (cuts) => {
        expect((await play(make(), name, cuts)).events).toEqual(whole.events);
      }),
      { numRuns: 25 },
    );
  });

  test.each(NAMES)("%s: a truncated stream is an error or the whole answer, never a wrong one", async (name, make) => {
    const bytes = recorded(name);
    const whole = await play(make(), name);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), async (length) => {
        const call = transportCall({ fetch: answering(bytes.subarray(0, length)) });
        const got = await gather(make(), call).catch((error: { kind: string }) => error.kind);
        if (typeof got === "string") expect(["cut", "malformed"]).toContain(got);
        else expect(got.done.message).toEqual(whole.done.message);
      }),
      { numRuns: 40 },
    );
  });
});
