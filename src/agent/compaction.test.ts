// Compaction inside a conversation: when it runs, what is carried over, and when nothing may change.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  call,
  collect,
  fails,
  findEnd,
  type LoopFixture,
  openLoopFixture,
  plainEngine,
  says,
  scripted,
  uses,
} from "../../test/kit/scripted.ts";
import type { AgentEvent } from "../core/event.ts";
import type { Hooks } from "../core/hook.ts";
import type { Message } from "../core/message.ts";
import { contentText } from "../core/message.ts";
import { Type } from "../core/tool/schema.ts";
import { defineTool } from "../core/tool/tool.ts";
import { openConversation } from "./conversation.ts";
import { noMemory } from "./delegation/no-memory.ts";

let bench: LoopFixture;
beforeEach(async () => {
  bench = await openLoopFixture();
});
afterEach(() => bench[Symbol.asyncDispose]());

const LONG = "word ".repeat(400);
const compressed = (events: readonly AgentEvent[]) => events.filter((event) => event.type === "compressed");
const usage = (input: number) => ({ input, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 });

describe("before a turn", () => {
  it("continues in a new session with the title, the goal, the todos and the question", async () => {
    const todo = defineTool({
      name: "todo",
      toolset: "todo",
      description: "todo",
      parameters: Type.Object({}),
      run: async () => ({
        content: JSON.stringify({
          todos: [
            { id: "1", content: "boil water", status: "completed" },
            { id: "2", content: "find tea", status: "in_progress" },
          ],
        }),
      }),
    });
    const engine = plainEngine({ threshold: 1_500, keep: 1 });
    const order: string[] = [];
    const memory = {
      ...noMemory,
      beforeCompaction: async () => {
        order.push("before");
        return "";
      },
      sessionEnded: async () => void order.push("ended"),
      sessionSwitched: async (_id: string, details: { reason?: string | undefined }) =>
        void order.push(`switched ${details.reason}`),
    };
    const provider = scripted([uses([call("todo")]), says(LONG), says(LONG), says("short")]);
    let prompts = 0;
    const conversation = await openConversation(
      bench.parts({ engine, provider, memory, tools: [todo], systemPrompt: async () => `prompt ${++prompts}` }),
    );
    await collect(conversation.send(`first ${LONG}`));
    const first = conversation.sessionId;
    await bench.store.setSessionTitle(first, "Tea");
    await bench.store.setMeta(`goal:${first}`, '{"goal":"tea","status":"active"}');
    await collect(conversation.send("second"));
    engine.thresholdTokens = 500;
    const events = await collect(conversation.send("what now?"));
    expect(compressed(events)).toHaveLength(1);
    expect(findEnd(events).sessionId).toBe(conversation.sessionId);
    expect(conversation.sessionId).not.toBe(first);
    expect(conversation.conversationId).toBe(first);
    expect(await bench.store.getSessionTitle(conversation.sessionId)).toBe("Tea #2");
    expect(await bench.store.getMeta(`goal:${conversation.sessionId}`)).toContain("tea");
    expect(await bench.store.getSession(first)).toMatchObject({ end_reason: "compression" });
    const wire = provider.asked.at(-1);
    expect(wire?.system).toBe("prompt 2");
    expect(wire?.conversationId).toBe(first);
    const text = wire?.messages.map((message) => contentText(message.content)).join("\n") ?? "";
    expect(text).toContain("[Your active task list was preserved across context compression]");
    expect(text).toContain("find tea");
    expect(text).not.toContain("boil water");
    expect(text).toContain("what now?");
    expect(order).toEqual(["before", "ended", "switched compression"]);
    expect(engine.calls).toEqual(["start:new", "compress", "end", "start:compression"]);
    const whole = await bench.store.getConversation(conversation.sessionId, { includeAncestors: true });
    expect(whole.some((message) => contentText(message.content).startsWith("first"))).toBe(true);
    const resumed = await openConversation(bench.parts({ provider: scripted([says("back")]) }), { resume: first });
    expect(resumed.sessionId).toBe(conversation.sessionId);
    expect(resumed.conversationId).toBe(first);
  });

  it.each([
    ["the same list", (messages: readonly Message[]) => messages],
    ["a copy that saved nothing", (messages: readonly Message[]) => [...messages]],
    ["a longer list", (messages: readonly Message[]) => [...messages, { role: "user", content: LONG } as Message]],
    ["an empty list", () => []],
  ])("changes nothing when the engine returns %s", async (_name, how) => {
    const engine = plainEngine({
      threshold: 100,
      how: (messages) => ({ messages: how(messages), method: "x", modelCalls: 1 }),
    });
    const conversation = await openConversation(bench.parts({ engine, script: [says(LONG)] }));
    await collect(conversation.send("one"));
    const { sessionId } = conversation;
    const events = await collect(conversation.send("two"));
    expect(findEnd(events).end).toBe("done");
    expect(compressed(events)).toHaveLength(0);
    expect(conversation.sessionId).toBe(sessionId);
    expect(await bench.store.sessionCount()).toBe(1);
    expect(await bench.store.getSession(sessionId)).toMatchObject({ ended_at: null });
    expect(await bench.store.messageCount(sessionId)).toBe(4);
  });

  it("stops after three passes", async () => {
    const how = (messages: readonly Message[]) => ({
      messages: messages.map((message) => ({
        ...message,
        content: contentText(message.content).slice(0, -600) || "x",
      })) as Message[],
      method: "prune",
      modelCalls: 0,
    });
    const engine = plainEngine({ threshold: 10, how });
    const conversation = await openConversation(bench.parts({ engine, script: [says(LONG)] }));
    await collect(conversation.send(LONG.repeat(3)));
    expect(engine.compressionCount).toBe(3);
  });
});

