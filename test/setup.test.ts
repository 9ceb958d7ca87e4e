// `hermes setup`, `hermes model` and the first start: menus on a terminal, numbered questions in a pipe, options for scripts.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { openTerminal, type TestTerminal } from "./kit/terminal.ts";
import { type FakeLlm, startFakeLlm, status, text } from "./servers/fake-llm.ts";

const SECRET = "sk-test-0123456789abcdef0123456789";
let llm: FakeLlm;
let home: TempHome;
let terminal: TestTerminal | undefined;
beforeAll(async () => {
  llm = await startFakeLlm({
    script: (request) => (request.headers.authorization === "Bearer wrong-key-wrong-key" ? status(401) : text("OK")),
    models: [
      { id: "alpha-7b", contextLength: 32_000 },
      { id: "beta-70b", contextLength: 131_072, pricing: { prompt: "0.000003", completion: "0.000015" } },
    ],
    flavour: "cloud",
  });
});
afterAll(() => llm.close());
beforeEach(() => {
  home = tempHome();
});
afterEach(() => {
  terminal?.kill();
  home.remove();
});

const config = () => readFileSync(join(home.path, "config.yaml"), "utf8");

it("sets up by options, with a live test, and keeps the key out of config.yaml and of the output", async () => {
  const args = ["setup", "--base-url", `${llm.url}/v1`, "-m", "beta-70b", "--api-key-env", "LAB"];
  const run = await runHermes(args, { home: home.path, env: { LAB: SECRET } });
  expect([run.code, run.stdout]).toEqual([0, ""]);
  expect(run.stderr).toMatch(/✓ beta-70b \(custom\) answers after \d+ ms\n {2}window 131,072 tokens/);
  expect(`${run.stderr}${config()}`).not.toContain(SECRET);
  expect(readFileSync(join(home.path, ".env"), "utf8")).toContain(SECRET);
  expect(statSync(join(home.path, ".env")).mode & 0o777).toBe(0o600);
  expect((await runHermes(["-z", "hello"], { home: home.path })).stdout).toBe("OK\n");
});

it.each([
  [["--provider", "anthropic"], 2, "which model?"],
  [["-m", "x", "--base-url", "foo"], 2, "http://"],
  [["-m", "x", "--provider", "antropic"], 2, "did you mean"],
  [["-m", "x", "--api-key", "k"], 2, "--provider or --base-url"],
  [["-m", "x", "--provider", "openrouter", "--api-key-env", "NOT_SET"], 2, "NOT_SET is not set"],
  [["nonsense"], 2, "model, terminal, tools, agent, gateway"],
  [["--non-interactive"], 1, "hermes setup --provider"],
])("refuses %j with the way out", async (args, code, said) => {
  const run = await runHermes(["setup", ...args], { home: home.path });
  expect([run.code, run.stderr]).toEqual([code, expect.stringContaining(said)]);
  expect(run.stderr).not.toContain("    at ");
});

it("asks numbered questions in a pipe, and says how to continue when the answers end", async () => {
  const stdin = `address\n${llm.url}/v1\n\nalpha-7b\nn\nn\nn\nn\n`;
  const run = await runHermes(["setup"], { home: home.path, stdin });
  expect(run.code).toBe(0);
  expect(run.stderr).toMatch(/ {2}\d+\. OpenRouter: enter a key/);
  expect(run.stderr).toContain("✓ alpha-7b (custom) answers");
  expect(run.stderr).not.toContain("\u001b[");
  const ended = await runHermes(["setup"], { home: home.path, stdin: "" });
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining("The input ended")]);
});

it("the first start offers the setup; later is remembered; the picker of hermes model tests the choice", async () => {
  terminal = openTerminal([], { home: home.path });
  await terminal.shows("Hermes has no language model yet");
  terminal.type("\u001b[B\r");
  await terminal.shows("Later: hermes setup");
  terminal.kill();
  await terminal.exited;
  expect(config()).toContain("setup_offered: true");

  await runHermes(["config", "set", "providers.lab.base_url", `${llm.url}/v1`], { home: home.path });
  terminal = openTerminal(["model"], { home: home.path });
  await terminal.shows("Which provider?");
  terminal.type("lab\r");
  await terminal.shows(/beta-70b .*131k window · runs on this machine/);
  terminal.type("beta");
  await terminal.shows("1/1");
  terminal.type("\r");
  await terminal.shows(/✓ beta-70b \(custom:lab\) answers after/);
  expect(await terminal.exited).toBe(0);
  expect(config()).toMatch(/default: beta-70b/);
  expect((await runHermes(["model"], { home: home.path })).stdout).toMatch(/Model: +beta-70b/);
}, 60_000);
