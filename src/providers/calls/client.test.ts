import { afterEach, describe, expect, test } from "vitest";
import { type ClientSetup, modelRequest, send, setUpClient } from "../../../test/kit/model-client.ts";
import {
  calls,
  cut,
  drip,
  type FakeLlm,
  hang,
  malformed,
  overflow,
  startFakeLlm,
  status,
  text,
  usage,
} from "../../../test/servers/fake-llm.ts";

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

const PRICE = { input: 1, output: 2, cache_read: 0.1, cache_write: 1.25 };

/** One named endpoint `a`, and `b` as its fallback when a second server is given. */
function config(a: FakeLlm, b?: FakeLlm, extra: object = {}) {
  return {
    model: { provider: "custom:a", default: "model-a", pricing: PRICE },
    providers: {
      a: { base_url: `${a.url}/v1`, api_key: "key-a", model: "model-a" },
      ...(b ? { b: { base_url: `${b.url}/v1`, api_key: "key-b", model: "model-b" } } : {}),
    },
    ...(b ? { fallback_providers: [{ provider: "custom:b", model: "model-b" }] } : {}),
    ...extra,
  };
}

describe("a call", () => {
  test("streams text and ends with the whole answer, its usage and its cost", async () => {
    const a = await server({ script: [usage({ input: 1000, output: 500 }, text("Hello there."))] });
    const { client: model, ledger } = await client({ config: config(a) });
    const result = await send(model);
    expect(result.text).toBe("Hello there.");
    expect(result.types.slice(0, -1).every((type) => type === "text")).toBe(true);
    expect(result.last).toMatchObject({
      response: {
        finishReason: "stop",
        cost: { usd: 0.002, status: "estimated", source: "user_override" },
        identity: { provider: "custom:a" },
      },
    });
    expect(ledger.entries).toMatchObject([
      { purpose: "turn", outcome: "ok", sessionId: "s1", usage: { input: 1000, output: 500 } },
    ]);
  });

  test.each([
    ["500", status(500), 2],
    ["503", status(503), 2],
    ["529", status(529), 2],
    ["429 without a header", status(429), 2],
    ["429 with Retry-After", status(429, { retryAfter: 0.01 }), 2],
    ["a cut before any text", cut(), 2],
    ["a malformed stream before any text", { ...malformed(), text: "" }, 2],
    ["a hang before the headers", hang("before_headers"), 2],
    ["a hang after the headers", hang("after_headers"), 2],
  ])("is repeated after %s", async (_name, reply, expected) => {
    const a = await server({ script: [reply, text("Second try.")] });
    const { client: model, ledger } = await client({ config: config(a) });
    const result = await send(model);
    expect(result.text).toBe("Second try.");
    expect(result.types).toContain("retrying");
    expect(a.requests).toHaveLength(expected);
    // Usage that follows a broken frame is not received.
    if (!("malformed" in reply)) expect(ledger.total()).toEqual(a.billed());
  });

  test.each([
    [401, "auth"],
    [402, "billing"],
    [403, "auth"],
    [404, "model_not_found"],
    [413, "payload_too_large"],
    [400, "format_error"],
  ])("ends at once after %i, as %s", async (code, kind) => {
    const message = code === 404 ? "The model `x` does not exist" : undefined;
    const a = await server({ script: [status(code, message ? { message } : {})] });
    const { client: model } = await client({ config: config(a) });
    const result = await send(model);
    expect(result.failure?.kind).toBe(kind);
    expect(a.requests).toHaveLength(1);
  });

  test("returns an overflow for compaction and stores the limit in the message", async () => {
    const a = await server({ script: [overflow(8192), text("Short enough.")], models: [], flavour: "cloud" });
    const { client: model } = await client({ config: config(a) });
    const result = await send(model);
    expect(result.failure).toMatchObject({ kind: "context_overflow", limitTokens: 8192 });
    expect(a.requests).toHaveLength(1);
    expect(await model.limits()).toMatchObject({ contextLength: 8192, source: "provider" });
    expect((await send(model)).text).toBe("Short enough.");
  });

  test("stops after the allowed number of attempts", async () => {
    const a = await server({ script: () => status(500) });
    const { client: model, ledger } = await client({ config: config(a, undefined, { agent: { api_max_retries: 3 } }) });
    expect((await send(model)).failure?.kind).toBe("server_error");
    expect(a.requests).toHaveLength(3);
    expect(ledger.entries.map((entry) => entry.outcome)).toEqual(["failed", "failed", "failed"]);
  });

  test("retries end with the deadline of the turn", async () => {
    const a = await server({ script: () => hang() });
    const { client: model } = await client({
      config: config(a, undefined, { agent: { api_max_retries: 50 } }),
      time: { turnMs: 900, firstTokenMs: 300 },
    });
    const started = Date.now();
    model.beginTurn();
    expect((await send(model)).failure?.kind).toBe("timeout");
    expect(Date.now() - started).toBeLessThan(5_000);
    expect((await send(model)).failure?.message).toContain("time limit");
  });

  test("time in tools does not count towards the deadline", async () => {
    const a = await server({ script: () => text("Still here.") });
    const { client: model } = await client({ config: config(a), time: { turnMs: 400 } });
    model.beginTurn();
    expect((await send(model)).text).toBe("Still here.");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await send(model)).text).toBe("Still here.");
  });

  test("an abort takes effect at once, even in the pause before a retry", async () => {
    const a = await server({ script: () => status(503) });
    const { client: model } = await client({
      config: config(a),
      time: { backoffBaseMs: 60_000, backoffMaxMs: 60_000 },
    });
    const controller = new AbortController();
    const sent = send(model, modelRequest(), controller.signal);
    await a.arrived(1);
    setTimeout(() => controller.abort(), 50);
    expect((await sent).failure?.kind).toBe("interrupted");
  });

  test("a refused connection is not recorded in the ledger", async () => {
    const a = await server();
    await a.close();
    const { client: model, ledger } = await client({ config: config(a) });
    expect((await send(model)).failure?.kind).toBe("timeout");
    expect(ledger.entries).toEqual([]);
  });
});

