// Taking back an exchange, branching, titles before the first message, and standing goals.
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
import type { SideModel } from "../core/model/provider.ts";
import { openConversation } from "./conversation.ts";
import { parseVerdict } from "./goals/judge.ts";

let bench: LoopFixture;
beforeEach(async () => {
  bench = await openLoopFixture();
});
afterEach(() => bench[Symbol.asyncDispose]());

const texts = (log: readonly { content?: unknown }[]) => log.map((message) => message.content);
const never = new AbortController().signal;

/** A judge that gives these answers, then the last one again. */
function judge(...answers: string[]): SideModel & { prompts: string[] } {
  const prompts: string[] = [];
  return {
    prompts,
    contextLength: async () => 100_000,
    ask: async (request) => {
      if (request.task !== "goal_judge") return { ok: false, failure: { kind: "unknown", message: "no title" } };
      const text = answers[Math.min(prompts.length, answers.length - 1)] ?? "";
      prompts.push(request.prompt);
      const identity = { provider: "x", model: "judge", baseUrl: "", transport: "chat_completions" } as const;
      return { ok: true, text, finishReason: "stop", identity };
    },
  };
}

describe("undo", () => {
  it("takes the exchange out of the window and keeps it in the store, also after a restart", async () => {
    const provider = scripted([says("one"), uses([call("missing")]), says("two"), says("three")]);
    const conversation = await openConversation(bench.parts({ provider }));
    await collect(conversation.send("first"));
    await collect(conversation.send("the wrong turn"));
    expect(await conversation.undo()).toEqual({ text: "the wrong turn", parts: [], count: 4 });
    expect(texts(conversation.messages)).toEqual(["first", "one"]);
    await collect(conversation.send("second"));
    expect(texts(provider.asked.at(-1)?.messages ?? [])).toEqual(["first", "one", "second"]);
    const { sessionId } = conversation;
    await conversation.close();
    const again = await openConversation(bench.parts(), { resume: sessionId });
    expect(texts(again.messages)).toEqual(["first", "one", "second", "three"]);
    expect(await bench.store.messageCount(sessionId)).toBe(8);
    expect((await bench.store.searchMessages("wrong")).hits).toHaveLength(1);
    expect(texts(await bench.store.getMessages(sessionId, { withoutUndone: true }))).toEqual(texts(again.messages));
    expect(await again.undo()).toMatchObject({ text: "second" });
    expect(await again.undo()).toMatchObject({ text: "first" });
    expect(await again.undo()).toBeNull();
    expect(await bench.store.deleteSession(sessionId)).toBe(true);
    expect(await bench.store.getMeta(`undone:${sessionId}`)).toBeNull();
  });

  it("returns the pictures, which the next input gets", async () => {
    const provider = scripted([says("nice")]);
    const conversation = await openConversation(bench.parts({ provider }));
    const picture = { type: "image_url" as const, image_url: { url: "data:image/png;base64,AAAA" } };
    await collect(conversation.send([{ type: "text", text: "look" }, picture]));
    const undone = await conversation.undo();
    expect(undone).toMatchObject({ text: "look", parts: [picture] });
    conversation.attachToNextInput(undone?.parts ?? []);
    await collect(conversation.send("look"));
    expect(conversation.messages[0]?.content).toEqual([{ type: "text", text: "look" }, picture]);
  });

  it("does not take back the summary of a compaction", async () => {
    const conversation = await openConversation(bench.parts({ engine: plainEngine({ keep: 0 }) }));
    await collect(conversation.send("a long story ".repeat(50)));
    await conversation.compact();
    expect(await conversation.undo()).toBeNull();
  });
});

describe("branch", () => {
  it("ends the session as branched and copies what is in the window", async () => {
    const conversation = await openConversation(bench.parts({ provider: scripted([says("one"), says("two")]) }));
    expect(await conversation.branch()).toBeNull();
    await collect(conversation.send("first"));
    await collect(conversation.send("not this"));
    await conversation.undo();
    const { sessionId } = conversation;
    await bench.store.setSessionTitle(sessionId, "Plans");
    const branched = await conversation.branch();
    expect(branched?.title).toBe("Plans #2");
    const child = await openConversation(bench.parts(), { resume: branched?.sessionId });
    expect(texts(child.messages)).toEqual(["first", "one"]);
    expect(await bench.store.getSession(sessionId)).toMatchObject({ end_reason: "branched" });
    await collect(child.send("more"));
    await bench.store.reopenSession(sessionId);
    const listed = (await bench.store.listSessions()).map((row) => row.id);
    expect(listed.sort()).toEqual([sessionId, child.sessionId].sort());
  });

  it("gives the branch the title that was asked for, and refuses one that is taken", async () => {
    const conversation = await openConversation(bench.parts(), { title: "Taken" });
    await collect(conversation.send("first"));
    await expect(conversation.branch("Taken")).rejects.toThrow(/in use/);
    expect((await bench.store.getSession(conversation.sessionId))?.ended_at).toBeNull();
    expect(await conversation.branch("Other")).toMatchObject({ title: "Other" });
  });
});

