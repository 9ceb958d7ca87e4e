// The three dialects against a model server of another project (aimock), streamed and not.
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gather, transportCall } from "../../../test/kit/transport-call.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { chatCompletions } from "./chat-completions.ts";
import { codexResponses } from "./codex-responses.ts";

const TOOL = {
  name: "read_file",
  description: "Reads a file",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

const mock = new LLMock({ port: 0 });
mock.onMessage("hello", { content: "Grüße 👋 from another server." });
mock.onMessage("call", { toolCalls: [{ name: "read_file", arguments: '{"path":"ä b.txt"}' }] });
mock.onMessage("filtered", { content: "Up to here", finishReason: "content_filter" });

beforeAll(async () => {
  await mock.start();
});
afterAll(async () => {
  await mock.stop();
});

describe.each([
  { name: "chat completions", make: chatCompletions, path: "/v1", model: "some-model" },
  { name: "anthropic messages", make: anthropicMessages, path: "", model: "claude-sonnet-4-5" },
  { name: "responses", make: codexResponses, path: "/v1", model: "gpt-5.1" },
])("$name", ({ name, make, path, model }) => {
  const send = (content: string, noStream: boolean) => {
    const request = { messages: [{ role: "user" as const, content }], tools: [TOOL] };
    return gather(make(), transportCall({ baseUrl: `${mock.url}${path}`, model, quirks: { noStream }, request }));
  };

  test.each([false, true])("text and a tool call (not streamed: %s)", async (noStream) => {
    const said = await send("hello", noStream);
    expect([said.done.message.content, said.done.finishReason]).toEqual(["Grüße 👋 from another server.", "stop"]);
    const called = await send("call", noStream);
    expect(called.done.finishReason).toBe("tool_calls");
    const [call] = called.done.message.tool_calls ?? [];
    expect([call?.function.name, JSON.parse(call?.function.arguments ?? "")]).toEqual([
      "read_file",
      { path: "ä b.txt" },
    ]);
  });

  // Over Responses this server reports a failed response without a reason.
  test.skipIf(name === "responses")("a content filter is reported as such", async () => {
    expect((await send("filtered", false)).done.finishReason).toBe("content_filter");
  });
});
