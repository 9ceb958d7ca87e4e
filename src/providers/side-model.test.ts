import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { effectiveConfig } from "../../test/kit/effective-config.ts";
import { MemoryLedger } from "../../test/kit/memory-ledger.ts";
import { type FakeLlm, hang, startFakeLlm, status, text, usage } from "../../test/servers/fake-llm.ts";
import type { JsonObject } from "../core/message.ts";
import { Models } from "./connect.ts";
import { readProviderSettings } from "./settings.ts";
import { SideModels } from "./side-model.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function server(...args: Parameters<typeof startFakeLlm>): Promise<FakeLlm> {
  const llm = await startFakeLlm(...args);
  closers.push(() => llm.close());
  return llm;
}

async function side(config: JsonObject, env: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), "hermes-side-"));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const ledger = new MemoryLedger();
  const read = readProviderSettings(effectiveConfig(config), env);
  const settings = { ...read, time: { ...read.time, backoffBaseMs: 5, backoffMaxMs: 10 } };
  const models = new Models({
    settings,
    env,
    authPath: join(folder, "auth.json"),
    windowCachePath: null,
    ledger,
    probeTargets: [],
  });
  const { endpoint, notes, provider } = await models.connect();
  return { models, ledger, notes, provider, sideModel: new SideModels(models, endpoint) };
}

function main(llm: FakeLlm, extra: JsonObject = {}): JsonObject {
  return {
    model: { provider: "custom:a", default: "main-model", pricing: { input: 1, output: 1 } },
    providers: { a: { base_url: `${llm.url}/v1`, api_key: "key-a" } },
    ...extra,
  };
}

test("auto uses the model of the conversation and records the call under its task", async () => {
  const llm = await server({ script: [usage({ input: 40, output: 4 }, text("A title"))] });
  const { sideModel, ledger } = await side(main(llm));
  const answer = await sideModel.ask({
    task: "title_generation",
    prompt: "name it",
    sessionId: "s9",
    maxOutputTokens: 500,
  });
  expect(answer).toMatchObject({ ok: true, text: "A title", identity: { model: "main-model" } });
  expect(ledger.entries).toMatchObject([
    { purpose: "title_generation", sessionId: "s9", usage: { input: 40, output: 4 } },
  ]);
  expect(ledger.total()).toEqual(llm.billed());
});

test("the provider, address, key and body of a task are used, without substitutes", async () => {
  const a = await server({ script: () => text("wrong one") });
  const b = await server({ script: [text("Summary"), status(401)] });
  const { sideModel } = await side(
    main(a, {
      auxiliary: {
        compression: {
          base_url: `${b.url}/v1`,
          api_key: "key-b",
          model: "small",
          extra_body: { seed: 3 },
          context_length: 16_384,
        },
      },
    }),
  );
  expect(await sideModel.ask({ task: "compression", prompt: "sum up" })).toMatchObject({ ok: true, text: "Summary" });
  expect(b.requests[0]).toMatchObject({ model: "small", apiKey: "key-b", body: { seed: 3 } });
  expect(await sideModel.ask({ task: "compression", prompt: "sum up" })).toMatchObject({
    ok: false,
    failure: { kind: "auth" },
  });
  expect(a.requests).toEqual([]);
  expect(await sideModel.contextLength("compression")).toBe(16_384);
});

test("a refused temperature and output limit are dropped within the call", async () => {
  const llm = await server({
    script: [
      status(400, { message: "Unsupported value: 'temperature' is not supported" }),
      status(400, { message: "Unsupported parameter: 'max_tokens' is not supported" }),
      text("ok"),
    ],
  });
  const { sideModel } = await side(main(llm));
  expect(await sideModel.ask({ task: "approval", prompt: "?", temperature: 0.2, maxOutputTokens: 9 })).toMatchObject({
    ok: true,
  });
  const last = llm.requests.at(-1)?.body;
  expect([last?.temperature, last?.max_tokens]).toEqual([undefined, undefined]);
});

test("the task's time-out ends a call that hangs", async () => {
  const llm = await server({ script: () => hang() });
  const { sideModel } = await side(main(llm, { auxiliary: { approval: { timeout: 1 } } }));
  const started = Date.now();
  expect(await sideModel.ask({ task: "approval", prompt: "?" })).toMatchObject({
    ok: false,
    failure: { kind: "timeout" },
  });
  expect(Date.now() - started).toBeLessThan(5_000);
});

test("caps apply to side calls too", async () => {
  const llm = await server({ script: () => usage({ input: 2_000_000, output: 0 }) });
  const { sideModel } = await side(main(llm, { budget: { daily_usd: 1 } }));
  expect((await sideModel.ask({ task: "curator", prompt: "?" })).ok).toBe(true);
  expect(await sideModel.ask({ task: "curator", prompt: "?" })).toMatchObject({
    ok: false,
    failure: { kind: "budget_exceeded" },
  });
  expect(llm.requests).toHaveLength(1);
});

test("with nothing configured the offline model answers and says how to connect a model", async () => {
  const { notes, provider, sideModel } = await side({});
  expect(provider.identity).toMatchObject({ provider: "offline" });
  expect(notes[0]).toContain("hermes setup");
  const answer = await sideModel.ask({ task: "title_generation", prompt: "Name this talk about whales" });
  expect(answer.ok).toBe(true);
});

test("a fallback with a key replaces a primary model without one", async () => {
  const llm = await server({ script: () => text("hi") });
  const { provider, notes } = await side({
    model: { provider: "anthropic", default: "claude-sonnet-4-6" },
    providers: { a: { base_url: `${llm.url}/v1`, api_key: "key-a" } },
    fallback_providers: [
      { provider: "a", model: "m" },
      { provider: "xai", model: "grok" },
    ],
  });
  expect(provider.identity.provider).toBe("custom:a");
  expect(notes.join("\n")).toMatch(/No key for Anthropic.*\n.*xai\/grok is ignored/s);
});

test("after a failover, side calls go to the fallback at once", async () => {
  const dead = await server({ script: () => status(503) });
  const spare = await server({ script: () => text("from the spare") });
  const { provider, sideModel } = await side({
    ...main(dead),
    providers: {
      a: { base_url: `${dead.url}/v1`, api_key: "key-a" },
      b: { base_url: `${spare.url}/v1`, api_key: "key-b" },
    },
    fallback_providers: [{ provider: "custom:b", model: "spare-model" }],
  });
  const request = {
    system: "",
    messages: [{ role: "user" as const, content: "hello" }],
    tools: [],
    conversationId: "c",
    purpose: "chat",
  };
  for await (const event of provider.stream(request, new AbortController().signal)) {
    if (event.type === "done") expect(event.response.identity.model).toBe("spare-model");
  }
  const before = dead.requests.length;
  expect(await sideModel.ask({ task: "title_generation", prompt: "name it" })).toMatchObject({
    ok: true,
    identity: { model: "spare-model" },
  });
  expect(dead.requests.length).toBe(before);
});
