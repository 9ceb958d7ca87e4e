// How a turn recovers: length limits, empty replies, broken calls, budgets.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  call,
  collect,
  findEnd,
  IDENTITY,
  type LoopFixture,
  openLoopFixture,
  type Reply,
  says,
  scripted,
  uses,
} from "../../test/kit/scripted.ts";
import { contentText } from "../core/message.ts";
import { Type } from "../core/tool/schema.ts";
import { defineTool, type Tool } from "../core/tool/tool.ts";
import { openConversation } from "./conversation.ts";
import type { AgentSettings } from "./parts.ts";

let bench: LoopFixture;
beforeEach(async () => {
  bench = await openLoopFixture();
});
afterEach(() => bench[Symbol.asyncDispose]());

function tool(name: string, answer = "fine"): Tool {
  return defineTool({
    name,
    toolset: "test",
    description: name,
    parameters: Type.Object({}),
    run: async () => ({ content: answer }),
  });
}

async function run(script: readonly Reply[], options: { tools?: Tool[]; settings?: Partial<AgentSettings> } = {}) {
  const provider = scripted(script);
  const conversation = await openConversation(bench.parts({ provider, ...options }));
  const events = await collect(conversation.send("go"));
  const stored = await bench.store.getConversation(conversation.sessionId);
  return {
    provider,
    events,
    end: findEnd(events),
    stored,
    texts: stored.map((message) => contentText(message.content)),
  };
}

describe("the length limit", () => {
  it("continues the answer up to three times and stores it as one", async () => {
    const cut = { finishReason: "length" };
    const settings = { maxOutputTokens: 1_000 };
    const { end, texts, provider } = await run([says("one ", cut), says("two ", cut), says("three.")], { settings });
    expect(end).toMatchObject({ end: "done", text: "one two three." });
    expect(texts).toEqual(["go", "one two three."]);
    expect(provider.asked.map((request) => request.maxOutputTokens)).toEqual([1_000, 2_000, 3_000]);
    expect(provider.asked[2]?.messages.at(-2)).toMatchObject({ role: "assistant", content: "one two" });
  });

  it("never asks for less than was configured", async () => {
    const cut = { finishReason: "length" };
    const { provider } = await run([says("a", cut), says("b")], { settings: { maxOutputTokens: 100_000 } });
    expect(provider.asked.map((request) => request.maxOutputTokens)).toEqual([100_000, 100_000]);
  });

  it("stops after three continuations with the partial answer", async () => {
    const { end, events, provider } = await run([says("x", { finishReason: "length" })]);
    expect(end).toMatchObject({ end: "done", text: "xxxx" });
    expect(provider.asked).toHaveLength(4);
    expect(events.some((event) => event.type === "notice" && event.level === "warning")).toBe(true);
  });

  it("reports that reasoning used the whole limit", async () => {
    const { end } = await run([says("", { finishReason: "length", reasoning: "hmm" })]);
    expect(end.end).toBe("failed");
    expect(end.failure?.hint).toContain("reasoning_effort");
  });

  it("does not run a call whose arguments were cut, asks once for a smaller one, then refuses", async () => {
    let ran = 0;
    const write = defineTool({
      ...tool("write_file"),
      parameters: Type.Object({ content: Type.String() }),
      run: async () => {
        ran += 1;
        return { content: "written" };
      },
    });
    const broken = uses([call("write_file", '{"content":"half of')], { finishReason: "length" });
    const { end, texts } = await run([broken], { tools: [write] });
    expect(ran).toBe(0);
    expect(end).toMatchObject({ end: "failed" });
    expect(texts).toEqual(["go"]);
    const whole = uses([call("write_file", { content: "all" })]);
    expect((await run([broken, whole, says("ok")], { tools: [write] })).end.end).toBe("done");
    expect(ran).toBe(1);
  });
});

