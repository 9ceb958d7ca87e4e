import { expect, test } from "vitest";
import type { Message } from "../message.ts";
import { estimateMessagesTokens, estimateTextTokens, IMAGE_TOKENS } from "./tokens.ts";

test("writing systems have different costs per character", () => {
  expect(estimateTextTokens("a".repeat(400))).toBe(100);
  expect(estimateTextTokens("ж".repeat(100))).toBe(50);
  expect(estimateTextTokens("ก".repeat(100))).toBe(80);
  expect(estimateTextTokens("漢".repeat(100))).toBe(80);
  expect(estimateTextTokens("")).toBe(0);
});

test("calls and images count", () => {
  const messages: Message[] = [
    { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "1", type: "function", function: { name: "read", arguments: "x".repeat(40) } }],
    },
  ];
  expect(estimateMessagesTokens(messages)).toBe(IMAGE_TOKENS + 4 + 4 + 4 + 1 + 10);
});
