// Turns as a surface sees them, and the messages in the store afterwards.
import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  call,
  collect,
  fails,
  findEnd,
  hangs,
  type LoopFixture,
  openLoopFixture,
  says,
  scripted,
  uses,
} from "../../test/kit/scripted.ts";
import type { Message } from "../core/message.ts";
import { Type } from "../core/tool/schema.ts";
import { defineTool } from "../core/tool/tool.ts";
import { openConversation } from "./conversation.ts";
import { noMemory } from "./delegation/no-memory.ts";

let bench: LoopFixture;
beforeEach(async () => {
  bench = await openLoopFixture();
});
afterEach(() => bench[Symbol.asyncDispose]());

const echo = defineTool({
  name: "echo",
  toolset: "test",
  description: "Says it back",
  parameters: Type.Object({ text: Type.String() }),
  overlap: "parallel",
  run: async ({ text }) => ({ content: `echo: ${text}` }),
});

const roles = (log: readonly Message[]) => log.map((message) => message.role).join(" ");

describe("a turn", () => {
  it("answers, uses tools and stores each message before it is shown", async () => {
    const provider = scripted([uses([call("echo", { text: "a" })], { text: "Let me see. " }), says("It said a.")]);
    const conversation = await openConversation(bench.parts({ provider, tools: [echo] }));
    const counts: number[] = [];
    const events = [];
    for await (const event of conversation.send("say a")) {
      events.push(event);
      if (event.type !== "message") continue;
      const rows = await bench.store.getMessages(conversation.sessionId);
      counts.push(rows.findIndex((row) => row.id === event.id));
    }
    expect(counts).toEqual([0, 1, 2, 3]);
    const end = findEnd(events);
    expect(end).toMatchObject({ end: "done", text: "It said a.", modelCalls: 2 });
    expect(end.usage.input).toBe(200);
    expect(end.cost).toMatchObject({ usd: 0.02, status: "estimated" });
    const stored = await bench.store.getConversation(conversation.sessionId);
    expect(roles(stored)).toBe("user assistant tool assistant");
    expect(stored[2]).toMatchObject({ tool_name: "echo", content: "echo: a" });
    const row = await bench.store.getSession(conversation.sessionId);
    expect(row).toMatchObject({
      input_tokens: 200,
      output_tokens: 20,
      api_call_count: 2,
      billing_provider: "scripted",
    });
    expect(row?.estimated_cost_usd).toBeCloseTo(0.02);
    expect(provider.asked[1]?.messages.at(-1)).toMatchObject({ role: "tool", content: "echo: a" });
  });

  it("creates no session row before the first turn", async () => {
    const conversation = await openConversation(bench.parts());
    expect(await bench.store.sessionCount()).toBe(0);
    await collect(conversation.send("hello"));
    expect(await bench.store.sessionCount()).toBe(1);
  });

  it("resumes with the stored prompt byte for byte, whatever the prompt would be now", async () => {
    const first = await openConversation(bench.parts({ systemPrompt: async () => "Prompt one \u00e9\n" }));
    await collect(first.send("hello"));
    const provider = scripted([says("again")]);
    const second = await openConversation(bench.parts({ provider, systemPrompt: async () => "Prompt two" }), {
      resume: first.sessionId,
    });
    await collect(second.send("still there?"));
    expect(provider.asked[0]?.system).toBe("Prompt one \u00e9\n");
    expect(provider.asked[0]?.messages.map((message) => message.content)).toEqual(["hello", "ok", "still there?"]);
    expect(second.conversationId).toBe(first.conversationId);
  });

  it("keeps prefix bytes constant over 200 turns with tools and recall", async () => {
    const prefixes = new Set<string>();
    const script = [uses([call("echo", { text: "x" })]), says("fine")];
    const provider = scripted(Array.from({ length: 400 }, (_, index) => script[index % 2] ?? says("fine")));
    let turn = 0;
    const memory = { ...noMemory, recall: async () => `<memory-context>fact ${++turn}</memory-context>` };
    const systemPrompt = async () => `Prompt made ${Date.now()} ${Math.random()}`;
    const conversation = await openConversation(bench.parts({ provider, memory, systemPrompt, tools: [echo] }));
    for (let index = 0; index < 200; index++) {
      await collect(conversation.send(`turn ${index}`));
    }
    for (const request of provider.asked) {
      prefixes.add(createHash("sha256").update(request.system).update(JSON.stringify(request.tools)).digest("hex"));
    }
    expect(prefixes.size).toBe(1);
    // Except for the text recalled in its turn, a request repeats what was sent before.
    const [early, later] = [provider.asked[0]?.messages[0], provider.asked.at(-1)?.messages[0]];
    expect(early?.content).toContain("fact 1");
    expect(later?.content).toBe("turn 0");
    const plain = (message: Message | undefined) => String(message?.content).split("\n\n<memory")[0];
    for (const [index, request] of provider.asked.entries()) {
      const before = provider.asked[index - 1]?.messages ?? [];
      expect(request.messages.slice(0, before.length).map(plain)).toEqual(before.map(plain));
    }
  });
});

