// The client over every dialect: changes to a request for one provider must not affect the next attempt.
import { afterEach, describe, expect, test } from "vitest";
import { type ClientSetup, modelRequest, send, setUpClient } from "../../test/kit/model-client.ts";
import { drip, type FakeLlm, hang, reasoning, startFakeLlm, status, text } from "../../test/servers/fake-llm.ts";
import type { Message } from "../core/message.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function server(...args: Parameters<typeof startFakeLlm>): Promise<FakeLlm> {
  const llm = await startFakeLlm(...args);
  closers.push(() => llm.close());
  return llm;
}

async function client(setup: ClientSetup) {
  const made = await setUpClient(setup);
  closers.push(made.close);
  return made;
}

const MODES = ["chat_completions", "anthropic_messages", "codex_responses"] as const;

function endpoint(llm: FakeLlm, mode: (typeof MODES)[number], model: string) {
  return {
    base_url: mode === "anthropic_messages" ? llm.url : `${llm.url}/v1`,
    api_key: "some-key",
    api_mode: mode,
    model,
  };
}

describe.each(MODES)("%s", (mode) => {
  test("answers, retries and reports its usage", async () => {
    const llm = await server({ script: [status(529), text("Hello.")] });
    const { client: model, ledger } = await client({
      config: { model: { provider: "custom:a" }, providers: { a: endpoint(llm, mode, "claude-sonnet-4-6") } },
    });
    expect((await send(model)).text).toBe("Hello.");
    expect(llm.requests.flatMap((request) => request.problems)).toEqual([]);
    expect(ledger.total()).toEqual(llm.billed());
  });

  test.each(MODES)("continues a conversation with %s", async (other) => {
    const a = await server({ script: [reasoning("Thinking it over.", { text: "First answer." }), status(401)] });
    const b = await server({ script: () => text("From the other.") });
    const { client: model } = await client({
      config: {
        model: { provider: "custom:a" },
        providers: { a: endpoint(a, mode, "claude-sonnet-4-6"), b: endpoint(b, other, "gpt-4o") },
        fallback_providers: [{ provider: "b", model: "gpt-4o" }],
      },
    });
    const first = await send(model);
    const answer = first.last?.type === "done" ? first.last.response.message : undefined;
    const messages: Message[] = [
      { role: "user", content: "hello" },
      ...(answer ? [answer] : []),
      { role: "user", content: "again" },
    ];
    const second = await send(model, modelRequest({ messages }));
    expect(second.text).toBe("From the other.");
    expect([...a.requests, ...b.requests].flatMap((request) => request.problems)).toEqual([]);
    expect(b.requests[0]?.raw.toString()).not.toContain("cache_control");
  });
});

test("the next attempt does not send refused thinking", async () => {
  const llm = await server({
    script: [
      reasoning("Hm.", { text: "One." }),
      status(400, { message: "messages.1: Invalid `signature` in `thinking` block" }),
      text("Two."),
    ],
  });
  const { client: model } = await client({
    config: {
      model: { provider: "custom:a" },
      providers: { a: { ...endpoint(llm, "anthropic_messages", "claude-sonnet-4-6") } },
    },
  });
  const first = await send(model);
  const answer = first.last?.type === "done" ? first.last.response.message : undefined;
  const messages: Message[] = [
    { role: "user", content: "hello" },
    ...(answer ? [answer] : []),
    { role: "user", content: "again" },
  ];
  expect((await send(model, modelRequest({ messages }))).text).toBe("Two.");
  expect(llm.requests).toHaveLength(3);
  expect(llm.requests[2]?.raw.toString()).not.toContain('"signature"');
});

test("a consumer that stops early closes the connection, and the call is recorded", async () => {
  const llm = await server({ script: [drip("one two three four five six", { everyMs: 100 })] });
  const { client: model, ledger } = await client({
    config: { model: { provider: "custom:a" }, providers: { a: endpoint(llm, "chat_completions", "m") } },
  });
  for await (const event of model.stream(modelRequest(), new AbortController().signal)) {
    if (event.type === "text") break;
  }
  expect(ledger.entries).toMatchObject([{ outcome: "interrupted" }]);
  await expect.poll(() => llm.requests[0]?.aborted).toBe(true);
});

test("an interrupt in a hanging call ends it and closes the connection", async () => {
  const llm = await server({ script: [hang("after_text", "Half")] });
  const { client: model } = await client({
    config: { model: { provider: "custom:a" }, providers: { a: endpoint(llm, "chat_completions", "m") } },
    time: { interTokenMs: 60_000 },
  });
  const controller = new AbortController();
  const sent = send(model, modelRequest(), controller.signal);
  await llm.arrived(1);
  setTimeout(() => controller.abort(), 100);
  const result = await sent;
  expect(result.failure?.kind).toBe("interrupted");
  expect(result.last).toMatchObject({ partial: { content: "Half" } });
});

test("the window is sent to Ollama", async () => {
  const llm = await server({
    script: () => text("Hello from 7B."),
    models: [{ id: "qwen2.5:7b", contextLength: 32_768 }],
    flavour: "ollama",
  });
  const config = { model: { provider: "ollama", default: "qwen2.5:7b", base_url: `${llm.url}/v1` } };
  const { client: model } = await client({ config });
  expect((await send(model)).text).toBe("Hello from 7B.");
  expect(llm.requests[0]?.body.options).toMatchObject({ num_ctx: 32_768 });
  expect(await model.limits()).toMatchObject({ contextLength: 32_768, source: "provider" });
  const capped = await client({ config: { model: { ...config.model, context_length: 8192 } } });
  await send(capped.client);
  expect(llm.requests[1]?.body.options).toMatchObject({ num_ctx: 8192 });
});
