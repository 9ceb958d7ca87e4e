// The services around a turn: hooks, memory, titles, secrets.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  call,
  collect,
  fails,
  findEnd,
  hangingSide,
  hangs,
  type LoopFixture,
  openLoopFixture,
  says,
  scripted,
  uses,
} from "../../test/kit/scripted.ts";
import { type Hooks, noHooks } from "../core/hook.ts";
import type { JsonObject } from "../core/message.ts";
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
    expect(findEnd(await collect(conversation.send("hello"))).text).toBe("shouted");
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
    expect(findEnd(await turn).end).toBe("interrupted");
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

describe("titles", () => {
  it("names the conversation in the background and waits for it on close", async () => {
    const tasks: string[] = [];
    const side = {
      ...hangingSide,
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
    expect(findEnd(events).text).toBe("done with ***");
    expect(JSON.stringify([events, provider.asked])).not.toContain("sk-secret");
    expect(JSON.stringify(await bench.store.getConversation(conversation.sessionId))).not.toContain("sk-secret");
  });
});
