import { describe, expect, test } from "vitest";
import { type CallOverrides, transportCall } from "../../../test/kit/transport-call.ts";
import type { JsonObject, Message } from "../../core/message.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { chatCompletions } from "./chat-completions.ts";
import { codexResponses } from "./codex-responses.ts";

type Rows = { [key: string]: unknown }[];
const chat = (overrides: CallOverrides = {}) =>
  chatCompletions().encode(transportCall(overrides)) as { [key: string]: unknown };
const anthropic = (overrides: CallOverrides = {}) =>
  anthropicMessages().encode(transportCall({ model: "claude-sonnet-4-5", ...overrides })) as { [key: string]: unknown };
const responses = (overrides: CallOverrides = {}) =>
  codexResponses().encode(transportCall({ model: "gpt-5.1", ...overrides })) as { [key: string]: unknown };

const PNG = "data:image/png;base64,iVBORw0KGgo=";
const called = (extra: object = {}): Message[] => [
  { role: "user", content: "go" },
  {
    role: "assistant",
    content: "Reading.",
    tool_calls: [
      { id: "c1", type: "function", function: { name: "read_file", arguments: '{ "b": 1, "a": {"d":1,"c":2} }' } },
    ],
    ...extra,
  },
  { role: "tool", content: "text", tool_call_id: "c1", tool_name: "read_file" },
];
const findAssistant = (body: { [key: string]: unknown }) =>
  (body.messages as Rows).find((row) => row.role === "assistant") ?? {};

