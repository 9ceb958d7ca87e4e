import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gather, transportCall } from "../../../test/kit/transport-call.ts";
import {
  calls,
  cut,
  drip,
  type FakeLlm,
  hang,
  malformed,
  overflow,
  reasoning,
  slowFirstToken,
  startFakeLlm,
  status,
  text,
  usage,
} from "../../../test/servers/fake-llm.ts";
import type { Message } from "../../core/message.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { chatCompletions } from "./chat-completions.ts";
import { codexResponses } from "./codex-responses.ts";
import { TransportError, type TransportEvent } from "./transport.ts";

const TOOL = { name: "read_file", description: "Reads a file.", parameters: { type: "object", properties: {} } };
const HISTORY: readonly Message[] = [
  { role: "user", content: "Read a and b" },
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "call.1", type: "function", function: { name: "read_file", arguments: '{"path": "a", "line":1}' } },
      { id: "call.2", type: "function", function: { name: "read_file", arguments: '{"path":"b"}' } },
    ],
  },
  { role: "tool", content: "A", tool_call_id: "call.1", tool_name: "read_file" },
  { role: "tool", content: "", tool_call_id: "call.2", tool_name: "read_file" },
  { role: "assistant", content: "Both read.", finish_reason: "stop", reasoning: "easy" },
  { role: "user", content: "Again \ud800 please" },
];