describe("every exit yields exactly one ended and leaves a log that can be continued", () => {
  it("done, failed, budget, interrupted, abandoned", async () => {
    const failure = { kind: "auth", message: "No key.", hint: "Run hermes auth add." } as const;
    const failed = await openConversation(bench.parts({ script: [fails(failure, "half an ans")] }));
    const events = await collect(failed.send("hi"));
    expect(findEnd(events)).toMatchObject({ end: "failed", failure, text: "half an ans" });
    const stored = await bench.store.getConversation(failed.sessionId);
    expect(stored.at(-1)).toMatchObject({ role: "assistant", content: "half an ans" });

    const budget = await openConversation(
      bench.parts({
        script: [uses([call("echo", { text: "1" })]), uses([call("echo", { text: "2" })]), says("I did two things.")],
        tools: [echo],
        settings: { maxTurns: 2 },
      }),
    );
    const spent = await collect(budget.send("go"));
    expect(findEnd(spent)).toMatchObject({ end: "budget", text: "I did two things.", modelCalls: 3 });
    expect(roles(await bench.store.getConversation(budget.sessionId))).toBe(
      "user assistant tool assistant tool assistant",
    );
  });

  it("finalises when the consumer stops iterating early", async () => {
    const slow = defineTool({ ...echo, name: "slow", run: () => new Promise(() => undefined) });
    const conversation = await openConversation(
      bench.parts({ script: [uses([call("slow", { text: "x" })])], tools: [slow] }),
    );
    const startedAt = Date.now();
    for await (const event of conversation.send("go")) if (event.type === "tool_started") break;
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    expect(conversation.interrupt()).toBe(false);
    const stored = await bench.store.getConversation(conversation.sessionId);
    expect(stored.at(-1)).toMatchObject({ role: "tool", content: "Interrupted." });
  });

  it("interrupts a model that ignores its signal and stores the streamed text", async () => {
    const conversation = await openConversation(bench.parts({ script: [hangs("I was say"), says("later")] }));
    const events = [];
    let stoppedAt = 0;
    for await (const event of conversation.send("go")) {
      events.push(event);
      if (event.type === "delta") {
        stoppedAt = performance.now();
        expect(conversation.interrupt()).toBe(true);
      }
    }
    expect(performance.now() - stoppedAt).toBeLessThan(5_000);
    expect(findEnd(events).end).toBe("interrupted");
    expect((await bench.store.getConversation(conversation.sessionId)).at(-1)).toMatchObject({ content: "I was say" });
    expect(findEnd(await collect(conversation.send("go on"))).text).toBe("later");
  });

  it("interrupts tools that ignore their signal, answers every call, and returns steering", async () => {
    const deaf = defineTool({ ...echo, name: "deaf", overlap: "alone", run: () => new Promise(() => undefined) });
    const calls = [call("deaf", { text: "1" }), call("echo", { text: "2" })];
    const conversation = await openConversation(
      bench.parts({ script: [uses(calls), says("ok")], tools: [deaf, echo] }),
    );
    const events = [];
    let stoppedAt = 0;
    for await (const event of conversation.send("go")) {
      events.push(event);
      if (event.type === "tool_started") {
        expect(conversation.steer("use the other one")).toBe(true);
        stoppedAt = performance.now();
        conversation.interrupt();
      }
    }
    expect(performance.now() - stoppedAt).toBeLessThan(5_000);
    expect(findEnd(events)).toMatchObject({ end: "interrupted", undelivered: "use the other one" });
    const stored = await bench.store.getConversation(conversation.sessionId);
    expect(stored.slice(-2).map((message) => message.content)).toEqual(["Interrupted.", "Interrupted."]);
    expect(roles(stored)).toBe("user assistant tool tool");
  });

  it("reports a store that cannot write instead of hanging", async () => {
    const conversation = await openConversation(bench.parts());
    await bench.store.close();
    const end = findEnd(await collect(conversation.send("hi")));
    expect(end.end).toBe("failed");
    expect(end.failure?.message).not.toBe("");
  });

  it("creates the session again after the first write failed", async () => {
    const { store } = bench;
    let full = true;
    const refusing = new Proxy(store, {
      get: (target, name) =>
        name === "createSession" && full
          ? () => Promise.reject(new Error("the disk is full"))
          : Reflect.get(target, name).bind?.(target),
    });
    const parts = { ...bench.parts({ script: [says("heard")] }), store: refusing };
    const conversation = await openConversation(parts);
    const first = findEnd(await collect(conversation.send("one")));
    expect(first).toMatchObject({ end: "failed", failure: { message: "the disk is full" } });
    full = false;
    expect(findEnd(await collect(conversation.send("two"))).end).toBe("done");
    const stored = await store.getConversation(conversation.sessionId);
    expect(stored.map((message) => message.content)).toEqual(["two", "heard"]);
  });

  it("calls the model only after the given promise resolves", async () => {
    const provider = scripted([says("answer")]);
    const conversation = await openConversation(bench.parts({ provider }));
    let open: () => void = () => undefined;
    const after = new Promise<void>((resolve) => {
      open = resolve;
    });
    const running = collect(conversation.send("hi", { after }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(provider.asked).toHaveLength(0);
    open();
    expect(findEnd(await running).end).toBe("done");
    const refused = conversation.send("again", { after: Promise.reject(new Error("not noted")) });
    expect(findEnd(await collect(refused))).toMatchObject({ end: "failed", failure: { message: "not noted" } });
    expect(provider.asked).toHaveLength(1);
  });

  it("emits deltas together at the requested interval", async () => {
    const text = "A sentence that comes letter by letter.";
    const reply: ReturnType<typeof says> = async function* (request, signal) {
      for (const email of text) yield { type: "text", text: email };
      for await (const event of says(text)(request, signal)) if (event.type === "done") yield event;
    };
    const parts = () => bench.parts({ script: [reply] });
    const deltas = async (options: { deltaMs?: number }) => {
      const events = await collect((await openConversation(parts())).send("hi", options));
      return events.flatMap((event) => (event.type === "delta" ? [event.text] : []));
    };
    expect((await deltas({})).length).toBe(text.length);
    const gathered = await deltas({ deltaMs: 60_000 });
    expect(gathered.join("")).toBe(text);
    expect(gathered.length).toBe(2);
  });

  it("returns a fixed text when the wrap-up call fails too", async () => {
    const failure = { kind: "server_error", message: "down" } as const;
    const script = [uses([call("echo", { text: "1" })]), fails(failure), fails(failure)];
    const parts = bench.parts({ script, tools: [echo], settings: { maxTurns: 1 } });
    const conversation = await openConversation(parts);
    const end = findEnd(await collect(conversation.send("go")));
    expect(end.end).toBe("budget");
    expect(end.text).toContain("continue");
  });
});

describe("steering and queueing", () => {
  it("is added to the last tool result, stored, and sent to the model", async () => {
    const provider = scripted([uses([call("echo", { text: "1" }), call("echo", { text: "2" })]), says("ok")]);
    const conversation = await openConversation(bench.parts({ provider, tools: [echo] }));
    for await (const event of conversation.send("go"))
      if (event.type === "tool_started") conversation.steer("be brief");
    const stored = await bench.store.getConversation(conversation.sessionId);
    expect(stored[3]?.content).toMatch(/^echo: 2\n\nUser guidance: be brief/);
    expect(provider.asked[1]?.messages.at(-1)?.content).toBe(stored[3]?.content);
  });

  it("returns steering text that could not be delivered", async () => {
    const conversation = await openConversation(bench.parts());
    const events = [];
    for await (const event of conversation.send("go")) {
      events.push(event);
      if (event.type === "delta") conversation.steer("also this");
    }
    expect(findEnd(events).undelivered).toBe("also this\nalso this");
    expect(conversation.steer("nobody runs")).toBe(false);
  });

  it("refuses two turns at once", async () => {
    const conversation = await openConversation(bench.parts());
    for await (const event of conversation.send("go")) {
      if (event.type !== "delta") continue;
      await expect(collect(conversation.send("two"))).rejects.toThrow(/already running/);
    }
  });
});

describe("several conversations in one process", () => {
  it("do not mix their sessions, prompts, steering or totals", async () => {
    const talks = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const script = [uses([call("echo", { text: `${n}` })]), says(`answer ${n}`)];
        const provider = scripted(script);
        const systemPrompt = async () => `prompt ${n}`;
        return { n, provider, talk: await openConversation(bench.parts({ provider, systemPrompt, tools: [echo] })) };
      }),
    );
    await Promise.all(
      talks.map(async ({ n, provider, talk }) => {
        const events = [];
        for await (const event of talk.send(`question ${n}`)) {
          events.push(event);
          if (event.type === "tool_started") talk.steer(`hint ${n}`);
        }
        expect(findEnd(events)).toMatchObject({ text: `answer ${n}`, modelCalls: 2, sessionId: talk.sessionId });
        expect(new Set(provider.asked.map((request) => request.system))).toEqual(new Set([`prompt ${n}`]));
        const stored = await bench.store.getConversation(talk.sessionId);
        expect(stored[2]?.content).toBe(`echo: ${n}\n\nUser guidance: hint ${n}`);
      }),
    );
  });

  it("mark a total as uncertain when one of its parts is", async () => {
    const unknown = { usd: null, status: "unknown", source: "none" } as const;
    const script = [uses([call("echo", { text: "1" })], { cost: unknown }), says("ok")];
    const conversation = await openConversation(bench.parts({ script, tools: [echo] }));
    const end = findEnd(await collect(conversation.send("go")));
    expect(end.cost).toMatchObject({ usd: 0.01, status: "unknown" });
    expect(await bench.store.getSession(conversation.sessionId)).toMatchObject({ cost_status: "unknown" });
  });
});
