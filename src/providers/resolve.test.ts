import { describe, expect, test } from "vitest";
import { effectiveConfig } from "../../test/kit/effective-config.ts";
import type { JsonObject } from "../core/message.ts";
import { CATALOG, providerByAlias, providerById } from "./catalog.ts";
import { hostAllowed, isLocalUrl, parseHost, providerHosts } from "./keys/key-hosts.ts";
import { type ModelSelection, resolveEndpoint } from "./resolve.ts";
import { readProviderSettings } from "./settings.ts";

type Env = Record<string, string>;

function resolve(ask: ModelSelection, config: JsonObject = {}, env: Env = {}, pooled: string[] = []) {
  return resolveEndpoint(ask, {
    settings: readProviderSettings(effectiveConfig(config), env),
    env,
    pooled: new Set(pooled),
  });
}

function resolveTo(ask: ModelSelection, config: JsonObject = {}, env: Env = {}, pooled: string[] = []) {
  const found = resolve(ask, config, env, pooled);
  if (!found.ok) throw new Error(found.failure.message);
  return found.endpoint;
}

describe("the catalog", () => {
  test("names every provider and alias once", () => {
    const words = CATALOG.flatMap((spec) => [spec.id, ...(spec.aliases ?? [])]);
    expect(new Set(words).size).toBe(words.length);
    expect(CATALOG.length).toBeGreaterThanOrEqual(40);
    for (const word of words) expect(providerById(word) ?? providerByAlias(word)).toBeDefined();
  });

  test.each([
    ["aliyun", "alibaba"],
    ["qwen", "alibaba"],
    ["deep-seek", "deepseek"],
    ["build-nvidia", "nvidia"],
    ["nemotron", "nvidia"],
    ["groq", "groq"],
    ["mistralai", "mistral"],
    ["together-ai", "together"],
    ["fireworks-ai", "fireworks"],
  ])("%s is %s", (word, id) => expect((providerById(word) ?? providerByAlias(word))?.id).toBe(id));

  test("every entry has an address or a reason for having none", () => {
    for (const spec of CATALOG) {
      const reachable = parseHost(spec.baseUrl) !== undefined;
      expect(reachable || spec.instead || spec.urlVars || spec.transport === "offline", spec.id).toBeTruthy();
    }
  });
});

describe("which provider", () => {
  test("an argument wins over the configuration, the configuration over the variable", () => {
    const env = { ANTHROPIC_API_KEY: "sk-ant-api-1", DEEPSEEK_API_KEY: "ds-key-1", HERMES_INFERENCE_PROVIDER: "zai" };
    const config = { model: { provider: "deepseek", default: "deepseek-chat" } };
    expect(resolveTo({ provider: "claude" }, config, env).provider).toBe("anthropic");
    expect(resolveTo({}, config, env)).toMatchObject({ provider: "deepseek", model: "deepseek-chat" });
    const auto = { model: { provider: "auto", default: "" } };
    expect(resolveTo({}, auto, { ...env, GLM_API_KEY: "glm-key" }).provider).toBe("zai");
  });

  test("the gateway's name of a model works with its maker", () => {
    const env = { ANTHROPIC_API_KEY: "sk-ant-api-1" };
    expect(resolveTo({}, { model: "anthropic/claude-sonnet-4.6" }, env).model).toBe("claude-sonnet-4-6");
    const router = { OPENROUTER_API_KEY: "sk-or-1" };
    expect(resolveTo({}, { model: "anthropic/claude-sonnet-4.6" }, router).model).toBe("anthropic/claude-sonnet-4.6");
  });

  test("auto uses the first key that is set; the model may be plain text", () => {
    expect(resolveTo({}, { model: "some/model" }, { OPENROUTER_API_KEY: "sk-or-1" })).toMatchObject({
      provider: "openrouter",
      model: "some/model",
    });
    expect(resolveTo({}, {}, { GEMINI_API_KEY: "g-key-1" }).baseUrl).toMatch(/\/openai$/);
    expect(resolveTo({}, {}, {}, ["anthropic"]).provider).toBe("anthropic");
  });

  test("OPENAI_API_KEY is an OpenRouter key only if it has that prefix", () => {
    expect(resolveTo({}, {}, { OPENAI_API_KEY: "sk-proj-1" }).provider).toBe("openai");
    expect(resolveTo({}, {}, { OPENAI_API_KEY: "sk-or-v1-1" }).provider).toBe("openrouter");
  });

  test("short secrets and placeholders are not keys", () => {
    const nothing = resolve({}, {}, {});
    expect(nothing).toMatchObject({ ok: false, noProvider: true, failure: { kind: "not_configured" } });
    for (const key of ["abc", "your-api-key", "YOUR_OPENROUTER_KEY", "sk-or-v1-xxxx", "sk-…", "<key>", "se cret-123"]) {
      const found = resolve({}, {}, { OPENROUTER_API_KEY: key });
      expect(found.ok ? key : found.failure).toMatchObject({ kind: "auth" });
      expect(found.ok ? key : found.failure.message).toContain("OPENROUTER_API_KEY");
    }
    expect(resolveTo({}, {}, { OPENROUTER_API_KEY: "sk-or-v1-0a1b2c3d4e5f" }).provider).toBe("openrouter");
  });

  test("unknown names get a suggestion; unsupported sign-ins name the alternative", () => {
    const typo = resolve({ provider: "antropic" });
    expect(typo.ok ? "" : typo.failure.message).toContain('did you mean "anthropic"');
    for (const provider of ["codex", "bedrock", "copilot-acp", "gemini-cli", "nous"]) {
      const found = resolve({ provider });
      expect(found.ok ? "" : found.failure.hint).toMatch(/^Instead, (use|set) /);
    }
    expect(resolveTo({ provider: "nous", model: "x" }, {}, { NOUS_API_KEY: "nous-key" }).provider).toBe("nous");
  });
});

