import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { effectiveConfig } from "../../../test/kit/effective-config.ts";
import { requireEndpoint } from "../../../test/kit/require-endpoint.ts";
import { type FakeLlm, startFakeLlm } from "../../../test/servers/fake-llm.ts";
import { discoverLocal } from "../discover.ts";
import type { Endpoint } from "../endpoint.ts";
import { readProviderSettings } from "../settings.ts";
import { ModelFacts } from "./limits.ts";
import { parseWindowCache } from "./window-cache.ts";
import { familyWindow } from "./window-table.ts";

const closers: (() => Promise<unknown>)[] = [];
let folder: string;
let cachePath: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hermes-limits-"));
  cachePath = join(folder, "context_length_cache.yaml");
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await rm(folder, { recursive: true, force: true });
});

async function fake(...args: Parameters<typeof startFakeLlm>): Promise<FakeLlm> {
  const llm = await startFakeLlm(...args);
  closers.push(() => llm.close());
  return llm;
}

function endpoint(baseUrl: string, model: string, provider = "custom"): Endpoint {
  const settings = readProviderSettings(effectiveConfig());
  return requireEndpoint({ provider, baseUrl, model }, { settings, env: { ANTHROPIC_API_KEY: "sk-ant-api-1" } });
}

const noKey = () => Promise.resolve(null);

