// Turns from the outside: what a surface sees and what the store holds afterwards.
import { createHash } from "node:crypto";
import { Type } from "typebox";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Bench,
  call,
  collect,
  deafSide,
  endOf,
  fails,
  hangs,
  openBench,
  says,
  scripted,
  uses,
} from "../../test/scripted.ts";
import { type Hooks, noHooks } from "../core/hook.ts";
import type { JsonObject, Message } from "../core/message.ts";
import { defineTool } from "../core/tool.ts";
import { openConversation } from "./conversation.ts";
import { noMemory } from "./no-memory.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
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
    const end = endOf(events);
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

  it("keeps prefix bytes constant over 200 turns with tools, recall and a model switch and back", async () => {
    const prefixes = new Set<string>();
    const script = [uses([call("echo", { text: "x" })]), says("fine")];
    const other = scripted(script);
    const provider = scripted(Array.from({ length: 400 }, (_, index) => script[index % 2] ?? says("fine")));
    let turn = 0;
    const memory = { ...noMemory, recall: async () => `<memory-context>fact ${++turn}</memory-context>` };
    const systemPrompt = async () => `Prompt made ${Date.now()} ${Math.random()}`;
    const conversation = await openConversation(bench.parts({ provider, memory, systemPrompt, tools: [echo] }));
    for (let index = 0; index < 200; index++) {
      if (index === 100) await conversation.useProvider(other);
      if (index === 101) await conversation.useProvider(provider);
      await collect(conversation.send(`turn ${index}`));
    }
    for (const request of [...provider.asked, ...other.asked]) {
      prefixes.add(createHash("sha256").update(request.system).update(JSON.stringify(request.tools)).digest("hex"));
    }
    expect(prefixes.size).toBe(1);
    // Apart from the recalled aside of its own turn, a request repeats what was sent before.
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

describe("every exit yields exactly one ended and leaves a log that can go on", () => {
  it("done, failed, budget, interrupted, abandoned", async () => {
    const failure = { kind: "auth", message: "No key.", cure: "Run hermes auth add." } as const;
    const failed = await openConversation(bench.parts({ script: [fails(failure, "half an ans")] }));
    const events = await collect(failed.send("hi"));
    expect(endOf(events)).toMatchObject({ end: "failed", failure, text: "half an ans" });
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
    expect(endOf(spent)).toMatchObject({ end: "budget", text: "I did two things.", modelCalls: 3 });
    expect(roles(await bench.store.getConversation(budget.sessionId))).toBe(
      "user assistant tool assistant tool assistant",
    );
  });

  it("finalises when the consumer leaves in the middle", async () => {
    const slow = defineTool({ ...echo, name: "slow", run: () => new Promise(() => undefined) });
    const conversation = await openConversation(
      bench.parts({ script: [uses([call("slow", { text: "x" })])], tools: [slow] }),
    );
    const startedAt = Date.now();
    for await (const event of conversation.send("go")) if (event.type === "tool_started") break;
    expect(Date.now() - startedAt).toBeLessThan(2_000);
    expect(conversation.busy).toBe(false);
    const stored = await bench.store.getConversation(conversation.sessionId);
    expect(stored.at(-1)).toMatchObject({ role: "tool", content: "Interrupted." });
  });

  it("interrupts a deaf model and keeps what was seen", async () => {
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
    expect(performance.now() - stoppedAt).toBeLessThan(500);
    expect(endOf(events).end).toBe("interrupted");
    expect((await bench.store.getConversation(conversation.sessionId)).at(-1)).toMatchObject({ content: "I was say" });
    expect(endOf(await collect(conversation.send("go on"))).text).toBe("later");
  });

  it("interrupts tools that ignore their signal, answers every call, and hands steering back", async () => {
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
    expect(performance.now() - stoppedAt).toBeLessThan(500);
    expect(endOf(events)).toMatchObject({ end: "interrupted", undelivered: "use the other one" });
    const stored = await bench.store.getConversation(conversation.sessionId);
    expect(stored.slice(-2).map((message) => message.content)).toEqual(["Interrupted.", "Interrupted."]);
    expect(roles(stored)).toBe("user assistant tool tool");
  });

  it("reports a store that cannot write instead of hanging", async () => {
    const conversation = await openConversation(bench.parts());
    await bench.store.close();
    const end = endOf(await collect(conversation.send("hi")));
    expect(end.end).toBe("failed");
    expect(end.failure?.message).not.toBe("");
  });

  it("apologises when the wrap-up call fails too", async () => {
    const failure = { kind: "server_error", message: "down" } as const;
    const script = [uses([call("echo", { text: "1" })]), fails(failure), fails(failure)];
    const parts = bench.parts({ script, tools: [echo], settings: { maxTurns: 1 } });
    const conversation = await openConversation(parts);
    const end = endOf(await collect(conversation.send("go")));
    expect(end.end).toBe("budget");
    expect(end.text).toContain("continue");
  });
});

describe("steering and queueing", () => {
  it("lands on the last tool result, durable, and the model reads it", async () => {
    const provider = scripted([uses([call("echo", { text: "1" }), call("echo", { text: "2" })]), says("ok")]);
    const conversation = await openConversation(bench.parts({ provider, tools: [echo] }));
    for await (const event of conversation.send("go"))
      if (event.type === "tool_started") conversation.steer("be brief");
    const stored = await bench.store.getConversation(conversation.sessionId);
    expect(stored[3]?.content).toMatch(/^echo: 2\n\nUser guidance: be brief/);
    expect(provider.asked[1]?.messages.at(-1)?.content).toBe(stored[3]?.content);
  });

  it("hands back what found no tool result", async () => {
    const conversation = await openConversation(bench.parts());
    const events = [];
    for await (const event of conversation.send("go")) {
      events.push(event);
      if (event.type === "delta") conversation.steer("also this");
    }
    expect(endOf(events).undelivered).toBe("also this\nalso this");
    expect(conversation.steer("nobody runs")).toBe(false);
  });

  it("keeps queued messages in order and refuses two turns at once", async () => {
    const conversation = await openConversation(bench.parts());
    for await (const event of conversation.send("go")) {
      if (event.type !== "delta") continue;
      conversation.queue("one");
      await expect(collect(conversation.send("two"))).rejects.toThrow(/already running/);
    }
    expect([conversation.takeQueued(), conversation.takeQueued(), conversation.takeQueued()]).toEqual([
      "one",
      "one",
      undefined,
    ]);
  });
});

describe("hooks and memory", () => {
  function listening(answers: { [name: string]: unknown }): Hooks & { seen: { name: string; args: JsonObject }[] } {
    const seen: { name: string; args: JsonObject }[] = [];
    return {
      seen,
      listens: () => true,
      run: async (name, args) => {
        seen.push({ name, args });
        return answers[name] === undefined ? [] : [answers[name] as string];
      },
    };
  }

  it("appends hook context and recall on the wire only, transforms the answer, fires the end on every exit", async () => {
    const hooks = listening({
      pre_llm_call: { context: "The weather is fine." },
      transform_llm_output: "shouted",
      transform_tool_result: "[changed]",
    });
    const provider = scripted([uses([call("echo", { text: "1" })]), says("quiet")]);
    const memory = { ...noMemory, recall: async () => "<memory-context>likes tea</memory-context>" };
    const conversation = await openConversation(bench.parts({ provider, hooks, memory, tools: [echo] }));
    expect(endOf(await collect(conversation.send("hello"))).text).toBe("shouted");
    expect(provider.asked[1]?.messages[0]?.content).toBe(
      "hello\n\n<memory-context>likes tea</memory-context>\n\nThe weather is fine.",
    );
    const stored = await bench.store.getConversation(conversation.sessionId);
    expect(stored[0]?.content).toBe("hello");
    expect(stored[2]?.content).toBe("[changed]");
    expect(stored[3]?.content).toBe("quiet");
    const names = hooks.seen.map((entry) => entry.name);
    expect(names.filter((name) => name === "pre_llm_call")).toHaveLength(1);
    expect(names).toEqual(expect.arrayContaining(["on_session_start", "pre_api_request", "post_api_request"]));
    expect(names).toEqual(expect.arrayContaining(["pre_tool_call", "post_tool_call", "post_llm_call"]));
    expect(names.at(-1)).toBe("on_session_end");
    const failing = await openConversation(bench.parts({ hooks, script: [fails({ kind: "auth", message: "no" })] }));
    await collect(failing.send("hi"));
    expect(hooks.seen.at(-1)).toMatchObject({ name: "on_session_end", args: { completed: false } });
  });

  it("syncs memory after completed turns only", async () => {
    const synced: string[] = [];
    const memory = { ...noMemory, turnEnded: (user: string, answer: string) => void synced.push(`${user}>${answer}`) };
    const script = [says("one"), fails({ kind: "auth", message: "no" }), hangs("th")];
    const conversation = await openConversation(bench.parts({ memory, script }));
    await collect(conversation.send("a"));
    await collect(conversation.send("b"));
    for await (const event of conversation.send("c")) if (event.type === "delta") conversation.interrupt();
    expect(synced).toEqual(["a>one"]);
  });

  it("survives a memory and hooks that hang when interrupted", async () => {
    const never = new Promise<never>(() => undefined);
    const memory = { ...noMemory, recall: () => never };
    const hooks: Hooks = { ...noHooks, listens: (name) => name === "on_session_end", run: () => never };
    const conversation = await openConversation(bench.parts({ memory, hooks }));
    const turn = collect(conversation.send("hi"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const startedAt = performance.now();
    conversation.interrupt();
    expect(endOf(await turn).end).toBe("interrupted");
    expect(performance.now() - startedAt).toBeLessThan(500);
  });
});

describe("titles", () => {
  it("names the conversation in the background and waits for it on close", async () => {
    const tasks: string[] = [];
    const side = {
      ...deafSide,
      ask: async (request: { task: string }) => {
        tasks.push(request.task);
        await new Promise((resolve) => setTimeout(resolve, 50));
        return {
          ok: true as const,
          text: '"Title: A fine tea"\nbecause',
          finishReason: "stop",
          identity: scripted([]).identity,
        };
      },
    };
    const settings = { titles: true };
    const conversation = await openConversation(bench.parts({ side, settings }));
    await collect(conversation.send("tea?"));
    expect(await bench.store.getSessionTitle(conversation.sessionId)).toBeNull();
    await conversation.close();
    expect(await bench.store.getSessionTitle(conversation.sessionId)).toBe("A fine tea");
    const second = await openConversation(bench.parts({ side, settings }));
    await collect(second.send("tea again?"));
    await second.close({ reason: "user_exit" });
    expect(await bench.store.getSessionTitle(second.sessionId)).toBe("A fine tea #2");
    expect(await bench.store.getSession(second.sessionId)).toMatchObject({ end_reason: "user_exit" });
    expect(tasks).toEqual(["title_generation", "title_generation"]);
  });
});

describe("secrets", () => {
  it("are masked in the store, on the wire and on the screen, while the tool gets the real value", async () => {
    const mask = (text: string) => text.replaceAll("sk-secret", "***");
    const redactor = {
      redact: mask,
      learn: () => undefined,
      stream: () => {
        let held = "";
        return {
          push: (chunk: string) => {
            held += chunk;
            return "";
          },
          end: () => mask(held),
        };
      },
    };
    let got = "";
    const spy = defineTool({
      ...echo,
      run: async ({ text }) => {
        got = text;
        return { content: `key ${text}` };
      },
    });
    const provider = scripted([uses([call("echo", { text: "sk-secret" })]), says("done with sk-secret")]);
    const conversation = await openConversation(bench.parts({ provider, redactor, tools: [spy] }));
    const events = await collect(conversation.send("use sk-secret"));
    expect(got).toBe("sk-secret");
    expect(endOf(events).text).toBe("done with ***");
    expect(JSON.stringify([events, provider.asked])).not.toContain("sk-secret");
    expect(JSON.stringify(await bench.store.getConversation(conversation.sessionId))).not.toContain("sk-secret");
  });
});