describe.each([
  { name: "chat completions", make: chatCompletions, path: "/v1", model: "fake-model" },
  { name: "anthropic messages", make: anthropicMessages, path: "", model: "claude-sonnet-4-5" },
  { name: "responses", make: codexResponses, path: "/v1", model: "gpt-5.1" },
])("$name over HTTP", ({ make, path, model }) => {
  let llm: FakeLlm;
  beforeEach(async () => {
    llm = await startFakeLlm();
  });
  afterEach(async () => {
    await llm.close();
  });
  const call = (overrides: Parameters<typeof transportCall>[0] = {}) =>
    transportCall({ baseUrl: `${llm.url}${path}`, model, ...overrides });
  const failure = async (overrides: Parameters<typeof transportCall>[0] = {}) => {
    const error = await gather(make(), call(overrides)).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TransportError);
    return error as TransportError;
  };

  test("streams text in pieces and reports usage", async () => {
    llm.enqueue(usage({ input: 10, output: 3, cacheRead: 90 }, text("Hello there, friend.")));
    const result = await gather(make(), call());
    expect(result.text).toBe("Hello there, friend.");
    expect(result.events.filter((event) => event.type === "text").length).toBeGreaterThan(1);
    expect(result.done).toMatchObject({
      finishReason: "stop",
      usageEstimated: false,
      usage: { input: 10, output: 3, cacheRead: 90 },
      message: { role: "assistant", content: "Hello there, friend.", finish_reason: "stop" },
    });
    expect(llm.requests[0]?.problems).toEqual([]);
  });

  test("assembles parallel tool calls", async () => {
    llm.enqueue(
      calls([
        { name: "read_file", args: { path: "a" } },
        { name: "read_file", args: { path: "b" } },
      ]),
    );
    const result = await gather(make(), call({ request: { tools: [TOOL] } }));
    expect(result.started).toEqual(["read_file", "read_file"]);
    expect(result.done.finishReason).toBe("tool_calls");
    expect(result.done.message.content).toBeNull();
    expect(result.done.message.tool_calls?.map((item) => JSON.parse(item.function.arguments))).toEqual([
      { path: "a" },
      { path: "b" },
    ]);
  });

  test("separates reasoning from text", async () => {
    llm.enqueue(reasoning("Let me see.", { text: "Seen." }));
    const result = await gather(make(), call());
    expect([result.reasoning, result.text]).toEqual(["Let me see.", "Seen."]);
    expect(result.done.message.reasoning).toBe("Let me see.");
  });

  test("sends a history that strict services accept", async () => {
    await gather(make(), call({ request: { messages: HISTORY, tools: [TOOL], maxOutputTokens: 4000 } }));
    expect(llm.requests[0]?.problems).toEqual([]);
    const view = llm.requests[0]?.messages ?? [];
    expect(view.filter((message) => message.role === "tool").map((message) => message.text)).toEqual([
      "A",
      "(no output)",
    ]);
    const called = view.flatMap((message) => message.calls);
    expect(called.map((item) => item.args)).toEqual([{ line: 1, path: "a" }, { path: "b" }]);
    expect(view.filter((message) => message.role === "tool").map((message) => message.callId)).toEqual(
      called.map((item) => item.id),
    );
    expect(llm.requests[0]?.raw.toString()).not.toContain("easy");
  });

  test("a second request that contains the first answer", async () => {
    llm.enqueue(calls([{ name: "read_file", args: { path: "a" } }], { reasoning: "I must read.", text: "Reading." }));
    llm.enqueue(text("It says hi."));
    const messages: Message[] = [{ role: "user", content: "Read a" }];
    const first = await gather(make(), call({ request: { messages, tools: [TOOL] } }));
    messages.push(first.done.message);
    const id = first.done.message.tool_calls?.[0]?.id ?? "";
    messages.push({ role: "tool", content: "hi", tool_call_id: id, tool_name: "read_file" });
    const second = await gather(
      make(),
      call({ request: { messages, tools: [TOOL] }, quirks: { thinkingBlocks: "signed", replay: "echo" } }),
    );
    expect(second.text).toBe("It says hi.");
    expect(llm.requests.map((request) => request.problems)).toEqual([[], []]);
    const sent = JSON.stringify(llm.requests[1]?.body);
    expect(sent).toMatch(/I must read\.|enc-0/);
  });

  test("reports an error status with its body and headers", async () => {
    llm.enqueue(status(429, { retryAfter: 7, message: "slow down, test-key" }));
    const error = await failure();
    expect(error).toMatchObject({ kind: "http", status: 429, headers: { "retry-after": "7" } });
    expect(error.message).toBe("slow down, [key]");
    llm.enqueue(overflow(4096));
    expect((await failure()).message).toContain("maximum context length is 4096");
  });

  test("reports a cut stream with what had arrived", async () => {
    llm.enqueue(cut({ afterText: "The first half" }));
    const error = await failure();
    expect(error.kind).toBe("cut");
    expect(error.partial).toMatchObject({ role: "assistant", content: "The first half" });
    expect(error.inToolCall).toBe(false);
    llm.enqueue(cut({ afterText: "I will", calls: [{ name: "read_file", args: { path: "x" } }] }));
    const inTool = await failure();
    expect([inTool.inToolCall, inTool.partial?.tool_calls]).toEqual([true, undefined]);
  });

  test("reports an error inside the stream, and frames that are not JSON", async () => {
    llm.enqueue({ text: "So", streamError: { type: "overloaded_error", message: "Overloaded" } });
    expect(await failure()).toMatchObject({ kind: "stream_error", code: "overloaded_error", message: "Overloaded" });
    if (path !== "") {
      llm.enqueue(malformed());
      expect((await failure()).kind).toBe("malformed");
    }
  });

  test("time limits: first token, idle, total", async () => {
    const timeouts = { firstTokenMs: 15_000, idleMs: 15_000, totalMs: 15_000 };
    llm.enqueue(hang());
    expect((await failure({ timeouts: { ...timeouts, firstTokenMs: 50 } })).kind).toBe("first_token_timeout");
    llm.enqueue(hang("after_text", "Half"));
    const idle = await failure({ timeouts: { ...timeouts, idleMs: 1_000 } });
    expect([idle.kind, idle.partial?.content]).toEqual(["idle_timeout", "Half"]);
    llm.enqueue(drip("a b c d e f g h", { everyMs: 60 }));
    expect((await failure({ timeouts: { ...timeouts, totalMs: 120 } })).kind).toBe("total_timeout");
  });

  test("an abort ends the stream and closes the socket", async () => {
    llm.enqueue(hang("after_text", "Half an answer"));
    const controller = new AbortController();
    let error: unknown;
    const seen: TransportEvent[] = [];
    const started = Date.now();
    try {
      for await (const event of make().stream(call({ signal: controller.signal }))) {
        seen.push(event);
        if (seen.length === 2) controller.abort();
      }
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject({ kind: "aborted" });
    expect((error as TransportError).partial?.content).toContain("Half");
    while (llm.requests[0]?.closedAt === null) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(llm.requests[0]?.aborted).toBe(true);
    expect(Date.now() - started).toBeLessThan(15_000);
  });

  test("leaving the loop closes the socket", async () => {
    llm.enqueue(drip("a b c d e f g h i j k l", { everyMs: 50 }));
    for await (const event of make().stream(call())) if (event.type === "text") break;
    while (llm.requests[0]?.closedAt === null) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(llm.requests[0]?.aborted).toBe(true);
  });

  test("an unreachable host is a network failure", async () => {
    const gone = await startFakeLlm();
    await gone.close();
    const error = await failure({ endpoint: { baseUrl: `${gone.url}/v1`, apiKey: null, headers: {} } });
    expect([error.kind, error.code]).toEqual(["network", "ECONNREFUSED"]);
  });

  test("does not send the key to the target of a redirect", async () => {
    const reply = { status: 302, body: {}, headers: { location: `${llm.url}/v1/models` } };
    const fetchRedirect = async () => new Response("moved", { status: 302, headers: reply.headers });
    const error = await failure({ fetch: fetchRedirect as typeof fetch });
    expect([error.kind, error.status]).toEqual(["http", 302]);
    expect(llm.visits).toEqual([]);
  });

  test("the same call gives the same bytes", async () => {
    const overrides = { request: { messages: HISTORY, tools: [TOOL] } };
    await gather(make(), call(overrides));
    await gather(make(), call(overrides));
    expect(llm.requests[0]?.raw.equals(llm.requests[1]?.raw as Buffer)).toBe(true);
    expect(JSON.parse(llm.requests[0]?.raw.toString() ?? "")).toEqual(
      JSON.parse(JSON.stringify(make().encode(call(overrides)))),
    );
  });

  test("accepts whole answers from hosts that do not stream", async () => {
    llm.enqueue(calls([{ name: "read_file", args: { path: "a" } }], { text: "Reading.", reasoning: "Hm." }));
    const result = await gather(make(), call({ quirks: { noStream: true }, request: { tools: [TOOL] } }));
    expect(llm.requests[0]?.stream).toBe(false);
    expect([result.text, result.reasoning, result.done.finishReason]).toEqual(["Reading.", "Hm.", "tool_calls"]);
    expect(result.done.message.tool_calls?.[0]?.function.arguments).toBe('{"path":"a"}');
  });

  test("a whole answer may take longer than a first token", async () => {
    llm.enqueue(slowFirstToken(200));
    const timeouts = { firstTokenMs: 50, idleMs: 50, totalMs: 10_000 };
    expect((await gather(make(), call({ quirks: { noStream: true }, timeouts }))).text).toBe("Slow but there.");
  });

  test("reports an answer that was stopped by the length limit", async () => {
    llm.enqueue(text("And then", { finish: "length" }));
    expect((await gather(make(), call())).done.finishReason).toBe("length");
    llm.enqueue(calls([{ name: "read_file", args: '{"path": "a' }]));
    if (path !== "") expect((await gather(make(), call())).done.finishReason).toBe("length");
  });
});

test("a host that refuses to stream gets requests without streaming from then on", async () => {
  const llm = await startFakeLlm({
    script: (request) =>
      request.stream ? status(400, { message: "streaming is not supported by this model" }) : text("Whole."),
  });
  try {
    const transport = chatCompletions();
    const call = transportCall({ baseUrl: `${llm.url}/v1` });
    expect((await gather(transport, call)).text).toBe("Whole.");
    expect((await gather(transport, call)).text).toBe("Whole.");
    expect(llm.requests.map((request) => request.stream)).toEqual([true, false, false]);
  } finally {
    await llm.close();
  }
});

test("the conversation header is sent to the configured models", async () => {
  const llm = await startFakeLlm();
  try {
    const quirks = { conversationHeader: { name: "x-grok-conv-id", models: ["grok"] } };
    for (const model of ["x-ai/grok-4", "gpt-4.1"])
      await gather(chatCompletions(), transportCall({ baseUrl: `${llm.url}/v1`, model, quirks }));
    expect(llm.requests.map((request) => request.headers["x-grok-conv-id"])).toEqual(["conv-1", undefined]);
  } finally {
    await llm.close();
  }
});