describe("the window", () => {
  test("configured limits win", async () => {
    const llm = await fake({ models: [{ id: "m", contextLength: 1_000_000 }] });
    const facts = new ModelFacts({ cachePath, configured: { model: "m", contextLength: 32_768 } });
    expect(await facts.limits(endpoint(`${llm.url}/v1`, "m"), noKey)).toEqual({
      contextLength: 32_768,
      source: "config",
    });
    expect(llm.visits).toEqual([]);
  });

  test.each(["ollama", "lmstudio", "llamacpp", "cloud"] as const)(
    "a %s server is asked for what it has loaded",
    async (flavour) => {
      for (const contextLength of [8192, 16_384]) {
        const llm = await fake({ models: [{ id: "m", contextLength }], flavour });
        const facts = new ModelFacts({ cachePath });
        expect(await facts.limits(endpoint(`${llm.url}/v1`, "m"), noKey)).toMatchObject({
          contextLength,
          source: "provider",
        });
      }
    },
  );

  test("the loaded window of Ollama wins over that of the model", async () => {
    const server = createServer((request, response) => {
      const answers: Record<string, unknown> = {
        "/api/show": { model_info: { "llama.context_length": 131_072 }, parameters: "" },
        "/api/ps": { models: [{ model: "llama3:latest", context_length: 4096 }] },
      };
      const body = answers[request.url ?? ""];
      response.writeHead(body ? 200 : 404).end(JSON.stringify(body ?? {}));
    });
    const url = await listen(server);
    expect(await new ModelFacts({ cachePath }).limits(endpoint(`${url}/v1`, "llama3", "ollama"), noKey)).toMatchObject({
      contextLength: 4096,
    });
  });

  test("a model that Ollama has not loaded is loaded, and the window it was loaded with is used", async () => {
    const loaded: string[] = [];
    const server = createServer((request, response) => {
      const answers: Record<string, unknown> = {
        "/api/show": { model_info: { "qwen3.context_length": 131_072 }, parameters: "" },
        "/api/ps": { models: loaded.map((model) => ({ model, context_length: 4096 })) },
        "/api/generate": { done: true },
      };
      if (request.url === "/api/generate") loaded.push("qwen3:8b");
      const body = answers[request.url ?? ""];
      response.writeHead(body ? 200 : 404).end(JSON.stringify(body ?? {}));
    });
    const url = await listen(server);
    const facts = new ModelFacts({ cachePath });
    expect(await facts.limits(endpoint(`${url}/v1`, "qwen3:8b", "ollama"), noKey)).toMatchObject({
      contextLength: 4096,
    });
  });

  test("LM Studio reports the window of the loaded instance", async () => {
    const server = createServer((request, response) => {
      const instance = { id: "gemma-3-4b", config: { context_length: 8192 } };
      const model = { key: "gemma-3-4b", max_context_length: 131_072, loaded_instances: [instance] };
      const found = request.url === "/api/v1/models";
      response.writeHead(found ? 200 : 404).end(JSON.stringify(found ? { models: [model] } : {}));
    });
    const url = await listen(server);
    const facts = new ModelFacts({ cachePath });
    expect(await facts.limits(endpoint(`${url}/v1`, "gemma-3-4b", "lmstudio"), noKey)).toMatchObject({
      contextLength: 8192,
    });
  });

  test("limits of well-known models need no network", async () => {
    const facts = new ModelFacts({ cachePath, fetch: () => Promise.reject(new Error("no network here")) });
    expect(await facts.limits(endpoint("", "claude-sonnet-4-6", "anthropic"), noKey)).toEqual({
      contextLength: 1_000_000,
      source: "catalog",
    });
  });

  test("an unknown model on a silent server gets the default, in time", async () => {
    const url = await listen(createServer(() => undefined));
    const started = Date.now();
    expect(await new ModelFacts({ cachePath }).limits(endpoint(`${url}/v1`, "mystery"), noKey)).toEqual({
      contextLength: 256_000,
      source: "default",
    });
    expect(Date.now() - started).toBeLessThan(10_000);
  });

  test("a learnt limit is written after a success and read by the next run", async () => {
    const remote = { ...endpoint("https://remote.example/v1", "mystery"), local: false };
    const facts = new ModelFacts({ cachePath });
    facts.learn(remote, 65_536);
    expect((await facts.limits(remote, noKey)).contextLength).toBe(65_536);
    await facts.persistLearnt(remote);
    expect(await readFile(cachePath, "utf8")).toBe('context_lengths:\n  "mystery@https://remote.example/v1": 65536\n');
    expect(await new ModelFacts({ cachePath }).limits(remote, noKey)).toMatchObject({
      contextLength: 65_536,
      source: "provider",
    });
  });

  test("a cache of another program is read; a malformed one is ignored", async () => {
    const text = "context_lengths:\n  qwen:7b@http://x/v1: 32768\n  'a b@https://y': 5\nother: [1]\n";
    expect([...parseWindowCache(text)]).toEqual([
      ["qwen:7b@http://x/v1", 32_768],
      ["a b@https://y", 5],
    ]);
    await writeFile(cachePath, "\0\0 nonsense");
    expect(
      (await new ModelFacts({ cachePath }).limits(endpoint("", "claude-haiku-4-5", "anthropic"), noKey)).contextLength,
    ).toBe(200_000);
  });

  test.each([
    ["anthropic/claude-opus-4.6", 1_000_000],
    ["claude-3-5-haiku", 200_000],
    ["gpt-5.4-mini", 400_000],
    ["gpt-4.1", 1_047_576],
    ["gpt-6.1-sol", 1_050_000],
    ["gpt-5.1-chat-latest", 128_000],
    ["gpt-5.3-codex-spark", 128_000],
    ["claude-opus-5-5", 1_000_000],
    ["anthropic/claude-haiku-5.5", 1_000_000],
    ["claude-fable-5-1", 1_000_000],
    ["claude-opus-4-8", 1_000_000],
    ["claude-haiku-4-5", 200_000],
    ["gemma2:9b", 8_192],
    ["gemma3:4b", 131_072],
    ["grok-2-vision-1212", 8_192],
    ["grok-4.5", 500_000],
    ["grok-4.20-0309-reasoning", 2_000_000],
    ["grok-4-1-fast-reasoning", 2_000_000],
    ["grok-code-fast-1", 256_000],
    ["mimo-v2.5-pro", 1_048_576],
    ["deepseek-flash", 1_000_000],
    ["qwen3.8-max", 1_000_000],
    ["glm-5.3", 1_050_000],
    ["qwen3-coder-plus", 1_000_000],
    ["grok-4-fast-reasoning", 2_000_000],
    ["mystery", undefined],
  ])("%s has the window of its family", (model, window) => expect(familyWindow(model)).toBe(window));
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("looking for a local server", () => {
  test("uses the first server with a chat model, with a short deadline", async () => {
    const silent = await listen(createServer(() => undefined));
    const website = await listen(createServer((_request, response) => response.end("<html>")));
    const llm = await fake({ models: [{ id: "nomic-embed-text" }, { id: "llama3" }] });
    const target = (provider: string, url: string) => ({ provider, label: provider, baseUrl: `${url}/v1` });
    const targets = [target("ollama", silent), target("llamacpp", website), target("vllm", llm.url)];
    expect(await discoverLocal({ targets })).toMatchObject({ provider: "vllm", model: "llama3" });
    const started = Date.now();
    expect(await discoverLocal({ targets: targets.slice(0, 2) })).toBeUndefined();
    expect(Date.now() - started).toBeLessThan(5_000);
  });

  test.each([
    ["ollama", "/api/ps", { models: [{ model: "qwen3:8b", context_length: 4096 }] }],
    ["lmstudio", "/api/v0/models", { data: [{ id: "a" }, { id: "qwen3:8b", state: "loaded" }] }],
    ["lmstudio", "/api/v1/models", { models: [{ key: "q", loaded_instances: [{ id: "qwen3:8b" }] }] }],
  ])("the model in memory is preferred to the first of the list (%s, %s)", async (provider, path, answer) => {
    const list = { data: [{ id: "llama3.2:latest" }, { id: "qwen3:8b" }] };
    const url = await listen(
      createServer((request, response) => {
        const body = request.url === "/v1/models" ? list : request.url === path ? answer : undefined;
        response.writeHead(body ? 200 : 404).end(JSON.stringify(body ?? {}));
      }),
    );
    const targets = [{ provider, label: provider, baseUrl: `${url}/v1` }];
    expect(await discoverLocal({ targets, deadlineMs: 5_000 })).toMatchObject({ model: "qwen3:8b" });
  });
});
