// A configured model that cannot be used, and a configuration that cannot be read: an error, never the offline model.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { startRecordingServer } from "./servers/recording-server.ts";

let home: TempHome;
beforeEach(() => {
  home = tempHome();
});
afterEach(() => home.remove());

function hermes(args: readonly string[], extra: { env?: { [name: string]: string }; stdin?: string } = {}) {
  return runHermes(args, { home: home.path, ...extra });
}

function write(text: string): void {
  writeFileSync(join(home.path, "config.yaml"), text);
}

function bomb(): string {
  const levels = Array.from({ length: 12 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(9)}*a${n}]`);
  return `a0: &a0 [x,x,x,x,x,x,x,x]\n${levels.join("\n")}\n`;
}

const BROKEN: readonly (readonly [string, string, RegExp])[] = [
  ["a syntax error", "model:\n  default: x\n bad: [\n", /line 3, column/],
  ["a tab", "model:\n\tdefault: x\n", /cannot be read/],
  ["a list", "- a\n- b\n", /map of keys/],
  ["a text", "just words\n", /map of keys/],
  ["a YAML bomb", bomb(), /too many references/],
  ["deep nesting in flow style", `model: ${"[".repeat(20_000)}${"]".repeat(20_000)}\n`, /nested too deeply/],
  [
    "deep maps",
    `${Array.from({ length: 3000 }, (_, n) => `${" ".repeat(n)}k:`).join("\n")}\n`,
    /cannot be read|nested/,
  ],
];

describe("config.yaml that cannot be read", () => {
  test.each(BROKEN)("%s stops every way to ask a model", async (_, text, reason) => {
    write(text);
    for (const args of [
      ["-z", "hello"],
      ["chat", "-q", "hello"],
      ["chat", "-Q", "-q", "hello"],
      ["model", "test"],
    ]) {
      const run = await hermes(args);
      expect([run.code, run.stdout, run.stderr]).toEqual([1, "", expect.stringMatching(reason)]);
      expect(run.stderr).toContain(join(home.path, "config.yaml"));
      expect(run.stderr).not.toContain("    at ");
    }
    expect(readFileSync(join(home.path, "config.yaml"), "utf8")).toBe(text);
  });

  test("stops the conversation, jobs, the gateway and the API server too", async () => {
    write("model: [\n");
    for (const args of [[], ["chat"], ["cron", "tick"], ["gateway", "run"], ["gateway", "start"], ["api", "run"]]) {
      const run = await hermes(args, { stdin: "hello\n" });
      expect([args, run.code, run.stderr]).toEqual([args, 1, expect.stringContaining("config.yaml cannot be read")]);
      expect(run.stdout).not.toContain("offline");
    }
  });

  test("does not stop the commands that repair it, and is never overwritten", async () => {
    const text = "model: {default: precious\n# keep me\n";
    write(text);
    const expected: readonly (readonly [readonly string[], number])[] = [
      [["config", "path"], 0],
      [["config", "env-path"], 0],
      [["config", "show"], 0],
      [["config", "show", "--json"], 0],
      [["config", "check"], 1],
      [["config", "set", "model.default", "x"], 1],
      [["config", "unset", "model.default"], 1],
      [["config", "migrate"], 1],
      [["config", "edit"], 1],
      [["model", "set", "x"], 1],
      [["security", "audit"], 1],
      [["sessions", "list"], 0],
      [["--version"], 0],
      [["--help"], 0],
      [["config", "--help"], 0],
    ];
    for (const [args, code] of expected) {
      const run = await hermes(args, { env: { EDITOR: "true" } });
      expect([args, run.code, run.stderr]).toEqual([args, code, expect.not.stringContaining("    at ")]);
      expect(readFileSync(join(home.path, "config.yaml"), "utf8")).toBe(text);
    }
    expect((await hermes(["config", "check"])).stdout + (await hermes(["config", "check"])).stderr).toContain("line");
    const editor = join(home.path, "repair.sh");
    writeFileSync(editor, '#!/bin/sh\nprintf "timezone: UTC\\n" > "$1"\n', { mode: 0o755 });
    expect((await hermes(["config", "edit"], { env: { EDITOR: editor } })).code).toBe(0);
    expect((await hermes(["-z", "hello", "--ignore-user-config"])).code).toBe(0);
  });

  test("a folder in its place is named", async () => {
    mkdirSync(join(home.path, "config.yaml"));
    const run = await hermes(["-z", "hello"]);
    expect([run.code, run.stdout, run.stderr]).toEqual([1, "", expect.stringContaining("it is a folder")]);
    rmSync(join(home.path, "config.yaml"), { recursive: true });
    mkdirSync(join(home.path, ".env"));
    const env = await hermes(["-z", "hello"]);
    expect([env.code, env.stdout, env.stderr]).toEqual([
      1,
      "",
      expect.stringMatching(/\.env cannot be read: it is a f/),
    ]);
  });
});

describe("a configured model that cannot be used", () => {
  const cases: readonly (readonly [string, string, { [name: string]: string }, string])[] = [
    ["no key", "model: {default: claude-sonnet-4-6, provider: anthropic}\n", {}, "No key for Anthropic"],
    ["no provider", "model: anthropic/claude-sonnet-4.6\n", {}, "no provider for it"],
    [
      "a key that may not go to the address",
      "model: {default: anthropic/claude-sonnet-4.6}\n",
      { OPENROUTER_API_KEY: "sk-or-v1-0123456789", OPENROUTER_BASE_URL: "http://127.0.0.1:9/v1" },
      "is not sent to 127.0.0.1",
    ],
    ["an unknown provider", "model: {default: m, provider: antropic}\n", {}, 'did you mean "anthropic"'],
    ["a key without a provider", "model: {default: m, api_key: abcdef0123456789}\n", {}, "model.api_key is set"],
    ["an address that is none", "model: {default: m, provider: custom, base_url: foo}\n", {}, "needs an address"],
  ];

  test.each(cases)("%s", async (_, config, env, reason) => {
    write(config);
    for (const args of [
      ["-z", "hello"],
      ["chat", "-q", "hello"],
      ["model", "test"],
      ["model", "show"],
    ]) {
      const run = await hermes(args, { env });
      expect([args, run.code, run.stdout, run.stderr]).toEqual([args, 1, "", expect.stringContaining(reason)]);
      expect(run.stderr).not.toContain("No model is configured");
    }
    const interactive = await hermes(["chat"], { env, stdin: "hello\n" });
    expect([interactive.code, interactive.stderr]).toEqual([1, expect.stringContaining(reason)]);
    expect(interactive.stdout).not.toContain("[offline model]");
  });

  test("a model that only a flag names", async () => {
    const run = await hermes(["-z", "hello", "-m", "gpt-5"]);
    expect([run.code, run.stdout]).toEqual([1, ""]);
  });
});

test("a home without any model uses the offline model and says so on standard error, once", async () => {
  for (const args of [
    ["-z", "hello"],
    ["chat", "-q", "hello"],
    ["chat", "-Q", "-q", "hello"],
  ]) {
    const run = await hermes(args);
    expect(run.code).toBe(0);
    expect(run.stdout).toContain("[offline model]");
    expect(run.stderr.match(/No model is configured/g)).toHaveLength(1);
  }
});

describe("a setting of security or of the model with a mistake in it", () => {
  test.each([
    ["terminal: {container: requird}", "terminal.container"],
    ["terminal: {sandox: bubblewrap}", "terminal.sandox"],
    ["terminal: {backend: dcoker}", "terminal.backend"],
    ["terminal: bubblewrap", "terminal"],
    ["approvals: {mode: ofd}", "approvals.mode"],
    ["approvals: {mode: [manual]}", "approvals.mode"],
    ["approvals: off", "approvals"],
    ["aprovals: {mode: manual}", "aprovals"],
    ["approvals: {mod: manual}", "approvals.mod"],
    ["security: {redact_secrets: perhaps}", "security.redact_secrets"],
    ["security: {allow_private_urls: {a: 1}}", "security.allow_private_urls"],
    ["secuirty: {redact_secrets: true}", "secuirty"],
    ["model: [a]", "model"],
    ["model: {default: [a]}", "model.default"],
    ["model: {default: m, provder: custom}", "model.provder"],
    ["modell: {default: m, provider: custom}", "modell"],
    ["providers: lab", "providers"],
    ["code_execution: {mode: strikt}", "code_execution.mode"],
    ["budget: {daily_usd: ten}", "budget.daily_usd"],
    ["approvals: {mode: manual, mode: off}", "approvals.mode is set twice"],
    ["approvals:\n  mode: manual\nother: 1\napprovals:\n  mode: off", "approvals is set twice"],
    ["terminal: {container: required, container: host}", "terminal.container is set twice"],
    ["x: &x {mode: manual, mode: off}\napprovals: *x", "set twice"],
  ])("%s", async (text, named) => {
    write(`${text}\n`);
    const run = await hermes(["-z", "run ls"]);
    expect([run.code, run.stdout, run.stderr]).toEqual([1, "", expect.stringContaining(named)]);
    const check = await hermes(["config", "check"]);
    expect([check.code, check.stdout + check.stderr]).toEqual([1, expect.stringContaining(named)]);
  });

  test("in a variable", async () => {
    const run = await hermes(["-z", "hello"], { env: { HERMES_REDACT_SECRETS: "perhaps" } });
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining("HERMES_REDACT_SECRETS")]);
  });

  test("other mistakes are warnings, also a duplicate key", async () => {
    write(
      "display: {show_reasoning: true, show_reasoning: false}\nagent: {max_turns: many}\napprovals: {newer_key: 1}\n",
    );
    for (let again = 0; again < 2; again++) {
      const run = await hermes(["chat", "-q", "hello"]);
      expect(run.code).toBe(0);
      expect(run.stderr).toContain("display.show_reasoning is set twice; the last one is used");
      expect(run.stderr).toContain("agent.max_turns");
      expect(run.stderr).toContain("approvals.newer_key is not a known key");
    }
  });
});

test("a gateway and a job say why the model cannot be used, and do not answer offline", async () => {
  const server = await startRecordingServer();
  try {
    write(`model: {default: m, provider: custom, base_url: "${server.url}", api_key: changeme}\n`);
    const made = await hermes(["cron", "create", "every 1h", "say hello", "--name", "greet"]);
    expect(made.code).toBe(0);
    const run = await hermes(["cron", "run", "greet"]);
    expect(run.stdout + run.stderr).toContain("model.api_key in config.yaml is not a key");
    expect(run.code).toBe(1);
    expect(run.stdout).not.toContain("[offline model]");
    expect(server.visits).toEqual([]);
    expect(existsSync(join(home.path, "config.yaml"))).toBe(true);
  } finally {
    await server.close();
  }
});
