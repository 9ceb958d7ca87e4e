import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { loadConfig } from "./load.ts";

let path: string;
beforeEach(() => {
  path = tempDir("hermes-config-");
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

async function load(text?: string, env: Record<string, string> = {}, overrides?: Record<string, unknown>) {
  if (text !== undefined) writeFileSync(join(path, "config.yaml"), text);
  return loadConfig({ home: { path, env }, ...(overrides ? { overrides } : {}) });
}

const messages = (loaded: Awaited<ReturnType<typeof load>>) => loaded.warnings.map(({ message }) => message);

describe("defaults", () => {
  it("are complete and without warnings when there is no file", async () => {
    const { config, warnings, raw } = await load();
    expect(warnings).toEqual([]);
    expect(raw).toEqual({});
    expect(config.compression).toEqual({
      enabled: true,
      threshold: 0.5,
      target_ratio: 0.2,
      protect_last_n: 20,
      protect_first_n: 3,
      hygiene_hard_message_limit: 400,
    });
    expect(config.sessions.index).toBe("inline");
    expect(config.approvals.gateway_timeout).toBe(300);
    expect(config.budget).toEqual({ daily_usd: null, session_usd: null, job_usd: null });
    expect(config.model.provider).toBe("auto");
  });

  it("have every side task with its deadline", async () => {
    const { config } = await load();
    const deadlines = Object.entries(config.auxiliary).map(([task, { timeout }]) => [task, timeout]);
    expect(Object.fromEntries(deadlines)).toEqual({
      vision: 120,
      web_extract: 360,
      compression: 120,
      session_search: 30,
      skills_hub: 30,
      approval: 30,
      mcp: 30,
      title_generation: 30,
      triage_specifier: 120,
      kanban_decomposer: 180,
      profile_describer: 60,
      curator: 600,
      goal_judge: 30,
    });
  });
});

describe("layers", () => {
  it("merge maps and replace lists", async () => {
    const { config } = await load("display:\n  runtime_footer:\n    fields: [cwd]\n");
    expect(config.display.runtime_footer).toEqual({ enabled: false, fields: ["cwd"] });
    expect(config.display.skin).toBe("default");
  });

  it("treat an empty text in the file as unset", async () => {
    const env = { HERMES_TIMEZONE: "Asia/Tokyo" };
    expect((await load('timezone: ""\n', env)).config.timezone).toBe("Asia/Tokyo");
    expect((await load("timezone: Europe/Paris\n", env)).config.timezone).toBe("Europe/Paris");
  });

  it("apply in the order overrides, environment, file, defaults", async () => {
    const text = "auxiliary: {vision: {model: file, provider: file}}\nagent: {max_turns: 5}\n";
    const env = { AUXILIARY_VISION_MODEL: "env", HERMES_MAX_ITERATIONS: "7", AUXILIARY_GOAL_JUDGE_PROVIDER: "env" };
    const { config } = await load(text, env, { auxiliary: { vision: { provider: "runtime" } } });
    expect(config.auxiliary.vision).toMatchObject({ model: "env", provider: "runtime" });
    expect(config.auxiliary.goal_judge.provider).toBe("env");
    expect(config.agent.max_turns).toBe(5);
    rmSync(join(path, "config.yaml"));
    expect((await load(undefined, env)).config.agent.max_turns).toBe(7);
  });

  it("expand references and keep those that are not set", async () => {
    const text = `browser: {cdp_url: 'ws://\${HOST}:\${PORT}/x', command_timeout: '\${N}'}\nterminal: {cwd: '$HOME/\${GONE}'}\n`;
    const { config } = await load(text, { HOST: "h", PORT: "1", N: "45", HOME: "/u" });
    expect(config.browser).toMatchObject({ cdp_url: "ws://h:1/x", command_timeout: 45 });
    expect(config.terminal.cwd).toBe(`$HOME/\${GONE}`);
  });

  it("can ignore the file", async () => {
    const { config } = await load("timezone: UTC\n", { HERMES_IGNORE_USER_CONFIG: "1" });
    expect(config.timezone).toBe("");
  });
});

describe("older shapes", () => {
  it("are converted without a warning", async () => {
    const text = `model: openai/gpt-5
provider: openrouter
base_url: https://x/v1
max_turns: 12
custom_providers:
  - {name: My Box, base_url: 'http://localhost:9/v1', model: m, api_mode: chat_completions}
fallback_model: {provider: a, model: b}
display: {tui_mouse: no, tool_progress_overrides: {telegram: off}}
terminal: {env_type: docker}
`;
    const loaded = await load(text);
    expect(messages(loaded)).toEqual([]);
    const { config } = loaded;
    expect(config.model).toMatchObject({ default: "openai/gpt-5", provider: "openrouter", base_url: "https://x/v1" });
    expect(config.agent.max_turns).toBe(12);
    expect(config.providers["my-box"]).toMatchObject({ api: "http://localhost:9/v1", default_model: "m" });
    expect(config.fallback_providers).toEqual([{ provider: "a", model: "b" }]);
    expect(config.display.mouse_tracking).toBe(false);
    expect(config.display.platforms.telegram?.tool_progress).toBe("off");
    expect(config.terminal.backend).toBe("docker");
  });

  it("keep long ids exact and read YAML 1.1 words", async () => {
    const { config } = await load(
      "approvals: {mode: off}\ndiscord: {allowed_channels: [1234567890123456789]}\nworktree: yes\n",
    );
    expect(config.approvals.mode).toBe("off");
    expect(config.discord.allowed_channels).toEqual(["1234567890123456789"]);
    expect(config.worktree).toBe(true);
  });
});

describe("mistakes", () => {
  it("report the path, the value, what is allowed, and the line", async () => {
    const loaded = await load(
      "compression:\n  threshold: abc\n  protect_last_n: -1\napprovals:\n  mode: maybe\nagent: 5\n",
    );
    expect(messages(loaded)).toEqual([
      "agent: found 5; allowed is a map; ignored",
      'compression.threshold: found the text "abc"; allowed is a number above 0 and below 1; using 0.5',
      "compression.protect_last_n: found -1; allowed is a whole number of at least 0; using 20",
      'approvals.mode: found the text "maybe"; allowed is one of manual, smart, off; using "manual"',
    ]);
    expect(loaded.warnings.map(({ line }) => line)).toEqual([6, 2, 3, 5]);
    expect(loaded.config.compression.threshold).toBe(0.5);
    expect(loaded.config.agent.max_turns).toBe(90);
  });

  it("suggest a similar key", async () => {
    const found = messages(await load("compresion: {}\ncompression: {treshold: 0.4}\nredact_secrets: no\nqwxz: 1\n"));
    expect(found).toEqual([
      "compression.treshold is not a known key; did you mean compression.threshold?",
      "compresion is not a known key; did you mean compression?",
      "redact_secrets is not a known key; did you mean security.redact_secrets?",
      "qwxz is not a known key",
    ]);
  });

  it.each([
    ["a: [1\nb: 2\n", 2],
    ["a:\n\t- b\n", 2],
    ["a: 'x\n", 2],
    ["a: 1\n b: 2\n", 2],
  ])("in the YAML give the defaults and one warning with the line: %j", async (text) => {
    const { config, warnings } = await load(text);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({ kind: "syntax", line: expect.any(Number), column: expect.any(Number) });
    expect(config.agent.max_turns).toBe(90);
    expect(readFileSync(join(path, "config.yaml"), "utf8")).toBe(text);
  });

  it("treat a file that is no map as empty", async () => {
    expect((await load("- a\n- b\n")).warnings).toHaveLength(1);
    expect((await load("# only a comment\n")).warnings).toEqual([]);
    expect((await load("display:\n")).warnings).toEqual([]);
  });

  it("never show secrets", async () => {
    const key = "sk-or-v1-abcdef0123456789abcdef";
    const texts = [
      `auxiliary: {vision: {api_key: [${key}]}}\n`,
      `approvals: {mode: ${key}}\n`,
      `model: {api_key: "${key}\n`,
      `compression: {threshold: ${key}}\nmy_token_${key}: 1\n`.replace(`my_token_${key}`, "my_token"),
      `delegation: {api_key: {a: ${key}}}\n`,
    ];
    for (const text of texts) {
      const loaded = await load(text);
      expect(loaded.warnings.length).toBeGreaterThan(0);
      expect(JSON.stringify(loaded.warnings)).not.toContain("abcdef");
    }
  });

  it("are not hidden by a variable of the environment for a key of the same section", async () => {
    const env = { TERMINAL_TIMEOUT: "30", TERMINAL_CONTAINER: "host" };
    const { blocking } = await load("terminal: bubblewrap\n", env);
    expect(blocking.map((each) => each.path)).toEqual(["terminal"]);
  });

  it("in the environment are reported and ignored", async () => {
    const loaded = await load("", { HERMES_MAX_ITERATIONS: "many" });
    expect(messages(loaded)[0]).toContain("HERMES_MAX_ITERATIONS (for agent.max_turns)");
    expect(loaded.config.agent.max_turns).toBe(90);
  });

  it("in custom endpoints are explained", async () => {
    const found = messages(
      await load(
        "providers: {a: {baseUrl: localhost}, b: {}}\ncustom_providers: {x: 1}\nfallback_model: {provider: a}\n",
      ),
    );
    expect(found.join("\n")).toContain("write it as base_url");
    expect(found.join("\n")).toContain("providers.a.api is not an address");
    expect(found.join("\n")).toContain("providers.b has no address");
    expect(found.join("\n")).toContain("custom_providers must be a list");
    expect(found.join("\n")).toContain("fallback_model needs provider and model");
  });

  it("with permissions result in the defaults", async () => {
    writeFileSync(join(path, "config.yaml"), "timezone: UTC\n");
    chmodSync(join(path, "config.yaml"), 0);
    if (process.getuid?.() !== 0) expect((await load()).warnings[0]).toMatchObject({ kind: "unreadable" });
  });

  it("of any kind never throw", async () => {
    const key = fc.constantFrom(
      "model",
      "agent",
      "providers",
      "compression",
      "threshold",
      "x",
      "hooks",
      "platforms",
      "api_key",
    );
    const tree = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        fc.jsonValue({ maxDepth: 1 }),
        fc.dictionary(key, tie("node")),
        fc.array(tie("node")),
      ),
    })).node;
    await fc.assert(
      fc.asyncProperty(fc.dictionary(key, tree), async (value) => {
        const { config } = await load(JSON.stringify(value));
        expect(typeof config.compression.threshold).toBe("number");
        expect(typeof config.model.default).toBe("string");
      }),
      { numRuns: 100 },
    );
  });
});

it("reads the file again when it changed", async () => {
  const cache = {};
  writeFileSync(join(path, "config.yaml"), "timezone: UTC\n");
  const home = { path, env: {} };
  expect((await loadConfig({ home, cache })).config.timezone).toBe("UTC");
  writeFileSync(join(path, "config.yaml"), "timezone: Asia/Tokyo\n");
  expect((await loadConfig({ home, cache })).config.timezone).toBe("Asia/Tokyo");
  rmSync(join(path, "config.yaml"));
  expect((await loadConfig({ home, cache })).config.timezone).toBe("");
});