describe("chat-completions body", () => {
  test("plain host: system, messages, stream with usage, nothing else", () => {
    expect(chat()).toEqual({
      model: "fake-model",
      messages: [
        { role: "system", content: "You are a test." },
        { role: "user", content: "Hello" },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test("tool arguments are compact JSON with sorted keys; big integers keep their digits", () => {
    const row = findAssistant(chat({ request: { messages: called() } }));
    expect(row).toMatchObject({ tool_calls: [{ function: { arguments: '{"a":{"c":2,"d":1},"b":1}' } }] });
    const big = called();
    const call = {
      id: "c1",
      type: "function" as const,
      function: { name: "read_file", arguments: '{"n":12345678901234567890}' },
    };
    big[1] = { role: "assistant", content: null, tool_calls: [call] };
    expect(JSON.stringify(chat({ request: { messages: big } }))).toContain("12345678901234567890");
  });

  test("reasoning is sent back only where the host wants it", () => {
    const stored = {
      reasoning: "shown",
      reasoning_content: "own",
      reasoning_details: [
        { type: "reasoning.text", text: "d" },
        { type: "thinking", thinking: "t", signature: "s" },
      ],
    };
    const of = (replay: "none" | "details" | "content" | "echo", extra: object = stored) =>
      findAssistant(chat({ quirks: { replay }, request: { messages: called(extra) } }));
    expect(Object.keys(of("none"))).toEqual(["role", "content", "tool_calls"]);
    expect(of("details").reasoning_details).toEqual([{ type: "reasoning.text", text: "d" }]);
    expect(of("details").reasoning_content).toBeUndefined();
    expect(of("content").reasoning_content).toBe("own");
    expect(of("content", { reasoning: "shown" }).reasoning_content).toBe("shown");
    expect(of("echo").reasoning_content).toBe("own");
    expect(of("echo", { reasoning: "from elsewhere" }).reasoning_content).toBe(" ");
    expect(of("echo", { reasoning_content: "" }).reasoning_content).toBe(" ");
    const stripped = chat({
      quirks: { replay: "details" },
      amend: { stripReasoning: true },
      request: { messages: called(stored) },
    });
    expect(findAssistant(stripped).reasoning_details).toBeUndefined();
  });

  test("reasoning models: developer role, other limit field, no temperature", () => {
    const body = chat({ model: "gpt-5.1", request: { temperature: 0.2, maxOutputTokens: 100 } });
    expect((body.messages as Rows)[0]?.role).toBe("developer");
    expect(body.max_completion_tokens).toBe(100);
    expect(body.temperature).toBeUndefined();
    expect((chat({ model: "gpt-5.1", quirks: { developerRole: false } }).messages as Rows)[0]?.role).toBe("system");
  });

  test.each([
    ["effort", "high", { reasoning_effort: "high" }],
    ["effort", "xhigh", { reasoning_effort: "high" }],
    ["openrouter", "low", { reasoning: { enabled: true, effort: "low" } }],
    ["openrouter", "none", { reasoning: { enabled: false } }],
    ["kimi", "medium", { thinking: { type: "enabled" }, reasoning_effort: "medium" }],
    ["kimi", "none", { thinking: { type: "disabled" } }],
    ["deepseek", "xhigh", { thinking: { type: "enabled" }, reasoning_effort: "max" }],
    ["thinking", "high", { thinking: { type: "enabled" } }],
    ["qwen", "none", { enable_thinking: false }],
    ["ollama", "none", { think: false }],
    ["gemini", "none", { extra_body: { google: { thinking_config: { thinking_budget: 0 } } } }],
  ] as const)("effort in the style %s at %s", (reasoning, reasoningEffort, fields) => {
    expect(chat({ quirks: { reasoning }, request: { reasoningEffort } })).toMatchObject(fields);
  });

  test("quirks of single hosts", () => {
    const body = chat({
      quirks: {
        omitTemperature: true,
        defaultMaxTokens: 32_000,
        numCtx: 16_384,
        sessionMetadata: true,
        promptCacheKey: true,
        contentAsParts: true,
        noStreamUsage: true,
        extraBody: { a: 1, b: 1 },
      },
      request: { temperature: 0.5, extraBody: { b: 2 } },
    });
    expect(body).toMatchObject({
      max_tokens: 32_000,
      options: { num_ctx: 16_384 },
      prompt_cache_key: "conv-1",
      a: 1,
      b: 2,
    });
    expect(body.metadata).toEqual({ sessionId: "conv-1", promptId: "conv-1-1" });
    expect(body.temperature).toBeUndefined();
    expect(body.stream_options).toBeUndefined();
    expect((body.messages as Rows)[1]?.content).toEqual([{ type: "text", text: "Hello" }]);
    expect(
      chat({ quirks: { effortModels: ["mini"], reasoning: "effort" }, request: { reasoningEffort: "high" } })
        .reasoning_effort,
    ).toBeUndefined();
  });

  test("images of tool results move to a user message", () => {
    const messages = called();
    messages[2] = {
      role: "tool",
      tool_call_id: "c1",
      tool_name: "read_file",
      content: [{ type: "image_url", image_url: { url: PNG } }],
    };
    const rows = chat({ request: { messages } }).messages as Rows;
    expect(rows.slice(-2)).toEqual([
      { role: "tool", tool_call_id: "c1", content: "[the image follows in the next message]" },
      { role: "user", content: [{ type: "image_url", image_url: { url: PNG } }] },
    ]);
    const merged = chat({ request: { messages: [...messages, { role: "user", content: "and?" }] } }).messages as Rows;
    expect(merged.at(-1)?.content).toEqual([
      { type: "image_url", image_url: { url: PNG } },
      { type: "text", text: "and?" },
    ]);
    expect(merged.length).toBe(rows.length);
  });

  test("thought signatures are sent back only to hosts that know them", () => {
    const messages = called();
    const call = {
      id: "c1",
      type: "function" as const,
      function: { name: "read_file", arguments: "{}" },
      extra_content: { google: { thought_signature: "x" } },
    };
    messages[1] = { role: "assistant", content: null, tool_calls: [call] };
    expect(JSON.stringify(chat({ request: { messages } }))).not.toContain("thought_signature");
    expect(JSON.stringify(chat({ request: { messages }, quirks: { extraContent: true } }))).toContain(
      "thought_signature",
    );
  });

  test("schemas are sent without pattern and format where needed; properties of that name stay", () => {
    const parameters: JsonObject = {
      type: "object",
      properties: { pattern: { type: "string", pattern: "^a", format: "uri" } },
    };
    const tools = [{ name: "search_files", description: "s", parameters }];
    const body = chat({ request: { tools }, amend: { plainSchemas: true } });
    expect(body.tools).toMatchObject([
      { function: { parameters: { type: "object", properties: { pattern: { type: "string" } } } } },
    ]);
    expect(JSON.stringify(body)).not.toContain("uri");
  });

  test("marks for Claude behind a gateway: system and the last three, not on tool messages", () => {
    const messages: Message[] = [
      ...called(),
      { role: "assistant", content: "done" },
      { role: "user", content: "next" },
    ];
    const body = chat({
      model: "anthropic/claude-sonnet-4.5",
      quirks: { cacheMarks: { layout: "envelope", models: ["claude"] } },
      request: { messages },
    });
    const marked = (body.messages as Rows).map((row) => JSON.stringify(row).includes("cache_control"));
    expect(marked).toEqual([true, false, false, false, true, true]);
    expect(
      JSON.stringify(chat({ model: "gpt-4.1", quirks: { cacheMarks: { layout: "envelope", models: ["claude"] } } })),
    ).not.toContain("cache_control");
  });
});

describe("anthropic body", () => {
  test("system is a marked block; tool results and the next user message share a turn", () => {
    const messages = called();
    messages.push({ role: "user", content: "and now?" });
    const body = anthropic({ request: { messages } });
    expect(body.system).toEqual([{ type: "text", text: "You are a test.", cache_control: { type: "ephemeral" } }]);
    const turns = body.messages as { role: string; content: Rows }[];
    expect(turns.map((turn) => turn.role)).toEqual(["user", "assistant", "user"]);
    expect(turns[2]?.content.map((block) => block.type)).toEqual(["tool_result", "text"]);
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(4);
  });

  test("one-hour marks; none for models that do not cache", () => {
    expect(JSON.stringify(anthropic({ cacheTtl: "1h" }))).toContain('{"type":"ephemeral","ttl":"1h"}');
    expect(JSON.stringify(anthropic({ model: "kimi-k2" }))).not.toContain("cache_control");
    expect(
      JSON.stringify(anthropic({ model: "MiniMax-M2", quirks: { cacheMarks: { layout: "native", models: ["*"] } } })),
    ).toContain("cache_control");
  });

  test.each([
    [
      "claude-opus-4-7",
      "xhigh",
      { thinking: { type: "adaptive" }, output_config: { effort: "xhigh" }, max_tokens: 128_000 },
    ],
    ["claude-opus-4-6", "xhigh", { thinking: { type: "adaptive" }, output_config: { effort: "max" } }],
    ["claude-sonnet-4-6", "minimal", { output_config: { effort: "low" }, max_tokens: 64_000 }],
    [
      "claude-sonnet-4-5-20250929",
      "medium",
      { thinking: { type: "enabled", budget_tokens: 8000 }, temperature: 1, max_tokens: 64_000 },
    ],
    ["claude-opus-4-20250514", "high", { thinking: { budget_tokens: 16_000 }, max_tokens: 32_000 }],
    ["anthropic/claude-3.5-sonnet", "high", { max_tokens: 8192 }],
    ["claude-3-haiku-20240307", "high", { max_tokens: 4096 }],
    ["anthropic.claude-sonnet-4-5-20250929-v1:0", "low", { thinking: { budget_tokens: 4000 }, max_tokens: 64_000 }],
    ["claude-sonnet-4@20250514", "low", { thinking: { budget_tokens: 4000 } }],
    ["some-other-model", "high", { max_tokens: 128_000 }],
  ] as const)("%s at %s", (model, reasoningEffort, fields) => {
    expect(anthropic({ model, request: { reasoningEffort } })).toMatchObject(fields);
  });

  test("no thinking for small models, nor within a tool turn that began without it", () => {
    expect(anthropic({ model: "claude-haiku-4-5", request: { reasoningEffort: "high" } }).thinking).toBeUndefined();
    expect(anthropic({ request: { reasoningEffort: "high", messages: called() } }).thinking).toBeUndefined();
  });

  test("sampling parameters are dropped where they are refused", () => {
    expect(anthropic({ model: "claude-opus-4-7", request: { temperature: 0.3 } }).temperature).toBeUndefined();
    expect(anthropic({ request: { temperature: 1.5 } }).temperature).toBe(1);
  });

  test("thinking blocks: signed ones to Anthropic, none to others, all where unsigned ones are allowed", () => {
    const details = {
      reasoning_details: [
        { type: "thinking", thinking: "a", signature: "s" },
        { type: "thinking", thinking: "b" },
      ],
    };
    const kinds = (overrides: CallOverrides) => {
      const turns = anthropic({ request: { messages: called(details) }, ...overrides }).messages as { content: Rows }[];
      return turns[1]?.content.filter((block) => block.type === "thinking").map((block) => block.thinking);
    };
    const endpoint = { baseUrl: "https://api.anthropic.com", apiKey: null, headers: {} };
    expect(kinds({ endpoint })).toEqual(["a"]);
    expect(kinds({})).toEqual([]);
    expect(kinds({ quirks: { thinkingBlocks: "unsigned" } })).toEqual(["a", "b"]);
    expect(kinds({ endpoint, amend: { stripReasoning: true } })).toEqual([]);
  });

  test("ids are adapted and stay paired, even if a server reused one", () => {
    const reused = (): Message[] =>
      called().map((message) => {
        if (message.role === "tool") return { ...message, tool_call_id: "c:1" };
        if (message.role !== "assistant") return message;
        return { ...message, tool_calls: (message.tool_calls ?? []).map((call) => ({ ...call, id: "c:1" })) };
      });
    const messages: Message[] = [...reused(), { role: "assistant", content: "ok" }, ...reused()];
    const text = JSON.stringify(anthropic({ request: { messages } }));
    const used = [...text.matchAll(/"type":"tool_use","id":"([^"]+)"/g)].map((match) => match[1]);
    const answered = [...text.matchAll(/"tool_use_id":"([^"]+)"/g)].map((match) => match[1]);
    expect(used).toEqual(answered);
    expect(new Set(used).size).toBe(2);
    expect(used.every((id) => /^[A-Za-z0-9_-]+$/.test(id ?? ""))).toBe(true);
  });

  test("only the three newest images of tool results are sent; large ones are removed", () => {
    const step = (id: string): Message[] => [
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id, type: "function", function: { name: "shot", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: id, tool_name: "shot", content: [{ type: "image_url", image_url: { url: PNG } }] },
    ];
    const messages: Message[] = [{ role: "user", content: "look" }, ...["a", "b", "c", "d", "e"].flatMap(step)];
    const text = JSON.stringify(anthropic({ request: { messages } }));
    expect(text.match(/"type":"image"/g)).toHaveLength(3);
    expect(text.match(/earlier image removed/g)).toHaveLength(2);
    const large = `data:image/png;base64,${"A".repeat(8 * 1024 * 1024)}`;
    const big: Message[] = [{ role: "user", content: [{ type: "image_url", image_url: { url: large } }] }];
    expect(JSON.stringify(anthropic({ request: { messages: big } })).length).toBeLessThan(1000);
  });
});

test("a host that accepts only nine letters and digits as call ids gets them, the same ones in call and result", () => {
  const messages = called({});
  const rows = chat({ request: { messages }, quirks: { callIds: "nine" } }).messages as Rows;
  const made = (rows.find((row) => row.tool_calls) as { tool_calls: Rows }).tool_calls[0]?.id;
  expect(made).toMatch(/^[a-zA-Z0-9]{9}$/);
  expect(rows.find((row) => row.role === "tool")?.tool_call_id).toBe(made);
});

describe("responses body", () => {
  test("store is off, the cache key is the conversation, encrypted reasoning is requested", () => {
    expect(responses({ request: { reasoningEffort: "high", temperature: 0.5, maxOutputTokens: 5 } })).toEqual({
      model: "gpt-5.1",
      store: false,
      prompt_cache_key: "conv-1",
      instructions: "You are a test.",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hello" }] }],
      max_output_tokens: 16,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "high", summary: "auto" },
      stream: true,
    });
  });

  test("reasoning items and messages are sent back with their ids, as the interface requires", () => {
    const messages = called({
      codex_reasoning_items: [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "enc" }],
      codex_message_items: [
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          phase: "commentary",
          content: [{ type: "output_text", text: "Reading." }],
        },
      ],
    });
    const input = responses({ request: { messages } }).input as Rows;
    expect(input.slice(1)).toEqual([
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "enc" },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "Reading.", annotations: [] }],
        status: "completed",
        id: "msg_1",
        phase: "commentary",
      },
      { type: "function_call", call_id: "c1", name: "read_file", arguments: '{"a":{"c":2,"d":1},"b":1}' },
      { type: "function_call_output", call_id: "c1", output: "text" },
    ]);
    const plain = responses({ request: { messages }, quirks: { encryptedReasoning: false } });
    expect(JSON.stringify(plain)).not.toMatch(/"type":"reasoning"|include/);
  });

  test("text of another provider is sent in the form that needs no id; reasoning without an id is left out", () => {
    const messages: Message[] = [
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Hi.", codex_reasoning_items: [{ type: "reasoning", encrypted_content: "enc" }] },
      { role: "user", content: "Again" },
    ];
    expect((responses({ request: { messages } }).input as Rows)[1]).toEqual({ role: "assistant", content: "Hi." });
  });

  test.each([
    ["gpt-5", "none", "minimal"],
    ["gpt-5.1", "none", "none"],
    ["gpt-5.4-mini", "minimal", "low"],
    ["openai/gpt-5.4", "xhigh", "xhigh"],
    ["gpt-6.1-sol", "none", "low"],
    ["gpt-6.1-sol", "xhigh", "xhigh"],
  ] as const)("%s gets for the effort %s the nearest that it accepts: %s", (model, reasoningEffort, effort) => {
    expect(responses({ model, request: { reasoningEffort } }).reasoning).toMatchObject({ effort });
  });

  test("effort is sent only to models that accept it", () => {
    const quirks = { encryptedReasoning: false, effortModels: ["grok-3-mini"] };
    expect(responses({ model: "grok-4", quirks, request: { reasoningEffort: "high" } }).reasoning).toBeUndefined();
    expect(responses({ model: "grok-3-mini", quirks, request: { reasoningEffort: "high" } }).reasoning).toEqual({
      effort: "high",
    });
  });
});