describe("named endpoints", () => {
  const config = {
    providers: { box: { base_url: "http://10.0.0.5:8000/v1", model: "qwen", context_length: 16_384 } },
    custom_providers: [
      { name: "My Work", base_url: "https://llm.work.example/v1", key_env: "WORK_KEY", model: "gpt-x" },
    ],
  };

  test("are found by name, by custom:name, and shadow aliases but not ids", () => {
    expect(resolveTo({ provider: "box" }, config)).toMatchObject({
      provider: "custom:box",
      model: "qwen",
      contextLength: 16_384,
      local: true,
    });
    const work = resolveTo({ provider: "custom:my-work" }, config, { WORK_KEY: "work-key" });
    expect(work.keys).toMatchObject({ fixed: "work-key", pool: "custom:my-work" });
    expect(resolveTo({ model: "custom:box:other" }, config)).toMatchObject({ provider: "custom:box", model: "other" });
    const shadow = {
      providers: {
        claude: { base_url: "http://127.0.0.1:9/v1", model: "m" },
        anthropic: { base_url: "http://127.0.0.1:9/v1", model: "m" },
      },
    };
    expect(resolveTo({ provider: "claude" }, shadow).provider).toBe("custom:claude");
    expect(resolveTo({ provider: "anthropic" }, shadow, { ANTHROPIC_API_KEY: "sk-ant-api" }).provider).toBe(
      "anthropic",
    );
    expect(resolveTo({ provider: "custom:anthropic" }, shadow).provider).toBe("custom:anthropic");
  });

  test("a base URL without a provider is an endpoint without a key", () => {
    const local = resolveTo(
      {},
      { model: { default: "llama3", base_url: "http://localhost:11434/v1" } },
      { OPENROUTER_API_KEY: "sk-or-1" },
    );
    expect(local).toMatchObject({ provider: "custom", model: "llama3", keys: { variables: [], optional: true } });
  });

  test("aliases select model and provider, in any letter case", () => {
    const aliased = {
      model_aliases: { Fast: { model: "grok-4-fast", provider: "xai" } },
      model: { aliases: { big: "anthropic/claude-opus-4-6" } },
    };
    const env = { XAI_API_KEY: "xai-key", ANTHROPIC_API_KEY: "sk-ant-api-1" };
    expect(resolveTo({ model: "fast" }, aliased, env)).toMatchObject({ provider: "xai", model: "grok-4-fast" });
    expect(resolveTo({ model: "BIG" }, aliased, env)).toMatchObject({
      provider: "anthropic",
      model: "claude-opus-4-6",
    });
  });
});