describe("titles", () => {
  it("are kept until the session is created", async () => {
    const conversation = await openConversation(bench.parts(), { title: "From the start" });
    expect(await conversation.setTitle("A better one")).toBe("A better one");
    await collect(conversation.send("hello"));
    expect(await bench.store.getSessionTitle(conversation.sessionId)).toBe("A better one");
    const other = await openConversation(bench.parts());
    await expect(other.setTitle("A better one")).rejects.toThrow(/belongs to session/);
  });
});

describe("a goal", () => {
  const send = async (conversation: Awaited<ReturnType<typeof openConversation>>, text: string) => {
    const ended = findEnd(await collect(conversation.send(text)));
    return conversation.goal.afterTurn(ended, never);
  };

  it("continues until the judge is satisfied, with its criteria", async () => {
    const side = judge('{"done": false, "reason": "no tests"}', 'Sure: {"done": true, "reason": "tests pass"}');
    const conversation = await openConversation(bench.parts({ side }));
    expect(await send(conversation, "hello")).toEqual({});
    await conversation.goal.set("ship it");
    await conversation.goal.setSubgoals(["has tests"]);
    const step = await send(conversation, "go");
    expect(step.notice).toContain("turn 1 of 20): no tests");
    expect(step.send).toMatch(/^\[Continuing toward your standing goal\]\nGoal: ship it\nCriteria:\n1\. has tests/);
    expect(side.prompts[0]).toContain("has tests");
    expect(await send(conversation, step.send ?? "")).toEqual({ notice: "Goal reached: tests pass" });
    expect(await conversation.goal.get()).toMatchObject({ status: "done" });
  });

  it("is stored as Hermes Agent stores it, survives a restart and moves with a compaction", async () => {
    const conversation = await openConversation(bench.parts({ side: judge('{"done":false}') }));
    await collect(conversation.send("hello ".repeat(200)));
    await conversation.goal.set("ship it");
    const before = conversation.sessionId;
    const stored = JSON.parse((await bench.store.getMeta(`goal:${before}`)) ?? "{}");
    expect(stored).toMatchObject({ goal: "ship it", status: "active", turns_used: 0, max_turns: 20, subgoals: [] });
    const again = await openConversation(bench.parts({ engine: plainEngine({ keep: 1 }) }), { resume: before });
    expect(await again.goal.get()).toMatchObject({ text: "ship it" });
    await again.compact();
    expect(again.sessionId).not.toBe(before);
    expect(await again.goal.get()).toMatchObject({ text: "ship it", status: "active" });
    expect(await again.goal.clear()).toBe(true);
    expect(await again.goal.get()).toBeNull();
  });

  it("pauses when a turn is stopped or fails, when the turns are used up, and after three unreadable verdicts", async () => {
    const provider = scripted([fails({ kind: "billing", message: "no credit" })]);
    const failing = await openConversation(bench.parts({ provider }));
    await failing.goal.set("ship it");
    expect((await send(failing, "go")).notice).toContain("the turn failed");
    expect(await failing.goal.get()).toMatchObject({ status: "paused" });
    expect(await failing.goal.afterTurn({ end: "interrupted", text: "" }, never)).toEqual({});
    await failing.goal.resume();
    expect((await failing.goal.afterTurn({ end: "interrupted", text: "" }, never)).notice).toContain("stopped");

    const settings = { ...bench.parts().settings, goals: { maxTurns: 2, verdictTokens: 100 } };
    const limited = await openConversation(bench.parts({ side: judge('{"done":false}'), settings }));
    await limited.goal.set("count to infinity");
    expect((await send(limited, "1")).send).toBeDefined();
    expect((await send(limited, "2")).notice).toContain("2 turns were used");

    const vague = await openConversation(bench.parts({ side: judge("maybe") }));
    await vague.goal.set("ship it");
    expect((await send(vague, "1")).send).toBeDefined();
    expect((await send(vague, "2")).send).toBeDefined();
    expect((await send(vague, "3")).notice).toContain("cannot be read");
  });

  it("reads verdicts in whatever wrapping models use", () => {
    expect(parseVerdict('```json\n{"done": true, "reason": "yes"}\n```')).toEqual({ kind: "done", reason: "yes" });
    expect(parseVerdict('{"done": false}')).toEqual({ kind: "continue", reason: "" });
    for (const bad of ["", "done", '{"done": "yes"}', "{]"]) expect(parseVerdict(bad)).toEqual({ kind: "unreadable" });
  });
});