describe("a broken stream", () => {
  test("text that was shown is returned as incomplete, with the reason and an estimated usage", async () => {
    const a = await server({ script: [cut({ afterText: "Half an answer" })] });
    const { client: model, ledger } = await client({ config: config(a) });
    const result = await send(model);
    expect(result.text).toBe("Half an answer");
    expect(result.last).toMatchObject({
      response: { finishReason: "incomplete", incomplete: { kind: "timeout" }, cost: { status: "estimated" } },
    });
    const [row] = ledger.entries;
    expect(row?.usage.input).toBeGreaterThan(0);
    expect(row?.usage.output).toBeGreaterThan(0);
    expect(row?.cost.usd).toBeGreaterThan(0);
    expect(a.requests).toHaveLength(1);
  });

  test("text before a stall is kept; a slow stream is not cut", async () => {
    const a = await server({ script: [hang("after_text", "So far"), drip("one two three four", { everyMs: 150 })] });
    const { client: model } = await client({ config: config(a), time: { interTokenMs: 500 } });
    expect((await send(model)).text).toBe("So far");
    expect((await send(model)).text).toBe("one two three four");
  });

  test("a stream that breaks in a tool call restarts the answer", async () => {
    const tool = { name: "read_file", args: { path: "notes.md" } };
    const a = await server({ script: [cut({ afterText: "Let me look.", calls: [tool] }), calls([tool])] });
    const { client: model } = await client({ config: config(a) });
    const request = modelRequest({
      tools: [{ name: "read_file", description: "reads", parameters: { type: "object", properties: {} } }],
    });
    const result = await send(model, request);
    expect(result.types).toContain("restarted");
    expect(result.last).toMatchObject({ type: "done", response: { finishReason: "tool_calls" } });
  });
});