describe("empty replies", () => {
  it("nudges after tools, and the scaffolding is never stored", async () => {
    const { end, texts, provider } = await run([uses([call("look")]), says(""), says("found")], {
      tools: [tool("look")],
    });
    expect(end).toMatchObject({ end: "done", text: "found" });
    expect(texts).toEqual(["go", "", "fine", "found"]);
    expect(provider.asked[2]?.messages.at(-2)).toMatchObject({ content: "(empty)" });
  });

  it("asks again after a reply with only reasoning, then without a hint, then stops", async () => {
    const { end, texts, provider } = await run([says("", { reasoning: "thinking" })]);
    expect(end).toMatchObject({ end: "failed", text: "(empty)" });
    expect(provider.asked).toHaveLength(1 + 2 + 3);
    expect(texts).toEqual(["go"]);
  });

  it("uses the text of a reply with housekeeping calls as the answer", async () => {
    const { end, provider } = await run([uses([call("todo")], { text: "All done." }), says("")], {
      tools: [{ ...tool("todo"), housekeeping: true }],
    });
    expect(end).toMatchObject({ end: "done", text: "All done." });
    expect(provider.asked).toHaveLength(2);
  });

  it("uses text that was streamed although the message came empty", async () => {
    const odd: Reply = async function* (request, signal) {
      yield { type: "text", text: "seen by the user" };
      yield* says("")(request, signal);
    };
    const { end, texts } = await run([odd]);
    expect(end).toMatchObject({ end: "done", text: "seen by the user" });
    expect(texts).toEqual(["go", "seen by the user"]);
  });
});

