import { expect, test } from "vitest";
import { buildSystemPrompt } from "./prompt.ts";
import { toolUseReminder } from "./tool-use.ts";

test.each<[Parameters<typeof toolUseReminder>[0], string, boolean]>([
  ["auto", "openai/gpt-5", true],
  ["auto", "google/Gemini-3-pro", true],
  ["auto", "z-ai/GLM-4.6", true],
  ["auto", "anthropic/claude-sonnet-4.5", false],
  [true, "claude-sonnet-4.5", true],
  ["on", "claude-sonnet-4.5", true],
  [false, "gpt-5", false],
  ["off", "gpt-5", false],
  [["Claude", "qwen"], "claude-sonnet-4.5", true],
  [["claude", "qwen"], "gpt-5", false],
  [[""], "gpt-5", false],
  [[], "gpt-5", false],
])("tool_use_enforcement %j with %s: %s", (setting, model, reminded) => {
  expect(toolUseReminder(setting, model) !== "").toBe(reminded);
});

test("the reminder is in the prompt only when there are tools", async () => {
  const build = (toolNames: readonly string[]) =>
    buildSystemPrompt({
      home: "/nowhere",
      toolNames,
      toolUse: toolUseReminder(true, "any"),
      environment: { os: "Linux", cwd: "/nowhere" },
      now: new Date(0),
      contextFiles: false,
    });
  expect((await build(["terminal"])).text).toContain("call it in the same reply");
  expect((await build([])).text).not.toContain("call it in the same reply");
});