describe("within a turn", () => {
  const big = defineTool({
    name: "big",
    toolset: "test",
    description: "big",
    parameters: Type.Object({ n: Type.Integer() }),
    run: async ({ n }) => ({ content: `${n} ${LONG}` }),
  });

  it("compacts after tools from what the provider counted, and keeps the recalled text on the question", async () => {
    const engine = plainEngine({ threshold: 5_000, keep: 3 });
    const provider = scripted([
      uses([call("big", { n: 1 })], { usage: usage(1_000) }),
      uses([call("big", { n: 2 })], { usage: usage(4_900) }),
      says("done", { usage: usage(500) }),
    ]);
    const how = (messages: readonly Message[]) => ({
      messages: [messages[0] as Message, ...messages.slice(-2)],
      method: "summary",
      modelCalls: 1,
    });
    engine.compress = async (messages) => how(messages);
    const memory = { ...noMemory, recall: async () => "<recalled/>" };
    const conversation = await openConversation(bench.parts({ engine, provider, memory, tools: [big] }));
    const events = await collect(conversation.send("question"));
    expect(compressed(events)).toHaveLength(1);
    expect(provider.asked[2]?.messages[0]?.content).toBe("question\n\n<recalled/>");
    expect(provider.asked[2]?.messages).toHaveLength(3);
    expect(findEnd(events)).toMatchObject({ end: "done", sessionId: conversation.sessionId });
    const rows = await bench.store.getConversation(conversation.sessionId);
    expect(rows.at(-1)?.content).toBe("done");
  });

  it("reads the limit from an overflow error, compacts and repeats for free, at most three times", async () => {
    const failure = { kind: "context_overflow", message: "too long", limitTokens: 8_000 } as const;
    const engine = plainEngine();
    const provider = scripted([says(LONG), fails(failure), says("fits")]);
    const conversation = await openConversation(bench.parts({ engine, provider, settings: { maxTurns: 1 } }));
    await collect(conversation.send(LONG));
    const events = await collect(conversation.send("next"));
    expect(findEnd(events)).toMatchObject({ end: "done", text: "fits" });
    expect(engine.contextLength).toBe(8_000);
    expect(compressed(events)).toHaveLength(1);

    const shrinking = plainEngine({
      how: (messages) => ({
        messages: [{ role: "user", content: "x".repeat(Math.max(1, contentText(messages[0]?.content).length - 500)) }],
        method: "extract",
        modelCalls: 0,
      }),
    });
    const stubborn = scripted([fails(failure)]);
    const other = await openConversation(bench.parts({ engine: shrinking, provider: stubborn }));
    const end = findEnd(await collect(other.send(LONG.repeat(4))));
    expect(end).toMatchObject({ end: "failed", failure: { kind: "context_overflow" } });
    expect(end.failure?.hint).toBeTruthy();
    expect(stubborn.asked).toHaveLength(4);
  });

  it("notifies the user of a nearly full window once, and never the model", async () => {
    const engine = plainEngine({ threshold: 1_000 });
    const provider = scripted([says("ok", { usage: usage(900) })]);
    const conversation = await openConversation(bench.parts({ engine, provider }));
    const events = [...(await collect(conversation.send("a"))), ...(await collect(conversation.send("b")))];
    expect(events.filter((event) => event.type === "notice")).toHaveLength(1);
    expect(JSON.stringify(provider.asked)).not.toContain("summarised");
  });
});

