// `hermes api` end to end: the built program, a temporary home, a real port.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { freePort } from "./kit/free-port.ts";
import { hermesProgram, runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

let home: TempHome;
let llm: FakeLlm;

beforeEach(async () => {
  home = tempHome();
  llm = await startFakeLlm({ script: () => text("Served.") });
  home.useModel(llm);
});

afterEach(async () => {
  await llm.close();
  home.remove();
});

it("creates a key, serves, reports its status and shuts down", async () => {
  const env = { PATH: process.env.PATH ?? "", HOME: home.path, HERMES_HOME: home.path };
  const child = spawn(process.execPath, [hermesProgram(), "api", "run", "--port", "0"], { cwd: home.path, env });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
  try {
    await expect.poll(() => said, { timeout: 20_000 }).toContain("stored in");
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? "";
    const shown = await runHermes(["api", "key", "--show"], { home: home.path });
    const key = shown.stdout.trim();
    expect(readFileSync(join(home.path, ".env"), "utf8")).toContain(key);
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ messages: [{ role: "user", content: "Hi" }] }),
    });
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "Served." } }] });
    const status = await runHermes(["api", "status", "--port", new URL(url).port], { home: home.path });
    expect(status).toMatchObject({ code: 0 });
    expect(said).not.toContain(key);
  } finally {
    child.kill("SIGTERM");
  }
  const code = await new Promise((resolve) => child.once("exit", resolve));
  expect(code).toBe(0);
});

it("takes key and port from config.yaml, and finds the server there", async () => {
  const port = await freePort();
  home.useModel(llm, `api_server:\n  key: written-by-hand-0123\n  port: ${port}\n`);
  const env = { PATH: process.env.PATH ?? "", HOME: home.path, HERMES_HOME: home.path };
  const child = spawn(process.execPath, [hermesProgram(), "api", "run"], { cwd: home.path, env });
  try {
    const headers = { authorization: "Bearer written-by-hand-0123" };
    const models = () => fetch(`http://127.0.0.1:${port}/v1/models`, { headers }).catch(() => null);
    await expect.poll(async () => (await models())?.status, { timeout: 20_000 }).toBe(200);
    expect(await runHermes(["api", "status"], { home: home.path })).toMatchObject({ code: 0 });
    expect((await runHermes(["api", "key"], { home: home.path })).stdout).toContain("config.yaml");
    expect(existsSync(join(home.path, ".env"))).toBe(false);
  } finally {
    child.kill("SIGTERM");
  }
  home.useModel(llm, "platforms:\n  webhook:\n    extra:\n      port: 9753\n");
  const added = await runHermes(["webhook", "subscribe", "deploys", "--prompt", "x"], { home: home.path });
  expect(added.stdout).toContain("http://127.0.0.1:9753/webhooks/deploys");
});

it("adds, lists and removes webhook routes without showing their secrets again", async () => {
  const hermes = (...args: string[]) => runHermes(["webhook", ...args], { home: home.path });
  const added = await hermes("subscribe", "deploys", "--events", "push", "--prompt", "{x}", "--deliver", "telegram");
  expect(added.code).toBe(0);
  const secret = /Secret\s+(\S+)/.exec(added.stdout)?.[1] ?? "";
  expect(secret.length).toBeGreaterThan(20);
  const listed = await hermes("list", "--json");
  expect(JSON.parse(listed.stdout)).toMatchObject([{ name: "deploys", events: ["push"], deliver: "telegram" }]);
  expect(listed.stdout).not.toContain(secret);
  expect(added.stderr).toContain("Answers will not arrive yet: telegram is not set up here");
  const typo = await hermes("subscribe", "typo", "--deliver", "telegramm");
  expect(typo).toMatchObject({ code: 2 });
  expect(typo.stderr).toContain("did you mean telegram?");
  expect((await hermes("subscribe", "Bad Name")).code).toBe(2);
  expect((await hermes("test", "deploys")).stderr).toContain("no answer from");
  expect((await hermes("remove", "deploys")).code).toBe(0);
  expect((await hermes("list")).stdout).toContain("No routes");
});
