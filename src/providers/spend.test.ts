import { afterEach, describe, expect, test } from "vitest";
import { type ClientSetup, modelRequest, send, setUpClient } from "../../test/kit/model-client.ts";
import { type FakeLlm, startFakeLlm, status, text, usage } from "../../test/servers/fake-llm.ts";

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

describe("spending caps", () => {
  test.each([
    ["daily", "budget.daily_usd"],
    ["session", "budget.session_usd"],
    ["job", "budget.job_usd"],
  ])("the %s cap stops the next call before it is made", async (name, setting) => {
    const a = await server({ script: () => usage({ input: 1_000_000, output: 0 }, text("Dear.")) });
    const { client: model } = await client({ config: config(a, undefined, { budget: { [`${name}_usd`]: 1 } }) });
    const request = modelRequest({ jobId: "j1" });
    expect((await send(model, request)).text).toBe("Dear.");
    const stopped = await send(model, request);
    expect(stopped.failure).toMatchObject({ kind: "budget_exceeded" });
    expect(`${stopped.failure?.message} ${stopped.failure?.hint}`).toContain(setting);
    expect(a.requests).toHaveLength(1);
  });

  test.each([
    ["daily", "budget.daily_usd"],
    ["session", "budget.session_usd"],
    ["job", "budget.job_usd"],
  ])("the %s cap applies to a model without a known price, and shows small amounts", async (name, setting) => {
    const a = await server({ script: () => usage({ input: 3_000, output: 100 }, text("Dear.")) });
    const settings = {
      model: { provider: "openai", default: "gpt-9-new", base_url: `${a.url}/v1`, api_key: "key-a" },
      budget: { [`${name}_usd`]: 0.001 },
    };
    const { client: model, ledger } = await client({ config: settings });
    const request = modelRequest({ jobId: "j1" });
    expect((await send(model, request)).text).toBe("Dear.");
    expect(ledger.entries[0]?.cost).toMatchObject({ status: "estimated", source: "assumed_price" });
    const stopped = await send(model, request);
    expect(stopped.failure?.message).toContain("cap of $0.001");
    expect(stopped.failure?.hint).toContain(setting);
    expect(a.requests).toHaveLength(1);
  });

  test("a custom server on this machine costs nothing", async () => {
    const a = await server({ script: () => usage({ input: 3_000, output: 100 }, text("Free.")) });
    const { model: _priced, ...rest } = config(a, undefined, { budget: { daily_usd: 0.001 } });
    const { client: model } = await client({ config: { ...rest, model: { provider: "custom:a", default: "m" } } });
    for (let call = 0; call < 3; call++) expect((await send(model)).text).toBe("Free.");
  });

  test("caps are per session and per job", async () => {
    const a = await server({ script: () => usage({ input: 1_000_000, output: 0 }, text("Dear.")) });
    const { client: model } = await client({
      config: config(a, undefined, { budget: { session_usd: 1, job_usd: 1 } }),
    });
    await send(model);
    expect((await send(model, modelRequest({ sessionId: "s2" }))).text).toBe("Dear.");
  });
});

test("the ledger matches the billed cost of a turn with retries, a fallback and cache use", async () => {
  const a = await server({
    script: [
      usage({ input: 120, output: 30, cacheRead: 900, reasoning: 7 }),
      status(500),
      usage({ input: 5, output: 1 }),
      status(402),
    ],
  });
  const b = await server({ script: () => usage({ input: 77, output: 11 }) });
  const { client: model, ledger } = await client({ config: config(a, b) });
  for (let call = 0; call < 3; call++) await send(model);
  const sum = [a.billed(), b.billed()];
  expect(ledger.total()).toEqual({
    input: sum[0]!.input + sum[1]!.input,
    output: sum[0]!.output + sum[1]!.output,
    cacheRead: sum[0]!.cacheRead + sum[1]!.cacheRead,
    cacheWrite: 0,
    reasoning: sum[0]!.reasoning + sum[1]!.reasoning,
  });
  expect(ledger.entries).toHaveLength(a.requests.length + b.requests.length);
});
