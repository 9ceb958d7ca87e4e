import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LosslessEngine } from "../src/context/compaction/lossless.ts";
import { SummaryEngine } from "../src/context/compaction/summary-engine.ts";
import { recallContextTool } from "../src/context/recall-context.ts";
import type { ContextEngine } from "../src/core/context.ts";
import { absentHuman } from "../src/core/human.ts";
import type { Message } from "../src/core/message.ts";
import { contentText } from "../src/core/message.ts";
import { projectMessages } from "../src/core/model/projection.ts";
import { estimateMessagesTokens } from "../src/core/model/tokens.ts";
import type { Tool } from "../src/core/tool/tool.ts";
import { LogStore } from "./kit/log-store.ts";
import { longConversation, moreTurns } from "./kit/long-conversation.ts";
import { type CountingSide, FAULTY } from "./kit/summarisers.ts";

const WINDOWS = [8_192, 16_384, 32_768, 65_536, 128_000];
const CONVERSATIONS = 50;
const PASSES = 3;
/** Planted facts asked for in each conversation. */
const FACTS = 8;

async function recalled(tool: Tool, sessionId: string, query: string): Promise<string> {
  const context = {
    sessionId,
    conversationId: "c",
    callId: "1",
    cwd: "/",
    signal: new AbortController().signal,
    human: absentHuman,
    progress: () => undefined,
    tainted: false,
    depth: 0,
  };
  return String((await tool.run({ query }, context)).content);
}

/** Fills the window and compacts, three times; every guarantee is checked after each pass. */
async function live(seed: number, engine: ContextEngine, side: CountingSide) {
  const window = engine.contextLength;
  const overhead = Math.min(6_000, Math.floor(window * 0.3));
  const fill = engine.thresholdTokens - overhead + 200;
  const store = new LogStore();
  const started = longConversation(seed, fill);
  let messages: readonly Message[] = started.messages;
  let facts = [...started.facts];
  let sessionId = "s0";
  store.open(sessionId);
  store.append(sessionId, messages);
  for (let pass = 1; pass <= PASSES; pass++) {
    const before = estimateMessagesTokens(messages);
    expect(engine.shouldCompress(before + overhead)).toBe(true);
    const callsBefore = side.requests.length;
    const lastUser = messages.findLast((message) => message.role === "user");
    const outcome = await engine.compress(messages, { sessionId, currentTokens: before + overhead });
    expect(outcome.modelCalls).toBeLessThanOrEqual(3);
    expect(side.requests.length - callsBefore).toBe(outcome.modelCalls);
    const after = estimateMessagesTokens(outcome.messages);
    expect(after).toBeLessThanOrEqual(before * 0.9);
    expect(after + overhead).toBeLessThan(engine.thresholdTokens);
    const text = outcome.messages.map((message) => contentText(message.content)).join("\n");
    expect(text).toContain(started.task);
    expect(text).toContain(contentText(lastUser?.content));
    expect(text).toMatch(/recall_context/);
    const projected = projectMessages(outcome.messages);
    const kept = projected.at(-1)?.content === "Please continue." ? projected.slice(0, -1) : projected;
    expect(kept).toEqual(outcome.messages);
    const oldSessionId = sessionId;
    sessionId = `s${pass}`;
    store.open(sessionId);
    await engine.onSessionStart?.(sessionId, { boundaryReason: "compression", oldSessionId });
    store.append(sessionId, outcome.messages);
    messages = outcome.messages;
    if (pass === PASSES) break;
    const more = moreTurns(seed * 100 + pass, Math.max(200, engine.thresholdTokens - overhead - after + 100));
    const added = messages.at(-1)?.role === "assistant" ? more.messages.slice(1) : more.messages;
    messages = [...messages, ...added];
    store.append(sessionId, added);
    facts = [...facts, ...more.facts];
  }
  const tool = recallContextTool(store);
  const inWindow = messages.map((message) => contentText(message.content)).join("\n");
  let found = 0;
  const sample = facts.filter((_, index) => index % Math.ceil(facts.length / FACTS) === 0);
  for (const fact of sample) {
    if (inWindow.includes(fact.value) || (await recalled(tool, sessionId, fact.query)).includes(fact.value)) found++;
  }
  return { found, total: sample.length };
}

for (const [name, make] of Object.entries(FAULTY)) {
  test(`a summariser that is ${name}: always ends, keeps the task, loses nothing`, async () => {
    let found = 0;
    let total = 0;
    for (let seed = 1; seed <= CONVERSATIONS; seed++) {
      const side = make();
      const contextLength = WINDOWS[seed % WINDOWS.length] as number;
      const engine = new SummaryEngine({ contextLength, side, deadlineMs: 10 });
      const result = await live(seed, engine, side);
      found += result.found;
      total += result.total;
    }
    expect(total).toBeGreaterThan(250);
    expect(found / total).toBeGreaterThanOrEqual(0.95);
  });
}

test("the lossless engine gives the same guarantees with each of them", async () => {
  const dir = await mkdtemp(join(tmpdir(), "trees-"));
  let found = 0;
  let total = 0;
  let seed = 0;
  for (const make of Object.values(FAULTY)) {
    for (let round = 0; round < 5; round++) {
      seed++;
      const side = make();
      const contextLength = WINDOWS[seed % WINDOWS.length] as number;
      const engine = new LosslessEngine({ contextLength, side, deadlineMs: 10, dir: join(dir, String(seed)) });
      const result = await live(seed, engine, side);
      found += result.found;
      total += result.total;
    }
  }
  await rm(dir, { recursive: true, force: true });
  expect(found / total).toBeGreaterThanOrEqual(0.95);
});
