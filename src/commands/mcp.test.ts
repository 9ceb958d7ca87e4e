import { expect, test } from "vitest";
import type { McpPrompt } from "../core/mcp.ts";
import { mcpPromptCommands, promptArguments } from "./mcp.ts";

const prompt: McpPrompt = {
  server: "My Docs",
  name: "explain",
  description: "",
  arguments: [
    { name: "topic", required: true },
    { name: "style", required: false },
  ],
};

test("arguments of a prompt are named or in order", () => {
  expect(promptArguments(prompt, "tides in plain words")).toEqual({ topic: "tides", style: "in plain words" });
  expect(promptArguments(prompt, "style=short the moon")).toEqual({ topic: "the moon", style: "short" });
  expect(promptArguments(prompt, "a=b")).toEqual({ topic: "a=b" });
  expect(promptArguments(prompt, "")).toBe("It needs topic=…");
});

test("a prompt is a command whose text is untrusted", async () => {
  const servers = { prompts: () => [prompt], prompt: async (...given: unknown[]) => JSON.stringify(given) };
  const [command] = mcpPromptCommands(servers);
  expect(command).toMatchObject({ name: "mcp_my_docs_explain", args: "topic [style]" });
  expect(await command?.run("tides", undefined as never)).toEqual({
    type: "send",
    text: '["My Docs","explain",{"topic":"tides"}]',
    when: "now",
    prepared: { untrusted: true },
  });
});
