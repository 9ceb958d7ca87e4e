import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runHermes } from "../../test/kit/run-hermes.ts";
import { type FakeLlm, startFakeLlm, status, text, usage } from "../../test/servers/fake-llm.ts";

let home: string;
let llm: FakeLlm | undefined;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "hermes-models-"));
});
afterEach(async () => {
  await llm?.close();
  llm = undefined;
  await rm(home, { recursive: true, force: true });
});

const SECRET = "sk-or-v1-very-secret-0123456789";

function hermes(args: string[], extra: { stdin?: string; env?: Record<string, string> } = {}) {
  return runHermes(args, { home, ...extra });
}

describe("hermes auth", () => {
  test("adds a key from a pipe, lists, resets and removes it, and never shows it", async () => {
    const added = await hermes(["auth", "add", "openrouter", "--label", "work"], { stdin: `${SECRET}\n` });
    expect([added.code, added.stdout]).toEqual([0, expect.stringContaining('Added key "work" for OpenRouter')]);
    const listed = await hermes(["auth", "list"]);
    expect(listed.stdout).toMatch(/openrouter +1 +work +…6789 +manual/);
    const state = await hermes(["auth", "status", "openrouter", "--json"]);
    expect(state.code).toBe(0);
    for (const run of [added, listed, state]) expect(run.stdout + run.stderr).not.toContain(SECRET);
    expect((await hermes(["auth", "reset", "openrouter"])).stdout).toContain("No key was paused");
    expect((await hermes(["auth", "remove", "openrouter", "work"])).stdout).toContain('Removed key "work"');
    expect((await hermes(["auth", "status", "openrouter"])).code).toBe(1);
    expect(JSON.parse(await readFile(join(home, "auth.json"), "utf8")).credential_pool.openrouter).toEqual([]);
  });

  test("a removed variable stays removed", async () => {
    const env = { ANTHROPIC_API_KEY: "sk-ant-api-12345678" };
    expect((await hermes(["auth", "list"], { env })).stdout).toContain("env:ANTHROPIC_API_KEY");
    expect((await hermes(["auth", "remove", "claude", "1"], { env })).code).toBe(0);
    expect((await hermes(["auth", "list"], { env })).stdout).toContain("No keys");
    const shown = await hermes(["model", "show", "--provider", "anthropic"], { env });
    expect([shown.code, shown.stderr]).toEqual([1, expect.stringContaining("No key for Anthropic")]);
  });

  test("wrong names and missing keys are explained", async () => {
    const typo = await hermes(["auth", "add", "antropic"], { stdin: SECRET });
    expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining('did you mean "anthropic"')]);
    const signIn = await hermes(["auth", "add", "openai-codex"], { stdin: SECRET });
    expect(signIn.stderr).toContain("use `openai` with OPENAI_API_KEY");
    expect((await hermes(["auth", "add", "xai"], { stdin: "" })).stderr).toContain("no key was given");
    expect((await hermes(["auth", "remove", "xai", "9"])).stderr).toContain('no key "9"');
  });
});

