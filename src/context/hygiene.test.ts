import { expect, test } from "vitest";
import type { Message } from "../core/message.ts";
import { needsHygiene } from "./hygiene.ts";

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