describe("keys", () => {
  async function pooled(script: Parameters<typeof startFakeLlm>[0], extra: object = {}) {
    const a = await server(script);
    const base = config(a, undefined, extra);
    const setup = { ...base, providers: { a: { base_url: `${a.url}/v1`, model: "model-a" } } };
    const made = await client({ config: setup });
    const first = await made.credentials.add("custom:a", { value: "first-key-1234", label: "one" });
    const second = await made.credentials.add("custom:a", { value: "second-key-5678", label: "two" });
    return { a, ...made, first, second };
  }

  test("a refused key cools down and the next one is used", async () => {
    for (const code of [401, 402]) {
      const {
        a,
        client: model,
        credentials,
        first,
      } = await pooled({ script: [status(code), text("From the second key.")] });
      expect((await send(model)).text).toBe("From the second key.");
      expect(a.requests.map((request) => request.apiKey)).toEqual(["first-key-1234", "second-key-5678"]);
      const list = await credentials.list("custom:a", []);
      const coolingDown = list.find((entry) => entry.id === first.id);
      const minutes = Math.round(((coolingDown?.restsUntil ?? 0) - Date.now()) / 60_000);
      expect(minutes).toBe(code === 401 ? 5 : 60);
    }
  });

  test("after a rate limit the same key is tried once more, then the next key", async () => {
    const { a, client: model } = await pooled({ script: [status(429), status(429), text("ok")] });
    expect((await send(model)).text).toBe("ok");
    expect(a.requests.map((request) => request.apiKey)).toEqual([
      "first-key-1234",
      "first-key-1234",
      "second-key-5678",
    ]);
  });

  test("round robin alternates; calls are counted", async () => {
    const {
      a,
      client: model,
      credentials,
    } = await pooled({ script: () => text("ok") }, { credential_pool_strategies: { "custom:a": "round_robin" } });
    for (let turn = 0; turn < 4; turn++) await send(model);
    expect(a.requests.map((request) => request.apiKey?.split("-")[0])).toEqual(["first", "second", "first", "second"]);
    await credentials.settled();
    expect((await credentials.list("custom:a", [])).map((entry) => entry.requestCount)).toEqual([2, 2]);
  });

  test("a failure of the fallback does not change the primary's keys", async () => {
    const b = await server({ script: () => status(401) });
    const a = await server({ script: () => status(500) });
    const made = await client({
      config: {
        ...config(a, b),
        providers: {
          a: { base_url: `${a.url}/v1`, model: "model-a" },
          b: { base_url: `${b.url}/v1`, model: "model-b" },
        },
      },
    });
    await made.credentials.add("custom:a", { value: "key-of-a-1" });
    await made.credentials.add("custom:b", { value: "key-of-b-1" });
    expect((await send(made.client)).failure?.kind).toBe("auth");
    expect(a.requests.every((request) => request.apiKey === "key-of-a-1")).toBe(true);
    expect(b.requests.every((request) => request.apiKey === "key-of-b-1")).toBe(true);
    expect((await made.credentials.list("custom:a", []))[0]?.restsUntil).toBe(0);
    expect((await made.credentials.list("custom:b", []))[0]?.restsUntil).toBeGreaterThan(0);
  });
});

