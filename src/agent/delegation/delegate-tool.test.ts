// Delegation: every subagent ends exactly once, respects its limits, and its cost is counted.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DELEGATION_SETTINGS } from "../../../test/kit/delegation-settings.ts";
import {
  call,
  collect,
  findEnd,
  hangs,
  type LoopFixture,
  openLoopFixture,
  type Reply,
  says,
  scripted,
  uses,
} from "../../../test/kit/scripted.ts";
import { noHooks } from "../../core/hook.ts";
import { absentHuman } from "../../core/human.ts";
import type { JsonObject } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import { Type } from "../../core/tool/schema.ts";
import { defineTool, type Tool } from "../../core/tool/tool.ts";
import { openConversation } from "../conversation.ts";
import type { ChildOptions } from "./child-run.ts";
import { type DelegationSettings, delegateTool } from "./delegate-tool.ts";
import { noMemory } from "./no-memory.ts";

let bench: LoopFixture;
beforeEach(async () => {
  bench = await openLoopFixture();
});
afterEach(() => bench[Symbol.asyncDispose]());

const plain = (name: string, notForSubagents?: string): Tool =>
  defineTool({
    name,
    notForSubagents,
    toolset: "test",
    description: name,
    parameters: Type.Object({ path: Type.Optional(Type.String()) }),
    run: async () => ({ content: `${name} ran` }),
  });

const FORBIDDEN = ["clarify", "memory", "send_message"];
const TOOLS = [
  plain("read_file"),
  plain("write_file"),
  ...FORBIDDEN.map((name) => plain(name, "it is not for subagents")),
  plain("delegate_task"),
];

/** A parent whose children follow `script`. */
async function delegate(
  args: JsonObject,
  script: readonly Reply[],
  options: { settings?: Partial<DelegationSettings>; before?: readonly Reply[]; depth?: number } = {},
) {
  const specs: ChildOptions[] = [];
  const hooked: JsonObject[] = [];
  const reported: string[] = [];
  const tool = delegateTool({
    store: bench.store,
    hooks: {
      ...noHooks,
      run: async (_name, hookArgs) => {
        hooked.push(hookArgs);
        return [];
      },
    },
    memory: { ...noMemory, delegated: async (task, result) => void reported.push(`${task}: ${result}`) },
    settings: { ...DELEGATION_SETTINGS, ...options.settings },
    openChild: async (spec) => {
      specs.push(spec);
      return openConversation(
        bench.parts({
          script,
          tools: TOOLS,
          human: spec.human ?? absentHuman,
          systemPrompt: async () => spec.systemPrompt ?? "",
          settings: { depth: spec.depth, maxTurns: spec.maxTurns, denyTool: spec.denyTool },
        }),
        { sessionId: spec.sessionId, parentSessionId: spec.parentSessionId },
      );
    },
  });
  const provider = scripted([...(options.before ?? []), uses([call("delegate_task", args)]), says("done")]);
  const settings = options.depth === undefined ? {} : { depth: options.depth };
  const conversation = await openConversation(bench.parts({ provider, tools: [tool, plain("read_file")], settings }));
  const events = await collect(conversation.send("go"));
  const result = conversation.messages.findLast((message) => message.role === "tool");
  return {
    specs,
    hooked,
    reported,
    events,
    conversation,
    end: findEnd(events),
    answer: JSON.parse(contentText(result?.content)),
  };
}

