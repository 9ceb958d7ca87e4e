import { expect, test } from "vitest";
import { workingSummariser } from "../../../test/kit/summarisers.ts";
import type { Message } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import { estimateMessagesTokens } from "../../core/model/tokens.ts";
import { SummaryEngine } from "./summary-engine.ts";

const MARKER = "[Old tool output cleared to save context space]";
const user = (content: string): Message => ({ role: "user", content });

/** An assistant message with one call, and its output of `words` words. */
function step(id: number, words: number, text = `output ${id}`): Message[] {
  const call = { id: `c${id}`, type: "function" as const, function: { name: "terminal", arguments: "{}" } };
  return [
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: call.id, tool_name: "terminal", content: `${text} ${"word ".repeat(words)}` },
  ];
}

/** `rounds` requests; each is followed by a tool call and an answer. */
function work(rounds: number, words: number): Message[] {
  return Array.from({ length: rounds }, (_, round) => [
    user(`Request ${round}`),
    ...step(round, words),
    { role: "assistant" as const, content: `Done ${round}. ${"Because of that. ".repeat(20)}` },
  ]).flat();
}

test.each([
  [200_000, 3, 20, 400],
  [64_000, 5, 30, 300],
  [32_768, 0, 12, 200],
  [131_072, 7, 41, 900],
])(
  "in a window of %i the first %i and the last %i messages stay the same objects",
  async (window, first, last, words) => {
    const engine = new SummaryEngine({
      contextLength: window,
      side: workingSummariser(),
      settings: { protectFirstN: first, protectLastN: last },
    });
    const messages = work(400, words).slice(0, 4 * Math.ceil((engine.thresholdTokens * 1.05) / (words + 120)));
    const { messages: result, notice } = await engine.compress(messages, { sessionId: "s", focusTopic: "all" });
    expect(estimateMessagesTokens(result)).toBeLessThan(engine.thresholdTokens);
    expect(result.length).toBeLessThan(messages.length);
    expect(notice).toBeUndefined();
    for (const [index, message] of messages.slice(0, Math.max(0, first - 1)).entries()) {
      expect(result[index]).toBe(message);
    }
    expect(contentText(result[Math.max(0, first - 1)]?.content)).toContain(contentText(messages[first - 1]?.content));
    // The first message of the tail may share its place with the summary, because the roles must alternate.
    const tail = messages.slice(-last);
    for (let back = 1; back < last; back++) expect(result.at(-back)).toBe(tail.at(-back));
    expect(contentText(result.at(-last)?.content)).toContain(contentText(tail[0]?.content));
  },
);

test("protected messages larger than the usual tail stay whole as long as they fit", async () => {
  const engine = new SummaryEngine({ contextLength: 100_000, side: workingSummariser() });
  const messages = [...work(30, 1_000), ...work(5, 4_000)];
  expect(estimateMessagesTokens(messages.slice(-20))).toBeGreaterThan(engine.thresholdTokens * 0.2);
  const { messages: result, notice } = await engine.compress(messages, { sessionId: "s", focusTopic: "all" });
  expect(notice).toBeUndefined();
  for (let back = 1; back < 20; back++) expect(result.at(-back)).toBe(messages.at(-back));
});

test("when they do not fit, fewer are kept, and the notice says so", async () => {
  const engine = new SummaryEngine({ contextLength: 32_768, side: workingSummariser() });
  const messages = [...work(20, 100), ...work(5, 8_000)];
  const { messages: result, notice } = await engine.compress(messages, { sessionId: "s" });
  expect(estimateMessagesTokens(result)).toBeLessThan(engine.thresholdTokens);
  expect(notice).toContain("The first 3 and the last 20 messages (compression.protect_first_n, protect_last_n)");
  expect(notice).toContain("originals are kept");
});

test("pruning puts the documented marker in place of old outputs and leaves both protected ends alone", async () => {
  const engine = new SummaryEngine({ contextLength: 128_000 });
  const same = "the same output";
  const messages = [
    user("start"),
    ...step(900, 300, same),
    ...work(12, 5_000),
    ...step(901, 300, same),
    ...step(902, 300, same),
    ...work(4, 50),
  ];
  const { messages: result, method } = await engine.compress(messages, { sessionId: "s" });
  expect(method).toBe("prune");
  expect(result).toHaveLength(messages.length);
  for (const [index, message] of messages.entries()) {
    if (index < 3 || index >= messages.length - 20) expect(result[index]).toBe(message);
    else if (message.role === "tool") expect(contentText(result[index]?.content).startsWith(MARKER)).toBe(true);
  }
});