describe("fallback", () => {
  test.each([
    ["refuses the key", status(401)],
    ["has no credit", status(402)],
    ["limits the rate", status(429)],
    ["does not know the model", status(404, { message: "model not found" })],
    ["is broken", status(500)],
    ["hangs", hang()],
    ["hangs after the headers", hang("after_headers")],
  ])("answers when the primary %s", async (_name, reply) => {
    const a = await server({ script: () => reply });
    const b = await server({ script: () => text("From the fallback.") });
    const { client: model, ledger } = await client({
      config: config(a, b),
      time: { primaryMs: 700, firstTokenMs: 60_000 },
    });
    const started = Date.now();
    const result = await send(model);
    expect(result.text).toBe("From the fallback.");
    expect(result.types).toContain("fallback");
    expect(result.last).toMatchObject({ response: { identity: { provider: "custom:b", model: "model-b" } } });
    // The limits are scaled down: 700 ms instead of 25 s.
    expect(Date.now() - started).toBeLessThan(5_000);
    expect(ledger.total().output).toBe(a.billed().output + b.billed().output);
    expect(b.requests[0]?.apiKey).toBe("key-b");
  });

  test("is used for the rest of the turn; the next turn starts with the primary", async () => {
    const a = await server({ script: [status(404, { message: "model not found" }), text("Primary again.")] });
    const b = await server({ script: () => text("Fallback.") });
    const { client: model } = await client({ config: config(a, b) });
    model.beginTurn();
    expect((await send(model)).text).toBe("Fallback.");
    expect((await send(model)).text).toBe("Fallback.");
    model.beginTurn();
    expect((await send(model)).text).toBe("Primary again.");
  });

  test("a primary model is not used for a while after a rate limit", async () => {
    const a = await server({ script: [status(429), text("Primary again.")] });
    const b = await server({ script: () => text("Fallback.") });
    const { client: model } = await client({ config: config(a, b), time: { holdMs: 400 } });
    for (let turn = 0; turn < 2; turn++) {
      model.beginTurn();
      expect((await send(model)).text).toBe("Fallback.");
    }
    expect(a.requests).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 450));
    model.beginTurn();
    expect((await send(model)).text).toBe("Primary again.");
  });

  test("legacy fallback_model works when the list is empty", async () => {
    const a = await server({ script: () => status(401) });
    const b = await server({ script: () => text("Legacy.") });
    const { fallback_providers: list, ...rest } = config(a, b) as { fallback_providers: unknown[] };
    const { client: model } = await client({ config: { ...rest, fallback_model: list[0] } as never });
    expect((await send(model)).text).toBe("Legacy.");
  });

  test("when all models fail, the last failure is reported", async () => {
    const a = await server({ script: () => status(401) });
    const b = await server({ script: () => status(402) });
    const { client: model } = await client({ config: config(a, b) });
    expect((await send(model)).failure).toMatchObject({ kind: "billing", provider: "custom:b" });
  });
});

describe("recoveries rebuild the request", () => {
  test("the next attempt does not send a refused temperature", async () => {
    const a = await server({
      script: [
        status(400, { message: "Unsupported parameter: 'temperature' is not supported with this model." }),
        text("ok"),
      ],
    });
    const { client: model } = await client({ config: config(a) });
    expect((await send(model, modelRequest({ temperature: 0.3 }))).text).toBe("ok");
    expect(a.requests.map((request) => request.body.temperature)).toEqual([0.3, undefined]);
  });

  test("patterns are removed from schemas that a grammar cannot express", async () => {
    const a = await server({ script: [status(400, { message: "failed to parse grammar" }), text("ok")] });
    const { client: model } = await client({ config: config(a) });
    const tools = [
      {
        name: "t",
        description: "d",
        parameters: { type: "object", properties: { p: { type: "string", pattern: "^a$" } } },
      },
    ];
    expect((await send(model, modelRequest({ tools }))).text).toBe("ok");
    expect(a.requests.map((request) => request.raw.includes("pattern"))).toEqual([true, false]);
  });

  test("images are removed for a model without vision", async () => {
    const a = await server({
      script: [status(400, { message: "This model does not support image input" }), text("ok")],
    });
    const { client: model } = await client({ config: config(a) });
    const messages = [
      {
        role: "user" as const,
        content: [
          { type: "text" as const, text: "look" },
          { type: "image_url" as const, image_url: { url: "data:image/png;base64,AAAA" } },
        ],
      },
    ];
    expect((await send(model, modelRequest({ messages }))).text).toBe("ok");
    expect(a.requests.map((request) => request.messages[0]?.images)).toEqual([1, 0]);
  });

  test("an output limit that is too high is lowered to the tokens left", async () => {
    const a = await server({
      script: [status(400, { message: "max_tokens is too large: at most 1000 tokens are available" }), text("ok")],
    });
    const { client: model } = await client({ config: config(a) });
    expect((await send(model, modelRequest({ maxOutputTokens: 50_000 }))).text).toBe("ok");
    expect(a.requests[1]?.body.max_tokens).toBe(936);
  });
});