describe("hermes fallback", () => {
  test("adds in order, lists with problems, removes and clears; other fields survive", async () => {
    await writeFile(
      join(home, "config.yaml"),
      "# mine\nagent:\n  max_turns: 30\nfallback_model:\n  provider: ollama\n  model: qwen3:8b\n  region: north\n",
    );
    const env = { ANTHROPIC_API_KEY: "sk-ant-api-12345678" };
    const added = await hermes(["fallback", "add", "claude-haiku-5-5", "--provider", "anthropic", "--place", "1"], {
      env,
    });
    expect([added.code, added.stdout]).toEqual([0, "Fallback 1 is now anthropic/claude-haiku-5-5.\n"]);
    const keyless = await hermes(["fallback", "add", "groq", "openai/gpt-oss-120b"], { env });
    expect([keyless.code, keyless.stderr]).toEqual([0, expect.stringContaining("No key for Groq")]);
    const written = await readFile(join(home, "config.yaml"), "utf8");
    expect(written).toMatch(/# mine[\s\S]*region: north/);
    expect(written).not.toContain("fallback_model");
    const rows = JSON.parse((await hermes(["fallback", "list", "--json"], { env })).stdout);
    expect(rows).toMatchObject([
      { place: 1, provider: "anthropic", problem: null },
      { place: 2, provider: "ollama", model: "qwen3:8b" },
      { place: 3, provider: "groq" },
    ]);
    expect((await hermes(["fallback", "rm", "ollama/qwen3:8b"])).stdout).toContain("Removed the fallback ollama");
    expect((await hermes(["fallback", "remove", "9"])).code).toBe(2);
    const typo = await hermes(["fallback", "add", "antropic", "x"]);
    expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining('did you mean "anthropic"')]);
    expect((await hermes(["fallback", "add", "anthropic", "claude-haiku-5-5"])).stderr).toContain("already");
    expect((await hermes(["fallback", "clear"])).stdout).toBe("Removed 2 fallbacks.\n");
    expect((await hermes(["fallback"])).stdout).toContain("No fallbacks");
  });
});

describe("hermes model and usage", () => {
  test("lists every provider and its state", async () => {
    const listed = await hermes(["model", "list", "--json"], { env: { XAI_API_KEY: "xai-key-123" } });
    const rows = JSON.parse(listed.stdout) as { id: string; state: string; detail: string }[];
    const state = (id: string) => rows.find((row) => row.id === id)?.state;
    expect([state("xai"), state("anthropic"), state("ollama"), state("bedrock")]).toEqual([
      "ready",
      "no key",
      "local",
      "not available yet",
    ]);
    expect((await hermes(["model", "list"])).stdout).toContain("OpenRouter");
  });

  test("sets a model, tests it with a real call, and shows what it cost", async () => {
    llm = await startFakeLlm({
      script: [usage({ input: 1_000_000, output: 10 }, text("OK")), status(401)],
      models: [{ id: "tiny", contextLength: 8192 }],
      flavour: "cloud",
    });
    const set = await hermes(["model", "set", "tiny", "--provider", "custom", "--base-url", `${llm.url}/v1`]);
    expect([set.code, set.stdout]).toEqual([0, expect.stringContaining("Model is now tiny (custom)")]);
    await hermes(["config", "set", "model.pricing", '{"input": 2, "output": 4}']);
    const tested = await hermes(["model", "test"]);
    expect(tested.stderr).toBe("");
    expect(tested.stdout).toMatch(
      /Window: +8,192 tokens \(reported by the server\)[\s\S]*Answer: +OK[\s\S]*ms to the first token[\s\S]*\$2\.000040/,
    );
    const refused = await hermes(["model", "test"]);
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining("refused the key (401)")]);
    const report = JSON.parse((await hermes(["usage", "--by", "purpose", "--json"])).stdout);
    expect(report.groups).toMatchObject([{ key: "model_test", calls: 2, usd: 2.00004 }]);
    expect((await hermes(["usage", "--by", "day"])).stdout).toContain(new Date().getFullYear().toString());
    expect((await hermes(["usage", "--by", "moon"])).code).toBe(2);
  });

  test("changing the provider drops the address of the old one", async () => {
    await hermes(["model", "set", "m", "--provider", "custom", "--base-url", "http://127.0.0.1:9/v1"]);
    const changed = await hermes(["model", "set", "grok-4", "--provider", "xai"], {
      env: { XAI_API_KEY: "xai-key-123" },
    });
    expect([changed.stderr, changed.stdout]).toEqual(["", expect.stringContaining("grok-4 (xai)")]);
    expect(await readFile(join(home, "config.yaml"), "utf8")).not.toContain("127.0.0.1");
    const unknown = await hermes(["model", "set", "m", "--provider", "gork"]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('did you mean "grok"')]);
  });
});
