// kill -9 in the middle of turns: nothing acknowledged is lost and the conversation continues.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bundle } from "../../test/kit/bundle.ts";
import { collect, findEnd, type LoopFixture, openLoopFixture, says, scripted } from "../../test/kit/scripted.ts";
import type { Message } from "../core/message.ts";
import { contentText } from "../core/message.ts";
import { projectMessages } from "../core/model/projection.ts";
import { openConversation } from "./conversation.ts";

let program: string;
let bench: LoopFixture;
beforeAll(async () => {
  program = await bundle("test/children/agent-child.ts");
});
beforeEach(async () => {
  bench = await openLoopFixture();
});
afterEach(() => bench[Symbol.asyncDispose]());

function start(mode: string, sessionId: string): { child: ChildProcess; printed: () => string } {
  const child = spawn(process.execPath, [program, mode, bench.dir, sessionId], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout?.on("data", (chunk) => {
    text += chunk;
  });
  return { child, printed: () => text };
}

/** Waits until the child has printed enough, then kills it. */
async function killAfter(run: { child: ChildProcess; printed: () => string }, enough: (printed: string) => boolean) {
  const gone = once(run.child, "exit");
  while (!enough(run.printed())) await new Promise((resolve) => setTimeout(resolve, 5));
  run.child.kill("SIGKILL");
  await gone;
}

function pairsHold(messages: readonly Message[]): boolean {
  return messages.every((message, index) => {
    if (message.role !== "assistant" || message.tool_calls === undefined) return true;
    const results = messages.slice(index + 1, index + 1 + message.tool_calls.length);
    return message.tool_calls.every((call, n) => {
      const result = results[n];
      return result?.role === "tool" && result.tool_call_id === call.id;
    });
  });
}

describe("a killed process", () => {
  it("loses no acknowledged message, and the next turn works", async () => {
    for (let round = 0; round < 6; round++) {
      const id = `20260101_00000${round}_abcdef`;
      const run = start("busy", id);
      const lines = 5 + round * 9;
      await killAfter(run, (printed) => printed.split("\n").length > lines);
      const acknowledged = run.printed().split("\n").slice(0, -1);
      for (const line of acknowledged) {
        const [session = "", row = ""] = line.split(" ");
        const known = await bench.store.getMessages(session, { afterId: Number(row) - 1, limit: 1 });
        expect(known[0]?.id).toBe(Number(row));
      }
      const provider = scripted([says("back again")]);
      const conversation = await openConversation(bench.parts({ provider }), { resume: id });
      expect(conversation.conversationId).toBe(id);
      expect(pairsHold(projectMessages(conversation.messages))).toBe(true);
      expect(findEnd(await collect(conversation.send("hello?"))).text).toBe("back again");
      const log = await bench.store.getConversation(conversation.sessionId);
      expect(pairsHold(log)).toBe(true);
      expect(pairsHold(provider.asked[0]?.messages ?? [])).toBe(true);
    }
  });

  it("reports the partial result of a subagent to the parent, once", async () => {
    const id = "20260101_000009_abcdef";
    await killAfter(start("delegate", id), (printed) => printed.includes("delegated"));
    const provider = scripted([says("I see")]);
    const conversation = await openConversation(bench.parts({ provider }), { resume: id });
    await collect(conversation.send("and?"));
    const answers = conversation.messages.filter((message) => message.role === "tool");
    expect(answers).toHaveLength(1);
    const { results } = JSON.parse(contentText(answers[0]?.content));
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({ status: "abandoned", summary: "Half of the answer is 21." });
    expect(await bench.store.getSession(results[0].session_id)).toMatchObject({ end_reason: "abandoned" });
    await collect(conversation.send("more"));
    expect(conversation.messages.filter((message) => message.role === "tool")).toHaveLength(1);
  });
});