describe("dialect", () => {
  test.each([
    ["openai", "gpt-4o", "codex_responses"],
    ["anthropic", "claude-sonnet-4-6", "anthropic_messages"],
    ["opencode-zen", "claude-opus-4-6", "anthropic_messages"],
    ["opencode-zen", "gpt-5", "codex_responses"],
    ["opencode-zen", "kimi-k2", "chat_completions"],
    ["opencode-go", "minimax-m2", "anthropic_messages"],
    ["copilot", "gpt-5", "codex_responses"],
    ["copilot", "gpt-5-mini", "chat_completions"],
    ["openrouter", "openai/gpt-5.4", "codex_responses"],
    ["openrouter", "anthropic/claude-sonnet-4.6", "chat_completions"],
    ["minimax", "MiniMax-M2.7", "anthropic_messages"],
  ])("%s calls %s with %s", (provider, model, transport) => {
    const spec = providerById(provider);
    const env = { [spec?.keyVars?.[0] ?? ""]: provider === "openrouter" ? "sk-or-key" : "some-key" };
    expect(resolveTo({ provider, model }, {}, env).transport).toBe(transport);
  });

  test("an explicit mode wins, but only for the provider it was set for", () => {
    const config = { model: { provider: "openai", api_mode: "chat_completions", default: "gpt-4o" } };
    const env = { OPENAI_API_KEY: "sk-proj-1", XAI_API_KEY: "xai-key" };
    expect(resolveTo({}, config, env).transport).toBe("chat_completions");
    expect(resolveTo({ provider: "xai", model: "grok-4" }, config, env).transport).toBe("codex_responses");
  });

  test("Kimi's coding keys are sent to their own address", () => {
    expect(resolveTo({ provider: "kimi" }, {}, { KIMI_API_KEY: "sk-kimi-abc" })).toMatchObject({
      baseUrl: "https://api.kimi.com/coding",
      transport: "anthropic_messages",
    });
  });

  test("only OpenRouter gets routing and cache headers", () => {
    const config = { provider_routing: { sort: "price", only: ["x"] }, openrouter: { response_cache_ttl: 600 } };
    const found = resolveTo({ provider: "openrouter" }, config, {
      OPENROUTER_API_KEY: "sk-or-1",
      DEEPSEEK_API_KEY: "ds-key",
    });
    expect(found.headers["X-OpenRouter-Cache-TTL"]).toBe("600");
    expect(found.extraBody).toEqual({ provider: { sort: "price", only: ["x"] } });
    expect(resolveTo({ provider: "deepseek" }, config, { DEEPSEEK_API_KEY: "ds-key" }).extraBody).toEqual({});
  });
});

