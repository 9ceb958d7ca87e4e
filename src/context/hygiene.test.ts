import { expect, test } from "vitest";
import { workingSummariser } from "../../test/kit/summarisers.ts";
import type { Message } from "../core/message.ts";
import { SummaryEngine } from "./compaction/summary-engine.ts";
import { needsHygiene, runHygiene } from "./hygiene.ts";

const talk = (count: number): Message[] =>
  Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: "word ".repeat(200),
  }));

test("hygiene starts at 85 % of the window and at four messages", () => {
  const state = { messages: talk(10), contextLength: 10_000, enabled: true };
  expect(needsHygiene({ ...state, lastPromptTokens: 8_499 })).toBe(false);
  expect(needsHygiene({ ...state, lastPromptTokens: 8_500 })).toBe(true);
  expect(needsHygiene({ ...state, lastPromptTokens: 0 })).toBe(false);
  expect(needsHygiene({ ...state, messages: talk(3), lastPromptTokens: 9_999 })).toBe(false);
  expect(needsHygiene({ ...state, lastPromptTokens: 9_999, enabled: false })).toBe(false);
  expect(needsHygiene({ ...state, messages: talk(400), contextLength: 1_000_000 })).toBe(true);
});

test("hygiene returns a shorter list and does not change its input", async () => {
  const messages = talk(60);
  const copy = structuredClone(messages);
  const engine = new SummaryEngine({ contextLength: 16_384, side: workingSummariser() });
  const result = await runHygiene(
    engine,
    { messages, contextLength: 16_384, enabled: true, lastPromptTokens: 15_500 },
    { sessionId: "s" },
  );
  expect(result?.outcome.messages.length).toBeLessThan(messages.length);
  expect(messages).toEqual(copy);
});
