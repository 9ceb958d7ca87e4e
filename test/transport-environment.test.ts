import { afterEach, describe, expect, test } from "vitest";
import { anthropicMessages } from "../src/providers/transports/anthropic-messages.ts";
import { chatCompletions } from "../src/providers/transports/chat-completions.ts";
import { codexResponses } from "../src/providers/transports/codex-responses.ts";
import { gather, transportCall } from "./kit/transport-call.ts";
import { startFakeLlm } from "./servers/fake-llm.ts";

const SECRET = "sk-from-the-environment";
const NAMES = [
  ..."OPENAI_API_KEY OPENAI_ADMIN_KEY OPENAI_ORG_ID OPENAI_PROJECT_ID OPENAI_CUSTOM_HEADERS".split(" "),
  ..."ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_CUSTOM_HEADERS".split(" "),
];

afterEach(() => {
  for (const name of NAMES) delete process.env[name];
});

describe.each([
  { name: "chat completions", make: chatCompletions, path: "/v1" },
  { name: "anthropic messages", make: anthropicMessages, path: "" },
  { name: "responses", make: codexResponses, path: "/v1" },
])("$name", ({ make, path }) => {
  test("sends the given key and headers, and nothing from the environment", async () => {
    for (const name of NAMES) process.env[name] = name.endsWith("HEADERS") ? `x-leak: ${SECRET}` : SECRET;
    const llm = await startFakeLlm();
    try {
      const endpoint = { baseUrl: `${llm.url}${path}`, apiKey: "own-key", headers: { "x-title": "hermes" } };
      await gather(make(), transportCall({ endpoint }));
      await gather(make(), transportCall({ endpoint: { ...endpoint, apiKey: null } }));
      expect(llm.requests.map((request) => request.apiKey)).toEqual(["own-key", null]);
      expect(llm.requests[0]?.headers["x-title"]).toBe("hermes");
      expect(JSON.stringify(llm.requests.map((request) => request.headers))).not.toMatch(/environment|stainless/);
    } finally {
      await llm.close();
    }
  });
});