describe("keys are bound to hosts", () => {
  /** Every key variable of the catalog set at once, each with a value that names it. */
  const env: Env = Object.fromEntries(
    CATALOG.flatMap((spec) => (spec.keyVars ?? []).map((name) => [name, `secret-of-${name}`])),
  );
  const pooled = CATALOG.map((spec) => spec.id);
  const unknownHosts = [
    "https://evil.example/v1",
    "https://openrouter.ai.evil.example/v1",
    "https://evil.example/openrouter.ai",
    "http://api.anthropic.com",
    "https://api.anthropic.com.evil.example",
  ];

  function sendable(endpoint: {
    keys: { fixed?: string | undefined; pool: string | null; variables: readonly { variable: string }[] };
  }) {
    return {
      fixed: endpoint.keys.fixed,
      pool: endpoint.keys.pool,
      variables: endpoint.keys.variables.map((key) => key.variable),
    };
  }

  test("no key of the catalog is sent to an unknown host, however the address is set", () => {
    for (const spec of CATALOG) {
      for (const url of unknownHosts) {
        const asks: [ModelSelection, JsonObject][] = [
          [{ provider: spec.id, model: "m", baseUrl: url }, {}],
          [{ model: "m" }, { model: { provider: spec.id, base_url: url } }],
          [{ model: "m" }, { model: { base_url: url } }],
          [{ model: "m", baseUrl: url }, {}],
          [{ provider: "custom:x", model: "m" }, { providers: { x: { base_url: url } } }],
          [{ model: "a" }, { model_aliases: { a: { model: "m", provider: spec.id, base_url: url } } }],
        ];
        for (const [ask, config] of asks) {
          const found = resolve(ask, config, env, pooled);
          if (!found.ok || found.endpoint.transport === "offline") continue;
          const keys = sendable(found.endpoint);
          expect([spec.id, url, keys.fixed, keys.variables]).toEqual([spec.id, url, undefined, []]);
          expect(keys.pool === null || keys.pool.startsWith("custom:"), `${spec.id} ${url}`).toBe(true);
        }
      }
    }
  });

  test("keys are sent to the hosts of their provider only", () => {
    for (const spec of CATALOG) {
      const found = resolve({ provider: spec.id, model: "m" }, {}, env, pooled);
      if (!found.ok || found.endpoint.transport === "offline") continue;
      const host = parseHost(found.endpoint.baseUrl) ?? "";
      expect(hostAllowed(host, providerHosts(spec)) || isLocalUrl(found.endpoint.baseUrl), spec.id).toBe(true);
      for (const key of found.endpoint.keys.variables) expect(spec.keyVars).toContain(key.variable);
    }
  });

  test("strict providers do not send keys to their URL variable; others do", () => {
    expect(
      resolve(
        { provider: "openrouter", model: "m" },
        {},
        { OPENROUTER_API_KEY: "sk-or-1", OPENROUTER_BASE_URL: "https://evil.example/v1" },
      ).ok,
    ).toBe(false);
    expect(
      resolve(
        { provider: "ollama-cloud", model: "m" },
        {},
        { OLLAMA_API_KEY: "olla-key", OLLAMA_BASE_URL: "http://127.0.0.1:11434/v1" },
      ).ok,
    ).toBe(false);
    expect(
      resolveTo(
        { provider: "anthropic" },
        {},
        { ANTHROPIC_API_KEY: "sk-ant-api-1", ANTHROPIC_BASE_URL: "https://proxy.example" },
      ).keys.variables,
    ).toHaveLength(1);
  });

  test("when a key is not sent, the hint says how to allow it", () => {
    const found = resolve(
      {},
      { model: { provider: "anthropic", base_url: "https://proxy.example" } },
      { ANTHROPIC_API_KEY: "sk-ant-api-1" },
    );
    expect(found.ok ? "" : found.failure.hint).toContain("model.api_key");
    const meant = resolveTo(
      {},
      { model: { provider: "anthropic", base_url: "https://proxy.example", key_env: "ANTHROPIC_API_KEY" } },
      { ANTHROPIC_API_KEY: "sk-ant-api-1" },
    );
    expect(meant.keys).toMatchObject({ fixed: "sk-ant-api-1", pool: null });
  });

  test("a configured key is not sent to another address", () => {
    const config = {
      model: { provider: "custom", base_url: "https://a.example/v1", api_key: "key-of-a", default: "m" },
    };
    expect(resolveTo({}, config).keys.fixed).toBe("key-of-a");
    expect(resolveTo({ provider: "custom", baseUrl: "https://b.example/v1" }, config).keys.fixed).toBeUndefined();
    expect(
      resolveTo({ provider: "anthropic" }, config, { ANTHROPIC_API_KEY: "sk-ant-api-1" }).keys.fixed,
    ).toBeUndefined();
    const asked = resolve({ apiKey: "some-unknown-key" }, {});
    expect(asked.ok ? "" : asked.failure.hint).toContain("--provider");
  });

  test("a custom endpoint at a known host may use that provider's key", () => {
    const config = { providers: { oa: { base_url: "https://api.openai.com/v1", model: "gpt-4o" } } };
    expect(
      resolveTo({ provider: "oa" }, config, { OPENAI_API_KEY: "sk-proj-1", OPENROUTER_API_KEY: "sk-or-1" }).keys
        .variables,
    ).toEqual([{ variable: "OPENAI_API_KEY", value: "sk-proj-1" }]);
  });
});
