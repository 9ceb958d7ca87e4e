// Random scripts and interrupts: each turn ends once, calls and results are paired, a resumed conversation sends the same bytes.
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  call,
  fails,
  findEnd,
  hangs,
  type LoopFixture,
  openLoopFixture,
  type Reply,
  says,
  scripted,
  uses,
} from "../../test/kit/scripted.ts";
import type { AgentEvent } from "../core/event.ts";
import type { Message, ToolCall } from "../core/message.ts";
import { projectMessages } from "../core/model/projection.ts";
import { Type } from "../core/tool/schema.ts";
import { defineTool } from "../core/tool/tool.ts";
import { openConversation } from "./conversation.ts";

let bench: LoopFixture;
beforeAll(async () => {
  bench = await openLoopFixture();
});
afterAll(() => bench[Symbol.asyncDispose]());

const work = defineTool({
  name: "work",
  toolset: "test",
  description: "work",
  parameters: Type.Object({ how: Type.Optional(Type.String()) }),
  overlap: "parallel",
  run: async ({ how }, context) => {
    if (how === "throw") throw new Error("no");
    if (how === "hang") await new Promise(() => undefined);
    if (how === "wait") await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
    return { content: how === "empty" ? "" : `did ${how}` };
  },
});

const someCall: fc.Arbitrary<ToolCall> = fc.oneof(
  fc.constantFrom("plain", "throw", "empty", "wait", "hang").map((how) => call("work", { how })),
  fc.constantFrom("wrok", "nothing_like_it").map((name) => call(name, {})),
  fc.constantFrom("{bad", '{"how":"cut', "[1]", "").map((text) => call("work", text)),
);

const someReply: fc.Arbitrary<Reply> = fc.oneof(
  { weight: 3, arbitrary: fc.array(someCall, { minLength: 1, maxLength: 4 }).map((calls) => uses(calls)) },
  fc.string().map((text) => says(text)),
  fc.constantFrom("length", "stop").map((finishReason) => says("part ", { finishReason })),
  fc.constant(says("", { reasoning: "hm" })),
  fc
    .constantFrom("auth", "context_overflow", "timeout")
    .map((kind) => fails({ kind: kind as "auth", message: kind }, "x")),
  fc.constant(hangs("began")),
);

function pairsHold(log: readonly Message[]): boolean {
  const open = new Set<string>();
  for (const message of log) {
    if (message.role === "tool") {
      if (!open.delete(message.tool_call_id)) return false;
    } else {
      if (open.size > 0) return false;
      if (message.role === "assistant") for (const one of message.tool_calls ?? []) open.add(one.id);
    }
  }
  return open.size === 0;
}

it("holds for random scripts and random moments of interruption", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(someReply, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 25 }),
      fc.boolean(),
      async (script, eventCount, leave) => {
        const provider = scripted([...script, says("the end")]);
        const settings = { maxTurns: 8, abandonMs: 5 };
        const conversation = await openConversation(bench.parts({ provider, tools: [work], settings }));
        const events: AgentEvent[] = [];
        const stop = setTimeout(() => conversation.interrupt(), 60);
        for await (const event of conversation.send("go")) {
          events.push(event);
          if (events.length !== eventCount || event.type === "ended") continue;
          if (leave) break;
          conversation.interrupt();
        }
        clearTimeout(stop);
        expect(conversation.interrupt()).toBe(false);
        if (!leave || events.at(-1)?.type === "ended") findEnd(events);
        expect(pairsHold(conversation.messages)).toBe(true);
        const resumed = await openConversation(bench.parts(), { resume: conversation.sessionId });
        expect(projectMessages(resumed.messages)).toEqual(projectMessages(conversation.messages));
      },
    ),
    { numRuns: 80 },
  );
});