describe("calls that cannot run", () => {
  it("answers an unknown tool with near names, skips the rest of the batch, and stops at the third time", async () => {
    let ran = 0;
    const terminal = defineTool({
      ...tool("terminal"),
      run: async () => {
        ran += 1;
        return { content: "" };
      },
    });
    const script = [uses([call("run_terminal_cmd"), call("terminal")])];
    const { end, stored, provider } = await run(script, { tools: [terminal, tool("read_file")] });
    expect(ran).toBe(0);
    expect(provider.asked).toHaveLength(3);
    expect(end).toMatchObject({ end: "failed", failure: { kind: "format_error" } });
    expect(contentText(stored[2]?.content)).toContain("terminal");
    expect(contentText(stored[3]?.content)).toContain("Send it again");
    expect(stored.filter((message) => message.role === "tool")).toHaveLength(6);
  });

  it("repairs a misspelt name and stores the repaired call", async () => {
    const { end, stored } = await run([uses([call("Read-File")]), says("ok")], { tools: [tool("read_file", "text")] });
    expect(end.end).toBe("done");
    expect(stored[1]).toMatchObject({ tool_calls: [{ function: { name: "read_file", arguments: "{}" } }] });
    expect(stored[2]).toMatchObject({ tool_name: "read_file", content: "text" });
  });

  it("asks twice again for broken JSON without storing it, then answers the call", async () => {
    const bad = uses([call("look", "{nope: ]")]);
    const { stored, provider } = await run([bad, bad, bad, says("sorry")], { tools: [tool("look")] });
    expect(provider.asked).toHaveLength(4);
    expect(stored.map((message) => message.role)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(contentText(stored[2]?.content)).toContain("valid JSON");
  });

  it("runs duplicate calls once and answers both", async () => {
    let ran = 0;
    const look = defineTool({
      ...tool("look"),
      run: async () => {
        ran += 1;
        return { content: `run ${ran}` };
      },
    });
    const { stored } = await run([uses([call("look"), call("look", "{ }")]), says("ok")], { tools: [look] });
    expect(ran).toBe(1);
    expect(stored.slice(2, 4).map((message) => message.content)).toEqual(["run 1", "run 1"]);
  });
});

describe("retries of the provider", () => {
  it("are reported as events: retries, fallbacks and invalid text", async () => {
    const failure = { kind: "rate_limit", message: "slow down" } as const;
    const other = { ...IDENTITY, model: "script-2" };
    const bumpy: Reply = async function* (request, signal) {
      yield { type: "text", text: "void" };
      yield { type: "retrying", failure, attempt: 1, inMs: 5 };
      yield { type: "restarted" };
      yield { type: "fallback", from: IDENTITY, to: other, failure };
      yield* says("good")(request, signal);
    };
    const { events, end, texts } = await run([bumpy]);
    expect(end).toMatchObject({ end: "done", text: "good" });
    expect(texts).toEqual(["go", "good"]);
    const types = events.map((event) => event.type);
    expect(types.filter((type) => type !== "delta")).toEqual([
      "message",
      "retrying",
      "restarted",
      "fallback",
      "usage",
      "message",
      "ended",
    ]);
  });

  it("ends the turn when a stream stops without a result", async () => {
    const cut: Reply = async function* () {
      yield { type: "text", text: "only this" };
    };
    const { end, texts } = await run([cut]);
    expect(end).toMatchObject({ end: "failed", text: "only this" });
    expect(texts).toEqual(["go", "only this"]);
  });
});

describe("the budget", () => {
  it("does not count rounds of execute_code alone", async () => {
    const code = uses([call("execute_code")]);
    const { end, provider } = await run([code, code, code, says("done")], {
      tools: [tool("execute_code")],
      settings: { maxTurns: 3, guard: { warnings: false } },
    });
    expect(end).toMatchObject({ end: "done" });
    expect(provider.asked).toHaveLength(4);
    const endless = await run([code], { tools: [tool("execute_code")], settings: { maxTurns: 3 } });
    expect(endless.end.end).toBe("budget");
    expect(endless.provider.asked.filter((request) => request.purpose === "turn")).toHaveLength(6);
  });

  it("wraps up without tools; the repeat of an empty one carries them and ignores calls", async () => {
    const look = uses([call("look")]);
    const { end, provider } = await run([look, says(""), uses([call("look")], { text: "Summary." })], {
      tools: [tool("look")],
      settings: { maxTurns: 1 },
    });
    expect(end).toMatchObject({ end: "budget", text: "Summary." });
    expect(provider.asked.map((request) => [request.purpose, request.tools.length])).toEqual([
      ["turn", 1],
      ["wrap_up", 0],
      ["wrap_up", 1],
    ]);
  });

  it("stops a loop when the guard is configured to", async () => {
    const { end, provider, stored } = await run([uses([call("look")])], {
      tools: [tool("look")],
      settings: { guard: { hardStop: true } },
    });
    expect(end.end).toBe("failed");
    expect(end.text).toContain("repeating");
    expect(provider.asked.length).toBe(5);
    expect(contentText(stored[4]?.content)).toContain("[Loop guard");
  });
});

describe("failed file changes", () => {
  it("are listed below the answer and not stored, unless they were repaired", async () => {
    let works = false;
    const write = defineTool({
      ...tool("write_file"),
      parameters: Type.Object({ path: Type.String(), content: Type.String() }),
      run: async () => (works ? { content: "written" } : { content: '{"error":"disk is read-only"}', failed: true }),
    });
    const one = uses([call("write_file", { path: "a.txt", content: "1" })]);
    const { end, texts } = await run([one, says("All saved!")], { tools: [write] });
    expect(end.text).toContain("All saved!");
    expect(end.text).toContain("a.txt: disk is read-only");
    expect(texts.at(-1)).toBe("All saved!");
    const again: Reply = (request, signal) => {
      works = true;
      return uses([call("write_file", { path: "a.txt", content: "2" })])(request, signal);
    };
    works = false;
    expect((await run([one, again, says("Saved.")], { tools: [write] })).end.text).toBe("Saved.");
  });
});

describe("example messages", () => {
  it("come first in every request and are not stored", async () => {
    const prefill = [
      { role: "user" as const, content: "2+2?" },
      { role: "assistant" as const, content: "4" },
    ];
    const script = [uses([call("look")]), says("Done.")];
    const { provider, texts } = await run(script, { tools: [tool("look")], settings: { prefill } });
    expect(provider.asked).toHaveLength(2);
    for (const { messages } of provider.asked) {
      expect(messages.slice(0, 3).map((message) => contentText(message.content))).toEqual(["2+2?", "4", "go"]);
    }
    expect(texts).not.toContain("2+2?");
  });
});
