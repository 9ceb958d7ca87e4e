import { expect, test } from "vitest";
import { longConversation } from "../../../test/kit/long-conversation.ts";
import { answer, sideModel, workingSummariser } from "../../../test/kit/summarisers.ts";
import { SUMMARY_TAG } from "../../core/context.ts";
import type { Message } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import { estimateMessagesTokens } from "../../core/model/tokens.ts";
import { passBudget, summaryBudget, thresholdTokens } from "./budget.ts";
import { SummaryEngine } from "./summary-engine.ts";

const user = (content: string): Message => ({ role: "user", content });
const assistant = (content: string): Message => ({ role: "assistant", content });
const all = (messages: readonly Message[]) => messages.map((message) => contentText(message.content)).join("\n");

/** Text only: nothing to prune, so a summary is needed. */
function talk(rounds: number, words = 120): Message[] {
  const messages: Message[] = [];
  for (let round = 0; round < rounds; round++) {
    messages.push(user(`Question ${round}: ${"why is it so ".repeat(words / 8)}?`));
    messages.push(assistant(`Answer ${round}: ${"because it must be ".repeat(words / 8)}.`));
  }
  return messages;
}

test("the numbers for a window of 200,000", () => {
  expect(thresholdTokens(200_000, 0.5)).toBe(100_000);
  const budget = passBudget({
    contextLength: 200_000,
    threshold: 100_000,
    targetRatio: 0.2,
    before: 100_000,
    overhead: 0,
  });
  expect(budget.tail).toBe(20_000);
  expect(budget.summaryMax).toBe(10_000);
  expect(summaryBudget(5_000, budget)).toBe(2_000);
  expect(summaryBudget(30_000, budget)).toBe(6_000);
  expect(summaryBudget(500_000, budget)).toBe(10_000);
});

test("small windows have a trigger below the window and room for an answer", () => {
  for (const window of [8_192, 16_384, 32_768, 64_000]) {
    const threshold = thresholdTokens(window, 0.5);
    expect(threshold).toBeGreaterThanOrEqual(window * 0.5);
    expect(threshold).toBeLessThanOrEqual(window * 0.75);
  }
});

test("the middle becomes one summary; head and tail are the same objects", async () => {
  const messages = talk(60);
  const engine = new SummaryEngine({ contextLength: 16_384, side: workingSummariser() });
  const outcome = await engine.compress(messages, { sessionId: "s" });
  expect(outcome).toMatchObject({ method: "summary", modelCalls: 1 });
  expect(outcome.notice).toBeUndefined();
  expect(outcome.messages[0]).toBe(messages[0]);
  expect(outcome.messages[1]).toBe(messages[1]);
  expect(outcome.messages.at(-1)).toBe(messages.at(-1));
  expect(outcome.messages.filter((message) => contentText(message.content).includes(SUMMARY_TAG))).toHaveLength(1);
  expect(all(outcome.messages)).toMatch(/Turns \d+–\d+ are kept; use recall_context/);
  expect(all(outcome.messages)).toContain("--- END OF CONTEXT SUMMARY");
  expect(engine.compressionCount).toBe(1);
});

test("a second pass updates the first summary and widens its range", async () => {
  const side = workingSummariser();
  const engine = new SummaryEngine({ contextLength: 16_384, side });
  const first = await engine.compress(talk(60), { sessionId: "s" });
  const second = await engine.compress([...first.messages, ...talk(60)], { sessionId: "s" });
  expect(side.requests[1]?.prompt).toContain("NOTES SO FAR");
  expect(side.requests[1]?.prompt).toContain("The parser keeps its name");
  const ranges = [first, second].map((outcome) => /Turns (\d+)–(\d+)/.exec(all(outcome.messages)));
  expect(ranges[1]?.[1]).toBe(ranges[0]?.[1]);
  expect(Number(ranges[1]?.[2])).toBeGreaterThan(Number(ranges[0]?.[2]));
  expect(all(second.messages).split(SUMMARY_TAG)).toHaveLength(2);
});

test("memory notes, open todos, constraints and the request of a long run are copied verbatim", async () => {
  const messages: Message[] = [
    user("hello"),
    assistant("Hi."),
    user("You must never push to main."),
    assistant("Noted."),
    ...talk(30),
    user("Rebuild the index, exactly like last time, and tell me the count."),
  ];
  for (let step = 0; step < 60; step++) {
    const id = `c${step}`;
    messages.push({
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name: "terminal", arguments: `{"command":"step ${step}"}` } }],
    });
    const todos = JSON.stringify({
      todos: [
        { content: "count the rows", status: "in_progress" },
        { content: "old", status: "completed" },
      ],
    });
    messages.push({
      role: "tool",
      tool_call_id: id,
      tool_name: "terminal",
      content: step === 3 ? todos : "line\n".repeat(40),
    });
  }
  const engine = new SummaryEngine({ contextLength: 16_384, side: workingSummariser() });
  const outcome = await engine.compress(messages, {
    sessionId: "s",
    carry: "The user lives in Lyon.",
    focusTopic: "index",
  });
  const text = all(outcome.messages);
  expect(text).toContain("Rebuild the index, exactly like last time, and tell me the count.");
  expect(text).toContain("You must never push to main.");
  expect(text).toContain("count the rows");
  expect(text).not.toContain("[completed]");
  expect(text).toContain("The user lives in Lyon.");
  expect(outcome.messages.at(-1)).toBe(messages.at(-1));
});

