// A process that runs a conversation until it is killed, and prints every message that was acknowledged.
import { writeSync } from "node:fs";
import { join } from "node:path";
import { Type } from "typebox";
import { openConversation } from "../../src/agent/conversation.ts";
import { delegateTool } from "../../src/agent/delegation/delegate-tool.ts";
import { noMemory } from "../../src/agent/delegation/no-memory.ts";
import { noHooks } from "../../src/core/hook.ts";
import { defineTool } from "../../src/core/tool/tool.ts";
import { openSessionStore } from "../../src/store/open.ts";
import { DELEGATION_SETTINGS } from "../kit/delegation-settings.ts";
import { call, hangs, partsFor, plainEngine, type Reply, says, scripted, uses } from "../kit/scripted.ts";

const [mode = "", dir = "", sessionId = ""] = process.argv.slice(2);
const store = await openSessionStore({ path: join(dir, "state.db") });

const look = defineTool({
  name: "look",
  toolset: "test",
  description: "look",
  parameters: Type.Object({ n: Type.Integer() }),
  overlap: "parallel",
  run: async ({ n }) => ({ content: `saw ${n} ${"detail ".repeat(50)}` }),
});

const delegate = delegateTool({
  store,
  hooks: noHooks,
  memory: noMemory,
  settings: DELEGATION_SETTINGS,
  openChild: (spec) =>
    openConversation(
      partsFor(store, dir, {
        script: [uses([call("look", { n: 1 })], { text: "Half of the answer is 21." }), hangs()],
        tools: [look],
        systemPrompt: async () => spec.systemPrompt ?? "",
        settings: { depth: spec.depth },
      }),
      { sessionId: spec.sessionId, parentSessionId: spec.parentSessionId },
    ),
});

/** Two tool rounds and an answer, repeated until it is killed, with compactions in between. */
const busy: Reply = (request, signal) => {
  const last = request.messages.at(-1);
  const n = request.messages.length;
  const round = last?.role === "user" || n % 3 === 0;
  const reply = round ? uses([call("look", { n }), call("look", { n: n + 1 })]) : says(`answer ${"words ".repeat(80)}`);
  return reply(request, signal);
};

const script = mode === "delegate" ? [uses([call("delegate_task", { goal: "find 42" }, "call_d")])] : [busy];
const conversation = await openConversation(
  partsFor(store, dir, {
    provider: scripted(script),
    engine: plainEngine({ threshold: 3_000, keep: 3 }),
    tools: [look, delegate],
  }),
  { sessionId },
);
for (let turn = 0; ; turn++) {
  for await (const event of conversation.send(`turn ${turn}`)) {
    // Written synchronously: the parent gets every line written before a kill -9.
    if (event.type === "message") writeSync(1, `${conversation.sessionId} ${event.id}\n`);
    if (event.type === "tool_started" && event.name === "delegate_task")
      setTimeout(() => writeSync(1, "delegated\n"), 300);
  }
}
