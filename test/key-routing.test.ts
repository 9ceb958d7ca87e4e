// A key goes to the address it was configured for (scheme, host and port), and a key that cannot be one is an error.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { type RecordingServer, startRecordingServer } from "./servers/recording-server.ts";

const PRIMARY_KEY = "primary-key-0123456789";
const FALLBACK_KEY = "fallback-key-0123456789";

let home: TempHome;
const servers: RecordingServer[] = [];
beforeEach(() => {
  home = tempHome();
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  home.remove();
});

async function server(options: Parameters<typeof startRecordingServer>[0] = {}): Promise<RecordingServer> {
  const started = await startRecordingServer(options);
  servers.push(started);
  return started;
}

function configure(config: object): void {
  writeFileSync(join(home.path, "config.yaml"), JSON.stringify(config));
}

function ask(env: { [name: string]: string } = {}, args = ["-z", "hello"]) {
  return runHermes(args, { home: home.path, env: { HERMES_STREAM_RETRIES: "0", ...env } });
}

const QUICK = { agent: { api_max_retries: 1 } };

function main(url: string, more: object = {}): object {
  return { default: "main-model", provider: "custom", base_url: url, context_length: 128000, ...more };
}

describe("the key of the primary does not reach a fallback on another port", () => {
  const entry = (url: string, more: object = {}) => ({ provider: "custom", model: "spare", base_url: url, ...more });

  test.each([
    ["fallback_providers without a key", (url: string) => ({ fallback_providers: [entry(url)] }), ""],
    ["fallback_model without a key", (url: string) => ({ fallback_model: entry(url) }), ""],
    [
      "a fallback with its own key",
      (url: string) => ({ fallback_providers: [entry(url, { api_key: FALLBACK_KEY })] }),
      `Bearer ${FALLBACK_KEY}`,
    ],
    [
      "a fallback with a short key",
      (url: string) => ({ fallback_providers: [entry(url, { api_key: "abc" })] }),
      "Bearer abc",
    ],
    [
      "a fallback whose key is in a variable",
      (url: string) => ({ fallback_providers: [entry(url, { key_env: "SPARE_KEY" })] }),
      `Bearer ${FALLBACK_KEY}`,
    ],
    [
      "a named provider",
      (url: string) => ({
        providers: { spare: { base_url: url, model: "spare", key_env: "SPARE_KEY" } },
        fallback_providers: [{ provider: "spare", model: "spare" }],
      }),
      `Bearer ${FALLBACK_KEY}`,
    ],
    [
      "a custom provider without a key",
      (url: string) => ({
        custom_providers: [{ name: "spare", base_url: url, model: "spare" }],
        fallback_providers: [{ provider: "custom:spare", model: "spare" }],
      }),
      "",
    ],
  ])("%s", async (_, config, expected) => {
    const [first, second] = [await server({ status: 500 }), await server()];
    configure({ model: main(first.url, { api_key: PRIMARY_KEY }), ...config(second.url), ...QUICK });
    const run = await ask({ SPARE_KEY: FALLBACK_KEY, OPENAI_API_KEY: "sk-proj-not-for-loopback" });
    expect(run.stdout).toContain("All fine.");
    expect(first.keys()).toEqual([`Bearer ${PRIMARY_KEY}`]);
    expect(second.keys()).toEqual([expected]);
  });

  test("a stored key of a named provider stays with the address that it was added for", async () => {
    const [first, second] = [await server(), await server()];
    const config = (url: string) => ({
      providers: { lab: { base_url: url, model: "m" } },
      model: { provider: "lab", default: "m", context_length: 128000 },
      ...QUICK,
    });
    configure(config(first.url));
    expect((await ask({}, ["auth", "add", "lab", "--api-key", PRIMARY_KEY])).code).toBe(0);
    expect((await ask()).stdout).toContain("All fine.");
    expect(first.keys()).toEqual([`Bearer ${PRIMARY_KEY}`]);
    configure(config(second.url));
    const moved = await ask();
    expect([moved.code, moved.stderr]).toEqual([1, expect.stringContaining("added for another address")]);
    expect(second.visits).toEqual([]);
  });
});

describe("the provider's own variables", () => {
  test("follow its URL variable and nothing else", async () => {
    const [own, other] = [await server({ status: 500 }), await server()];
    configure({
      model: { provider: "deepseek", default: "deepseek-chat", context_length: 128000 },
      fallback_providers: [{ provider: "deepseek", model: "spare", base_url: other.url }],
      ...QUICK,
    });
    const run = await ask({ DEEPSEEK_API_KEY: PRIMARY_KEY, DEEPSEEK_BASE_URL: own.url });
    expect(own.keys()).toEqual([`Bearer ${PRIMARY_KEY}`]);
    expect(other.keys().join()).not.toContain(PRIMARY_KEY);
    expect(run.code).toBe(1);
  });

  test("do not go to another port of the provider's host", async () => {
    configure({ model: { provider: "custom", default: "m", base_url: "https://api.openai.com:8443/v1" }, ...QUICK });
    const shown = await ask({ OPENAI_API_KEY: "sk-proj-0123456789" }, ["model", "show", "--json"]);
    expect(shown.code).toBe(0);
    configure({ model: { provider: "deepseek", default: "m", base_url: "https://api.deepseek.com:8443" }, ...QUICK });
    const refused = await ask({ DEEPSEEK_API_KEY: PRIMARY_KEY });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("is not sent to api.deepseek.com")]);
  });
});