describe("engines and memory providers", () => {
  it("the text of the memory provider becomes part of the summary", async () => {
    const engine = plainEngine();
    let carried: string | undefined;
    const compress = engine.compress.bind(engine);
    engine.compress = (messages, options) => {
      carried = options.carry;
      return compress(messages, options);
    };
    const memory = { ...noMemory, beforeCompaction: async () => "The user's name is Ada." };
    const conversation = await openConversation(bench.parts({ engine, memory, script: [says(LONG)] }));
    await collect(conversation.send("a"));
    await collect(conversation.send("b"));
    await conversation.compact();
    expect(carried).toBe("The user's name is Ada.");
  });

  it("the turn continues when the engine throws", async () => {
    const engine = plainEngine({ threshold: 10 });
    engine.compress = async () => {
      throw new Error("plugin bug");
    };
    const conversation = await openConversation(bench.parts({ engine, script: [says(LONG)] }));
    const events = await collect(conversation.send(LONG));
    expect(findEnd(events).end).toBe("done");
    expect(events).toContainEqual(
      expect.objectContaining({ type: "notice", text: expect.stringContaining("plugin bug") }),
    );
  });
});

describe("an engine that throws at the end of a session", () => {
  it("does not prevent closing, and hooks still run", async () => {
    const engine = plainEngine();
    engine.onSessionEnd = async () => {
      throw new Error("plugin bug");
    };
    const heard: string[] = [];
    const hooks: Hooks = {
      listens: (name) => name === "on_session_finalize",
      run: async (name) => {
        heard.push(name);
        return [];
      },
    };
    const conversation = await openConversation(bench.parts({ engine, hooks, script: [says("hi")] }));
    await collect(conversation.send("hello"));
    await conversation.close();
    expect(heard).toEqual(["on_session_finalize"]);
  });
});

describe("on demand", () => {
  it("passes the focus on and reports", async () => {
    const engine = plainEngine();
    let focus: string | undefined;
    const compress = engine.compress.bind(engine);
    engine.compress = (messages, options) => {
      focus = options.focusTopic;
      return compress(messages, options);
    };
    const conversation = await openConversation(bench.parts({ engine, script: [says(LONG), says("b")] }));
    await collect(conversation.send("a"));
    await collect(conversation.send("c"));
    const report = await conversation.compact("tea");
    expect(report).toMatchObject({ shrunk: true, method: "summary" });
    expect(focus).toBe("tea");
    expect(report.afterTokens).toBeLessThan(report.beforeTokens);
  });
});

describe("the notice before compaction", () => {
  it("names the numbers from 85 % on, once, and again after the usage fell below", async () => {
    const engine = plainEngine({ threshold: 50_000 });
    const prompts = [42_499, 42_500, 44_000, 42_000, 43_000];
    const script = prompts.map((prompt) => says("ok", { usage: usage(prompt) }));
    const conversation = await openConversation(bench.parts({ engine, script }));
    const notices: string[][] = [];
    for (const prompt of prompts) {
      const events = await collect(conversation.send(`prompt ${prompt}`));
      notices.push(events.flatMap((event) => (event.type === "notice" ? [event.text] : [])));
    }
    expect(notices).toEqual([
      [],
      ["⚠️ Context is 85% to compaction threshold (42,500/50,000 tokens)"],
      [],
      [],
      ["⚠️ Context is 86% to compaction threshold (43,000/50,000 tokens)"],
    ]);
  });
});
