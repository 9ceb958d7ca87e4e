// Remote MCP servers: the reference server over HTTP, open and behind a real authorization server; and no orphans.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { fullProof } from "./kit/full-proof.ts";
import { hermesProgram, runHermes } from "./kit/run-hermes.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { until } from "./kit/until.ts";
import { calls, type FakeLlm, hang, startFakeLlm, text } from "./servers/fake-llm.ts";
import { type GuardedMcp, startGuardedMcp } from "./servers/mcp-oauth.ts";

let remote: GuardedMcp;
let model: FakeLlm;
let home: string;

beforeAll(async () => {
  // Tokens last three seconds, so that the second call needs a refresh.
  remote = await startGuardedMcp(3);
});
afterAll(() => remote.close());
beforeEach(async () => {
  home = tempDir("hermes-mcp-remote-");
  model = await startFakeLlm({ flavour: "cloud" });
});
afterEach(() => model.close());

function configure(servers: object): void {
  const connection = { default: "scripted", provider: "custom", base_url: `${model.url}/v1`, context_length: 128_000 };
  writeFileSync(join(home, "config.yaml"), JSON.stringify({ model: connection, mcp_servers: servers }));
}

const hermes = (args: readonly string[]) => runHermes(args, { home, stdin: "" });

it("a server over HTTP is used without a sign-in", async () => {
  configure({ every: { url: remote.open } });
  expect((await hermes(["mcp", "test", "every"])).stdout).toContain("every is ready");
  model.enqueue(calls([{ name: "mcp_every_echo", args: { message: "over http" } }]), text("Done."));
  await hermes(["-z", "go"]);
  expect(model.requests[1]?.messages.at(-1)?.text).toContain("over http");
});

it("a sign-in is asked for, stored for the owner only, and refreshed", async () => {
  configure({ every: { url: remote.url, auth: "oauth" } });
  const before = await hermes(["mcp", "test", "every"]);
  expect(before.code).toBe(1);
  expect(before.stderr).toContain("hermes mcp login every");
  const login = spawn(process.execPath, [hermesProgram(), "mcp", "login", "every"], {
    env: { ...process.env, HERMES_HOME: home },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let shown = "";
  for (const stream of [login.stdout, login.stderr])
    stream.on("data", (chunk) => {
      shown += chunk;
    });
  const ended = new Promise((resolve) => login.once("exit", resolve));
  await until(() => /http:\S+\/auth\S+/.test(shown), { describe: () => shown });
  await fetch(await remote.agree(/http:\S+\/auth\S+/.exec(shown)?.[0] ?? ""));
  expect(await ended, shown).toBe(0);
  const file = join(home, "mcp-tokens", "every.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const first = JSON.parse(readFileSync(file, "utf8"));
  expect(first).toMatchObject({ access_token: expect.any(String), refresh_token: expect.any(String) });
  await until(() => Date.now() / 1000 > first.expires_at);
  const tested = await Promise.all([hermes(["mcp", "test", "every"]), hermes(["mcp", "test", "every"])]);
  for (const { stdout } of tested) expect(stdout).toContain("every is ready");
  expect(remote.grants.authorization_code).toBe(1);
  expect(remote.grants.refresh_token).toBeGreaterThanOrEqual(1);
  expect(JSON.parse(readFileSync(file, "utf8")).refresh_token).toEqual(expect.any(String));
});

it("a killed program leaves no server behind", async () => {
  const folder = dirname(
    createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json"),
  );
  const marker = `mark-${process.pid}-${Date.now()}`;
  await model.close();
  model = await startFakeLlm({
    flavour: "cloud",
    script: ({ messages }) =>
      messages.at(-1)?.role === "tool" ? hang() : calls([{ name: "mcp_every_echo", args: { message: "x" } }]),
  });
  configure({ every: { command: process.execPath, args: [join(folder, "dist", "index.js"), "stdio", marker] } });
  const running = () => {
    const rows = execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" }).split("\n");
    return rows.filter((row) => row.includes(marker) && row.includes("server-everything"));
  };
  const answered = () => model.requests.filter((request) => request.messages.at(-1)?.role === "tool").length;
  const cycles = fullProof ? 300 : 2;
  for (let cycle = 0; cycle < cycles; cycle++) {
    const before = answered();
    const chat = spawn(process.execPath, [hermesProgram(), "-z", "go"], {
      env: { ...process.env, HERMES_HOME: home },
      stdio: "ignore",
    });
    // In turns: while the server starts, and while it is connected.
    await until(() => (cycle % 2 === 0 ? running().length > 0 : answered() > before));
    chat.kill("SIGKILL");
    await until(() => running().length === 0);
  }
});
