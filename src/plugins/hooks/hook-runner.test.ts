import { expect, it } from "vitest";
import type { HookCallback } from "../../core/plugin.ts";
import { HookRunner, type HookSource } from "./hook-runner.ts";

function source(owner: string, name: HookSource["names"][number], ...callbacks: HookCallback[]): HookSource {
  const listeners = callbacks.map((callback) => ({ callback }));
  return { owner, names: [name], listeners: async () => listeners };
}

function setUp(...sources: HookSource[]) {
  const notices: string[] = [];
  const runner = new HookRunner({ notice: (text) => notices.push(text), timeoutMs: 50 });
  for (const one of sources) runner.add(one);
  return { runner, notices };
}

it("listens only to hooks with a callback", () => {
  const { runner } = setUp(source("a", "pre_tool_call", () => null));
  expect(runner.listens("pre_tool_call")).toBe(true);
  expect(runner.listens("post_tool_call")).toBe(false);
});

it("returns answers in order and drops empty ones", async () => {
  const { runner } = setUp(
    source(
      "a",
      "pre_llm_call",
      () => "one",
      () => null,
      () => undefined,
    ),
    source("b", "pre_llm_call", async () => ({ context: "two" })),
  );
  expect(await runner.run("pre_llm_call", {})).toEqual(["one", { context: "two" }]);
});

it("uses only non-empty texts of transform hooks", async () => {
  const { runner } = setUp(
    source(
      "a",
      "transform_tool_result",
      () => "",
      () => ({ no: "text" }),
      () => "changed",
    ),
  );
  expect(await runner.run("transform_tool_result", {})).toEqual(["changed"]);
});

it("reports a failing callback once, skips it, and disables it after three failures", async () => {
  let tried = 0;
  const broken = () => {
    tried += 1;
    throw new Error("broken");
  };
  const { runner, notices } = setUp(source("plugin x", "pre_llm_call", broken, () => "fine"));
  for (let turn = 0; turn < 5; turn++) expect(await runner.run("pre_llm_call", {})).toEqual(["fine"]);
  expect(tried).toBe(3);
  expect(notices).toHaveLength(2);
  expect(notices[0]).toBe("plugin x, hook pre_llm_call: broken; skipped");
  expect(notices[1]).toContain("disabled until the program restarts");
});

it("counts failures in a row: a success resets the count", async () => {
  let turn = 0;
  const flaky = () => {
    turn += 1;
    if (turn % 2 === 0) return "up";
    throw new Error("down");
  };
  const { runner, notices } = setUp(source("x", "pre_llm_call", flaky));
  for (let round = 0; round < 8; round++) await runner.run("pre_llm_call", {});
  expect(turn).toBe(8);
  expect(notices).toHaveLength(1);
});

it("continues after a callback that never answers", async () => {
  const { runner, notices } = setUp(
    source(
      "x",
      "pre_llm_call",
      () => new Promise(() => undefined),
      () => "next",
    ),
  );
  expect(await runner.run("pre_llm_call", {})).toEqual(["next"]);
  expect(notices[0]).toContain("did not answer within 0.05 s");
});

it("passes every callback a deep copy of the arguments", async () => {
  const spoil: HookCallback = (args) => {
    (args as { text?: string }).text = "spoiled";
    (args.history as { content: string }[]).push({ content: "forged" });
    return null;
  };
  const { runner } = setUp(source("x", "pre_llm_call", spoil, (args) => JSON.stringify(args)));
  const args = { text: "clean", history: [{ content: "said" }] };
  expect(await runner.run("pre_llm_call", args)).toEqual([JSON.stringify(args)]);
  expect(args.history).toHaveLength(1);
});
