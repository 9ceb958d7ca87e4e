// Writes of an external memory provider are checked by the gate; reads are not.
import { afterEach, beforeEach, expect, it } from "vitest";
import { call, collect, type LoopFixture, openLoopFixture, says, scripted, uses } from "../../test/kit/scripted.ts";
import type { Gate, Intent } from "../core/gate.ts";
import type { Memory } from "../core/memory.ts";
import { openConversation } from "./conversation.ts";
import { noMemory } from "./delegation/no-memory.ts";

let bench: LoopFixture;
beforeEach(async () => {
  bench = await openLoopFixture();
});
afterEach(() => bench[Symbol.asyncDispose]());

it("a denied write never reaches the provider, and reads are not checked", async () => {
  const done: string[] = [];
  const memory: Memory = {
    ...noMemory,
    toolSchemas: [{ name: "facts", description: "Facts", parameters: { type: "object", properties: {} } }],
    writes: (_, args) => args.action === "add",
    callTool: async (name, args) => {
      done.push(`${name} ${String(args.action)}`);
      return "{}";
    },
  };
  const asked: { intent: Intent; tainted: boolean }[] = [];
  const gate: Gate = {
    beginTurn: () => undefined,
    check: async (intent, { tainted }) => {
      asked.push({ intent, tainted });
      return { allowed: false, status: "denied", message: "The user refused.", rule: "durable" };
    },
  };
  const provider = scripted([
    uses([call("facts", { action: "add", text: "x" })]),
    uses([call("facts", { action: "search" })]),
    says("ok"),
  ]);
  const conversation = await openConversation(bench.parts({ provider, memory, gate }));
  await collect(conversation.send("remember this page", { signal: new AbortController().signal, tainted: true }));
  expect(done).toEqual(["facts search"]);
  expect(asked).toMatchObject([{ tainted: true, intent: { kind: "durable", what: "memory" } }]);
  const results = conversation.messages.filter((message) => message.role === "tool");
  expect(results[0]?.content).toContain("The user refused.");
});