describe("delegate_task", () => {
  it("returns one result per task, in order, and counts the cost", async () => {
    const tasks = [{ goal: "one", context: "know this" }, { goal: "two" }];
    const { answer, specs, hooked, reported, end, conversation } = await delegate({ tasks: JSON.stringify(tasks) }, [
      uses([call("read_file", { path: "a" })]),
      says("found it"),
    ]);
    expect(answer.results.map((result: JsonObject) => [result.task_index, result.status, result.summary])).toEqual([
      [0, "completed", "found it"],
      [1, "completed", "found it"],
    ]);
    expect(answer.results[0]).toMatchObject({ api_calls: 2, exit_reason: "completed", tokens: { input: 200 } });
    expect(answer.results[0].tool_trace).toMatchObject([{ tool: "read_file", status: "ok" }]);
    expect(specs[0]?.systemPrompt).toContain("know this");
    expect(hooked.map((args) => args.child_status)).toEqual(["completed", "completed"]);
    expect(reported).toEqual(["one: found it", "two: found it"]);
    expect(end.usage.input).toBe(200 + 400);
    expect(end.cost.usd).toBeCloseTo(0.06);
    const row = await bench.store.getSession(conversation.sessionId);
    expect(row?.estimated_cost_usd).toBeCloseTo(0.06);
    const child = await bench.store.getSession(specs[0]?.sessionId ?? "");
    expect(child).toMatchObject({ parent_session_id: conversation.sessionId, end_reason: "subagent_done" });
    expect(await bench.store.getMeta(`delegation:${conversation.conversationId}`)).toBe("{}");
  });

  it("enforces the blocked tools one by one, also when their names are guessed", async () => {
    const forbidden = [...FORBIDDEN, "delegate_task"];
    const { specs } = await delegate({ goal: "misbehave" }, [uses(forbidden.map((name) => call(name))), says("ok")]);
    const messages = await bench.store.getConversation(specs[0]?.sessionId ?? "");
    const results = messages
      .filter((message) => message.role === "tool")
      .map((message) => contentText(message.content));
    expect(results).toHaveLength(forbidden.length);
    for (const text of results) expect(text).toContain("is not available here");
  });

  it("honours orchestrators only above the depth limit", async () => {
    const deep = await delegate({ goal: "x", role: "orchestrator" }, [says("y")], { settings: { maxSpawnDepth: 2 } });
    expect(deep.specs[0]).toMatchObject({ depth: 1 });
    expect(deep.specs[0]?.denyTool?.("delegate_task", undefined)).toBeUndefined();
    const flat = await delegate({ goal: "x", role: "orchestrator" }, [says("y")]);
    expect(flat.specs[0]?.denyTool?.("delegate_task", undefined)).toContain("may not start others");
    const below = await delegate({ goal: "x" }, [says("y")], { depth: 1 });
    expect(below.answer.error).toContain("max_spawn_depth");
    expect(below.specs).toEqual([]);
  });

  it("refuses too many tasks instead of dropping some, and a call without a goal", async () => {
    const tasks = Array.from({ length: 4 }, (_, n) => ({ goal: `${n}` }));
    expect((await delegate({ tasks }, [says("y")])).answer.error).toContain("4 tasks");
    expect((await delegate({}, [says("y")])).answer.error).toContain("goal");
  });

  it("stops a child at its time limit with its partial result, after progress messages", async () => {
    const { answer, events } = await delegate(
      { goal: "slow" },
      [uses([call("read_file")], { text: "So far: 20." }), hangs()],
      { settings: { childTimeoutMs: 400, heartbeatMs: 50 } },
    );
    expect(answer.results).toMatchObject([{ status: "timeout", exit_reason: "timeout", summary: "So far: 20." }]);
    expect(events.some((event) => event.type === "tool_progress" && event.text.includes("subagent 1"))).toBe(true);
  });

  it("passes an interrupt on to the children", async () => {
    let childSession = "";
    const tool = delegateTool({
      store: bench.store,
      hooks: noHooks,
      memory: noMemory,
      settings: DELEGATION_SETTINGS,
      openChild: async (spec) => {
        childSession = spec.sessionId;
        return openConversation(bench.parts({ script: [hangs("thinking")] }), { sessionId: spec.sessionId });
      },
    });
    const script = [uses([call("delegate_task", { goal: "x" })])];
    const conversation = await openConversation(bench.parts({ script, tools: [tool] }));
    const events = [];
    let stoppedAt = 0;
    for await (const event of conversation.send("go")) {
      events.push(event);
      if (event.type !== "tool_started") continue;
      await new Promise((resolve) => setTimeout(resolve, 150));
      stoppedAt = performance.now();
      conversation.interrupt();
    }
    expect(performance.now() - stoppedAt).toBeLessThan(5_000);
    expect(findEnd(events).end).toBe("interrupted");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await bench.store.getConversation(childSession)).at(-1)).toMatchObject({ content: "thinking" });
  });

  it("reports files that the parent had read and a child has changed", async () => {
    const { answer } = await delegate({ goal: "change" }, [uses([call("write_file", { path: "a.txt" })]), says("ok")], {
      before: [uses([call("read_file", { path: "a.txt" })])],
    });
    expect(answer.results[0].stale_paths).toEqual(["a.txt"]);
  });

  it("reports a child that cannot be opened", async () => {
    const tool = delegateTool({
      store: bench.store,
      hooks: noHooks,
      memory: noMemory,
      settings: DELEGATION_SETTINGS,
      openChild: async () => {
        throw new Error("no model for subagents");
      },
    });
    const script = [uses([call("delegate_task", { goal: "x" })]), says("ok")];
    const conversation = await openConversation(bench.parts({ script, tools: [tool] }));
    await collect(conversation.send("go"));
    expect(contentText(conversation.messages[2]?.content)).toContain("no model for subagents");
  });
});
