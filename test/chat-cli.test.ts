// `hermes chat` in scripts and interactively, against a scripted model server that is as strict as the real ones.
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hermesProgram, runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { until } from "./kit/until.ts";
import { calls, cut, drip, type FakeLlm, hang, startFakeLlm, status, text } from "./servers/fake-llm.ts";

let home: TempHome;
let llm: FakeLlm;
const ask = (...args: string[]) => runHermes(args, { home: home.path });
const title = text("A title");

beforeEach(async () => {
  home = tempHome();
  llm = await startFakeLlm();
  home.useModel(llm);
});

afterEach(async () => {
  await llm.close();
  home.remove();
});

function sessionOf(stderr: string): string {
  return /session_id: (\S+)/.exec(stderr)?.[1] ?? "";
}

describe("streams and exit codes", () => {
  it("-Q prints only the answer, and the session id on standard error", async () => {
    llm.enqueue(text("Forty-two."), title);
    const run = await ask("chat", "-Q", "-q", "What is the answer?");
    expect(run.stdout).toBe("Forty-two.\n");
    expect(run.stderr).toMatch(/^session_id: \d{8}_\d{6}_[0-9a-f]{6}\n$/);
    expect(run.code).toBe(0);
  });

  it("-z prints only the answer, and denies dangerous commands", async () => {
    llm.enqueue(calls([{ name: "terminal", args: { command: "rm -rf ./data" } }]), text("I could not."), title);
    const run = await ask("-z", "delete the data folder");
    expect(run).toMatchObject({ stdout: "I could not.\n", stderr: "", code: 0 });
    expect(JSON.stringify(llm.requests[1]?.messages)).toContain("no user is available to approve it");
  });

  it("-q shows the question, each tool and how to resume", async () => {
    writeFileSync(join(home.path, "a.txt"), "hello\n");
    llm.enqueue(calls([{ name: "read_file", args: { path: "a.txt" } }]), text("It says hello."), title);
    const run = await ask("chat", "-q", "read a.txt");
    expect(run.stdout).toBe("It says hello.\n");
    expect(run.stderr).toContain("✓ read_file");
    expect(run.stderr).toContain("resume with: hermes -r");
  });

  it("--json prints events, the last of them the end", async () => {
    llm.enqueue(text("Hi."), title);
    const run = await ask("chat", "-q", "hi", "--json");
    const events = run.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.at(-1)).toMatchObject({ type: "ended", end: "done", text: "Hi." });
  });

  it("fails with 1 and the hint when the key is refused, with 2 for wrong arguments", async () => {
    llm.enqueue(status(401), status(401), status(401), status(401));
    const refused = await ask("chat", "-Q", "-q", "hi");
    expect(refused.code).toBe(1);
    expect(refused.stdout).toBe("");
    expect(refused.stderr).toMatch(/error: .*\n.*hermes/);
    expect((await ask("chat", "-Q")).code).toBe(2);
    expect((await ask("chat", "-q", "hi", "-t", "flie")).stderr).toContain('did you mean "file"');
    expect((await ask("chat", "-q", "hi", "--image", "no.png")).code).toBe(2);
    const unknown = await ask("-r", "nothing like that");
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toContain("hermes sessions list");
  });
});

it("resumes by id, by title and by -c, with the same prompt prefix", async () => {
  llm.enqueue(
    text("Noted."),
    text("Garden plans"),
    text("You said tomatoes."),
    text("Yes, tomatoes."),
    text("Still tomatoes."),
  );
  const first = await ask("chat", "-Q", "-q", "We plant tomatoes.");
  const id = sessionOf(first.stderr);
  expect((await ask("chat", "-r", id, "-Q", "-q", "What do we plant?")).stdout).toBe("You said tomatoes.\n");
  expect((await ask("-r", "Garden", "plans", "-Q", "-q", "Sure?")).stdout).toBe("Yes, tomatoes.\n");
  const last = await ask("chat", "-c", "-Q", "-q", "Really?");
  expect(sessionOf(last.stderr)).toBe(id);
  const turns = llm.requests.filter((request) => request.tools.length > 0);
  const prefixes = turns.map((request) =>
    createHash("sha256")
      .update(JSON.stringify([request.system, request.tools]))
      .digest("hex"),
  );
  expect(new Set(prefixes).size).toBe(1);
  expect(turns.at(-1)?.messages).toHaveLength(7);
});

describe("provider failures", () => {
  it("retries 503 and 429, continues after a broken stream, and keeps one answer", async () => {
    llm.enqueue(status(503), status(429, { retryAfter: 0 }), text("Back again."), title);
    expect((await ask("chat", "-Q", "-q", "hi")).stdout).toBe("Back again.\n");
    llm.enqueue(cut({ afterText: "" }), text("Whole now."), title);
    expect((await ask("chat", "-Q", "-q", "hi")).stdout).toBe("Whole now.\n");
  });

  it("falls back to another provider when the first is down, and says so", async () => {
    const second = await startFakeLlm({ script: [text("From the second."), title] });
    appendFileSync(
      join(home.path, "config.yaml"),
      `agent:\n  api_max_retries: 1\nproviders:\n  spare:\n    base_url: ${second.url}/v1\n    default_model: spare-model\nfallback_providers:\n  - provider: spare\n    model: spare-model\n`,
    );
    llm.enqueue(status(500), status(500), status(500));
    const run = await ask("chat", "-q", "hi");
    expect(run.stdout).toBe("From the second.\n");
    expect(run.stderr).toMatch(/continuing with spare-model/i);
    await second.close();
  });

  it("stops at a spending cap before the call", async () => {
    appendFileSync(join(home.path, "config.yaml"), "budget:\n  daily_usd: 0\n");
    const run = await ask("chat", "-Q", "-q", "hi");
    expect(run.code).toBe(1);
    expect(run.stderr).toContain("budget.daily_usd");
    expect(llm.requests).toHaveLength(0);
  });
});