test("side models get their own key or none", async () => {
  const [first, second] = [await server(), await server({ text: "A title" })];
  for (const [extra, expected] of [
    [{}, ""],
    [{ api_key: FALLBACK_KEY }, `Bearer ${FALLBACK_KEY}`],
  ] as const) {
    configure({
      model: main(first.url, { api_key: PRIMARY_KEY }),
      auxiliary: { title_generation: { provider: "custom", model: "small", base_url: second.url, ...extra } },
      ...QUICK,
    });
    expect((await ask({}, ["chat", "-q", "please name this conversation"])).stdout).toContain("All fine.");
    expect(second.visits.at(-1)?.keys).toBe(expected);
  }
  expect(first.keys()).toEqual([`Bearer ${PRIMARY_KEY}`]);
});

test("a redirect is not followed with a key, by a call or by a test of the model", async () => {
  const target = await server();
  for (const status of [301, 302, 307, 308]) {
    const first = await server({ status, location: target.url });
    configure({ model: main(first.url, { api_key: PRIMARY_KEY }), ...QUICK });
    expect((await ask()).code).toBe(1);
    expect((await ask({}, ["model", "test"])).code).toBe(1);
  }
  expect(target.visits).toEqual([]);
});

describe("a key that cannot be one is an error that names its setting", () => {
  const placeholders = [
    "your-key-here",
    "changeme",
    "sk-...",
    "***",
    "<API_KEY>",
    "xxxx",
    "key with space",
    "a\tb1234",
  ];

  test.each(placeholders)("model.api_key: %j", async (key) => {
    const first = await server();
    configure({ model: main(first.url, { api_key: key }), ...QUICK });
    for (const args of [
      ["-z", "hello"],
      ["chat", "-q", "hello"],
      ["model", "test"],
    ]) {
      const run = await ask({}, args);
      expect([run.code, run.stderr]).toEqual([1, expect.stringContaining("model.api_key in config.yaml is not a key")]);
      expect(run.stderr).not.toContain("    at ");
    }
    expect(first.visits).toEqual([]);
  });

  test("in a fallback, although the primary has one", async () => {
    const [first, second] = [await server({ status: 500 }), await server()];
    configure({
      model: main(first.url, { api_key: PRIMARY_KEY }),
      fallback_providers: [{ provider: "custom", model: "spare", base_url: second.url, api_key: "changeme" }],
      ...QUICK,
    });
    const run = await ask();
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining("fallback_providers.0.api_key")]);
    expect(second.visits).toEqual([]);
  });

  test("in a side task", async () => {
    const [first, second] = [await server(), await server()];
    configure({
      model: main(first.url, { api_key: PRIMARY_KEY }),
      auxiliary: { compression: { provider: "custom", model: "s", base_url: second.url, api_key: "***" } },
      ...QUICK,
    });
    const run = await ask();
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining("auxiliary.compression.api_key")]);
  });

  test("in a named provider, by value and by the variable that it names", async () => {
    const first = await server();
    const model = { provider: "lab", default: "m", context_length: 128000 };
    configure({ model, providers: { lab: { base_url: first.url, api_key: `$${"{LAB_KEY}"}` } }, ...QUICK });
    expect((await ask()).stderr).toContain("providers.lab.api_key in config.yaml is not a key: it refers to LAB_KEY");
    configure({ model, providers: { lab: { base_url: first.url, key_env: "LAB_KEY" } }, ...QUICK });
    for (const value of [undefined, "", "changeme"]) {
      const run = await ask(value === undefined ? {} : { LAB_KEY: value });
      expect(run.code).toBe(1);
      expect(run.stderr).toContain("LAB_KEY, which providers.lab.key_env in config.yaml names, does not hold a key");
      expect(run.stderr).toContain(join(home.path, ".env"));
    }
    expect(first.visits).toEqual([]);
  });

  test("in a variable, with and without a provider that was chosen", async () => {
    writeFileSync(join(home.path, ".env"), "OPENROUTER_API_KEY=changeme\n");
    for (const config of [{}, { model: { provider: "openrouter", default: "a/b" } }, { model: "a/b" }]) {
      configure(config);
      const run = await ask();
      expect([run.code, run.stdout]).toEqual([1, ""]);
      expect(run.stderr).toContain("OPENROUTER_API_KEY is set, but it is not a key of OpenRouter: it is a placeholder");
      expect(run.stderr).toContain(join(home.path, ".env"));
    }
    const short = await ask({ ANTHROPIC_API_KEY: "abc" }, ["-z", "hi", "--provider", "anthropic"]);
    expect([short.code, short.stderr]).toEqual([1, expect.stringContaining("it is too short")]);
  });

  test("in auth.json", async () => {
    const entry = { id: "abc123", label: "old", auth_type: "api_key", priority: 0, source: "manual" };
    mkdirSync(home.path, { recursive: true });
    const pool = { openrouter: [{ ...entry, access_token: "your-key-here" }] };
    writeFileSync(join(home.path, "auth.json"), JSON.stringify({ version: 1, credential_pool: pool }));
    const run = await ask();
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining('The key "old" of OpenRouter in auth.json')]);
    const added = await ask({}, ["auth", "add", "xai", "--api-key", "your-key-here"]);
    expect([added.code, added.stderr]).toEqual([1, expect.stringContaining("it is a placeholder")]);
  });
});

test("choosing another provider does not send the old key to it", async () => {
  const first = await server();
  configure({ model: main(first.url, { api_key: PRIMARY_KEY }) });
  const run = await ask({ XAI_API_KEY: "xai-key-0123456789" }, ["model", "set", "grok-4", "--provider", "xai"]);
  expect([run.code, run.stderr]).toEqual([2, expect.stringContaining("model.api_key")]);
  expect(readFileSync(join(home.path, "config.yaml"), "utf8")).toContain(first.url);
});
