// Long conversations in small windows: with the built-in compaction the loop never sends too much and never stops.
import { Type } from "typebox";
import { expect, it } from "vitest";
import { openConversation } from "../src/agent/conversation.ts";
import { SummaryEngine } from "../src/context/compaction/summary-engine.ts";
import { contentText } from "../src/core/message.ts";
import type { ModelRequest } from "../src/core/model/provider.ts";
import { estimateMessagesTokens, estimateSchemaTokens, estimateTextTokens } from "../src/core/model/tokens.ts";
import { defineTool } from "../src/core/tool/tool.ts";
import {
  call,
  collect,
  fails,
  findEnd,
  hangingSide,
  openLoopFixture,
  type Reply,
  says,
  scripted,
  uses,
} from "./kit/scripted.ts";

const look = defineTool({
  name: "look",
  toolset: "test",
  description: "look at something",
  parameters: Type.Object({ n: Type.Integer() }),
  run: async ({ n }) => ({ content: `${n}: ${"some line of text\n".repeat(100)}` }),
});

const estimateSize = (request: ModelRequest) =>
  estimateTextTokens(request.system) + estimateSchemaTokens(request.tools) + estimateMessagesTokens(request.messages);

/** Looks twice a turn, then answers; counts tokens as a provider would. */
const talk: Reply = (request, signal) => {
  const usage = { input: estimateSize(request), output: 50, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  let looked = 0;
  for (let index = request.messages.length - 1; request.messages[index]?.role !== "user"; index--) looked += 1;
  const reply =
    looked < 4
      ? uses([call("look", { n: looked })], { usage })
      : says(`So it is. ${"Because. ".repeat(40)}`, { usage });
  return reply(request, signal);
};

it.each([8_000, 16_000, 32_000])("a window of %i tokens", async (window) => {
  await using bench = await openLoopFixture();
  const provider = scripted([talk]);
  const engine = new SummaryEngine({ contextLength: window, side: hangingSide });
  const conversation = await openConversation(bench.parts({ provider, engine, tools: [look] }));
  let splits = 0;
  for (let turn = 0; turn < 20; turn++) {
    const before = provider.asked.length;
    const events = await collect(conversation.send(`Question ${turn}: what about it? ${"context ".repeat(20)}`));
    expect(findEnd(events)).toMatchObject({ end: "done" });
    splits += events.filter((event) => event.type === "compressed").length;
    for (const request of provider.asked.slice(before)) {
      expect(estimateSize(request)).toBeLessThan(window);
      expect(request.messages.map((message) => contentText(message.content)).join("\n")).toContain(`Question ${turn}:`);
    }
  }
  expect(splits).toBeGreaterThan(0);
  expect(splits).toBeLessThan(80);
  const whole = await bench.store.getConversation(conversation.sessionId, { includeAncestors: true });
  expect(whole.some((message) => contentText(message.content).startsWith("Question 0:"))).toBe(true);
});

it("a window that was configured ten times too large is detected and respected", async () => {
  await using bench = await openLoopFixture();
  const real = 16_000;
  const strict: Reply = (request, signal) => {
    const failure = { kind: "context_overflow", message: "prompt is too long" } as const;
    return estimateSize(request) > real ? fails(failure)(request, signal) : talk(request, signal);
  };
  const engine = new SummaryEngine({ contextLength: 160_000, side: hangingSide });
  const conversation = await openConversation(bench.parts({ script: [strict], engine, tools: [look] }));
  for (let turn = 0; turn < 20; turn++) {
    const events = await collect(conversation.send(`Question ${turn}: what about it? ${"context ".repeat(20)}`));
    expect(findEnd(events)).toMatchObject({ end: "done" });
  }
  expect(engine.contextLength).toBeLessThanOrEqual(real);
});