test("a focus topic reaches the summariser", async () => {
  const side = workingSummariser();
  await new SummaryEngine({ contextLength: 16_384, side }).compress(talk(40), {
    sessionId: "s",
    focusTopic: "the index",
  });
  expect(side.requests[0]?.prompt).toMatch(/FOCUS: .*the index/);
  expect(side.requests[0]?.task).toBe("compression");
});

test("old outputs alone are pruned without a model", async () => {
  const { messages } = longConversation(2, 70_000);
  const side = workingSummariser();
  const engine = new SummaryEngine({ contextLength: 128_000, side });
  const outcome = await engine.compress(messages, { sessionId: "s" });
  expect(outcome).toMatchObject({ method: "prune", modelCalls: 0 });
  expect(outcome.messages).toHaveLength(messages.length);
  expect(estimateMessagesTokens(outcome.messages)).toBeLessThan(estimateMessagesTokens(messages) / 2);
});

test("a log that cannot shrink is returned as the same array, and the trigger pauses", async () => {
  const messages = [user("x".repeat(60_000))];
  const engine = new SummaryEngine({ contextLength: 16_384, side: workingSummariser() });
  for (let pass = 0; pass < 2; pass++) {
    const outcome = await engine.compress(messages, { sessionId: "s" });
    expect(outcome.messages).toBe(messages);
    expect(outcome).toMatchObject({ method: "none", modelCalls: 0 });
    expect(outcome.notice).toBeDefined();
  }
  expect(engine.shouldCompress(15_010)).toBe(false);
  expect(engine.shouldCompress(17_000)).toBe(true);
  engine.onSessionReset();
  expect(engine.shouldCompress(15_010)).toBe(true);
});

test("one huge output in the newest exchange is shortened, not dropped", async () => {
  const call: Message = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "1", type: "function", function: { name: "terminal", arguments: '{"command":"cat big"}' } }],
  };
  const output: Message = {
    role: "tool",
    tool_call_id: "1",
    tool_name: "terminal",
    content: `START ${"z ".repeat(20_000)} END`,
  };
  const engine = new SummaryEngine({ contextLength: 16_384, side: workingSummariser() });
  const outcome = await engine.compress([...talk(10), user("show big"), call, output], { sessionId: "s" });
  const kept = contentText(outcome.messages.at(-1)?.content);
  expect(kept).toMatch(/^START .*recall_context from 23.* END$/s);
  expect(estimateMessagesTokens(outcome.messages)).toBeLessThan(engine.thresholdTokens);
});

test("secrets are masked in the request to the summariser and in its answer", async () => {
  const side = sideModel(() => answer("## Goal\nUse hunter2.\n\n## Progress\nnone"));
  const engine = new SummaryEngine({ contextLength: 8_192, side, redact: (text) => text.replaceAll("hunter2", "***") });
  const outcome = await engine.compress([...talk(3), user("the word is hunter2"), ...talk(40)], { sessionId: "s" });
  expect(side.requests[0]?.prompt).not.toContain("hunter2");
  expect(all(outcome.messages)).not.toContain("hunter2");
});

test("an aborted pass still ends with an extract", async () => {
  const controller = new AbortController();
  const side = sideModel(() => new Promise(() => undefined));
  const work = new SummaryEngine({ contextLength: 8_192, side }).compress(talk(60), {
    sessionId: "s",
    signal: controller.signal,
  });
  controller.abort();
  const outcome = await work;
  expect(outcome.method).toBe("extract");
  expect(outcome.notice).toContain("originals are kept");
});

test("a list with its own system message gets the note about compaction once", async () => {
  const engine = new SummaryEngine({ contextLength: 16_384, side: workingSummariser() });
  const system: Message = { role: "system", content: "You are a test." };
  const once = await engine.compress([system, ...talk(60)], { sessionId: "s" });
  const twice = await engine.compress([...once.messages, ...talk(60)], { sessionId: "s" });
  for (const outcome of [once, twice]) {
    expect(contentText(outcome.messages[0]?.content).match(/\[Note: Some earlier conversation turns/g)).toHaveLength(1);
  }
});

test("without a summariser old requests are not presented as the active task", async () => {
  const engine = new SummaryEngine({ contextLength: 16_384 });
  const outcome = await engine.compress(
    [...talk(30), user("Delete the old logs."), assistant("Deleted."), ...talk(30)],
    {
      sessionId: "s",
    },
  );
  expect(outcome.method).toBe("extract");
  expect(all(outcome.messages)).not.toContain("## Active Task");
  expect(all(outcome.messages)).toContain("## Earlier Requests");
});