/** Asynchronous, so that the model's server in this process can still answer. */
const isRunning = (command: string): Promise<boolean> =>
  new Promise((resolve) => execFile("pgrep", ["-f", command], (error) => resolve(error === null)));

it("interrupts within a second on SIGINT, running commands included, and stores the text so far", async () => {
  const sleeping = `sleep 65.${process.pid}`;
  llm.enqueue(calls([{ name: "terminal", args: { command: `${sleeping}; echo done` } }]));
  const child = spawn(process.execPath, [hermesProgram(), "chat", "-q", "wait for it"], {
    cwd: home.path,
    env: { PATH: process.env.PATH ?? "", HOME: home.path, HERMES_HOME: home.path },
    stdio: ["ignore", "pipe", "pipe"],
  });
  await llm.arrived(1);
  await until(() => isRunning(sleeping));
  const interrupted = Date.now();
  child.kill("SIGINT");
  const code = await new Promise((resolve) => child.once("exit", resolve));
  expect(code).toBe(130);
  expect(Date.now() - interrupted).toBeLessThan(30_000);
  const { stdout } = await ask("sessions", "search", "wait for it", "--json");
  const [hit] = JSON.parse(stdout);
  const shown = JSON.parse((await ask("sessions", "show", hit.session_id, "--json")).stdout);
  expect(shown.messages.map((row: { role: string }) => row.role)).toEqual(
    expect.arrayContaining(["user", "assistant", "tool"]),
  );
  llm.enqueue(text("I was interrupted before."), title);
  const next = await ask("chat", "-r", hit.session_id, "-Q", "-q", "what happened?");
  expect(next.stdout).toBe("I was interrupted before.\n");
});

it("kill -9 in the middle of an answer loses no message that was acknowledged", async () => {
  llm.enqueue(drip("a long answer that never quite ends ".repeat(50), { everyMs: 1500 }));
  const child = spawn(process.execPath, [hermesProgram(), "chat", "-q", "remember the blue door"], {
    cwd: home.path,
    env: { PATH: process.env.PATH ?? "", HOME: home.path, HERMES_HOME: home.path },
    stdio: "ignore",
  });
  await llm.arrived(1);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  const [hit] = JSON.parse((await ask("sessions", "search", "blue door", "--json")).stdout);
  llm.enqueue(text("The blue door."), title);
  expect((await ask("chat", "-r", hit.session_id, "-Q", "-q", "which door?")).stdout).toBe("The blue door.\n");
});

it("answers from the offline model when nothing is configured, and explains how to connect a real one", async () => {
  const fresh = tempHome();
  const run = await runHermes(["chat", "-Q", "-q", "hello"], { home: fresh.path });
  expect(run.code).toBe(0);
  expect(run.stdout).toContain("[offline model]");
  expect(run.stdout).toMatch(/hermes setup/);
  fresh.remove();
});

it("writes what every call cost, and no key anywhere", async () => {
  writeFileSync(join(home.path, ".env"), "CANARY_API_KEY=sk-canary-0123456789abcdef0123456789\n");
  writeFileSync(join(home.path, "notes.txt"), "the key is sk-canary-0123456789abcdef0123456789\n");
  llm.enqueue(
    calls([{ name: "read_file", args: { path: "notes.txt" } }]),
    calls([{ name: "terminal", args: { command: "cat notes.txt; env" } }]),
    text("Read."),
    title,
  );
  const run = await ask("chat", "-q", "read notes.txt");
  expect(run.stdout).toBe("Read.\n");
  expect(JSON.stringify(llm.requests.map((request) => request.body))).not.toContain("canary-0123456789abcdef");
  expect(readFileSync(join(home.path, "state.db"), "latin1")).not.toContain("canary-0123456789abcdef");
  const report = JSON.parse((await ask("usage", "--by", "purpose", "--json")).stdout);
  expect(JSON.stringify(report)).toContain("turn");
});

it("appends a trajectory in the ShareGPT form", async () => {
  writeFileSync(join(home.path, "a.txt"), "hello\n");
  llm.enqueue(calls([{ name: "read_file", args: { path: "a.txt" } }]), text("It says hello."), title);
  const run = await ask("chat", "-q", "read a.txt", "--trajectory", "samples");
  expect(run.stderr).toContain("trajectory_samples.jsonl");
  const line = JSON.parse(readFileSync(join(home.path, "samples", "trajectory_samples.jsonl"), "utf8"));
  expect(line).toMatchObject({ completed: true, model: "test-model" });
  expect(line.conversations.map((turn: { from: string }) => turn.from)).toEqual([
    "system",
    "human",
    "gpt",
    "tool",
    "gpt",
  ]);
  expect(line.conversations[2].value).toMatch(/^<think>[\s\S]*<\/think>[\s\S]*<tool_call>/);
});

it("gives up on a model that never answers, within its limit", async () => {
  home.useModel(llm, "agent:\n  api_max_retries: 1\n");
  writeFileSync(
    join(home.path, "config.yaml"),
    readFileSync(join(home.path, "config.yaml"), "utf8").replace(
      "  context_length: 128000\n",
      "  context_length: 128000\n  first_token_timeout_seconds: 1\n",
    ),
  );
  llm.enqueue(hang(), hang());
  const run = await ask("chat", "-Q", "-q", "hi");
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(/error: /);
});
