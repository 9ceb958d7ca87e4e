// `hermes gateway` as a service and as a process: the service manager is used, a stop always works, no turn is cut off.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hermesProgram, runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { calls, drip, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

let home: TempHome;
let llm: FakeLlm;
let env: { [name: string]: string };
const run = (...args: string[]) => runHermes(args, { home: home.path, env });

beforeEach(async () => {
  home = tempHome();
  env = {};
  const remove = calls([{ name: "terminal", args: { command: `rm -rf ${join(home.path, "skills")}` } }]);
  const again = `"${process.execPath}" "${hermesProgram()}" gateway restart`;
  const restart = calls([{ name: "terminal", args: { command: again } }]);
  const slow = drip("A long answer that is worth waiting for.", { everyMs: 1_200 });
  llm = await startFakeLlm({
    script: ({ tools, messages }) => {
      if (tools.length === 0) return text("A title");
      const last = messages.at(-1);
      if (last?.role === "tool") return text(`Done: ${last.text}`);
      if (last?.text === "Restart") return restart;
      return last?.text === "Remove it" ? remove : slow;
    },
  });
  home.useModel(llm, "approvals:\n  mode: manual\n");
});

afterEach(async () => {
  await run("gateway", "stop");
  await llm.close();
  home.remove();
});

function foreground() {
  const child = spawn(process.execPath, [hermesProgram(), "gateway", "run"], {
    cwd: home.path,
    env: { PATH: process.env.PATH ?? "", HOME: home.path, HERMES_HOME: home.path, ...env },
    stdio: "ignore",
  });
  return new Promise<number | null>((resolve) => child.once("exit", resolve));
}

async function apiUrl(): Promise<string> {
  const log = () => readFileSync(join(home.path, "logs", "gateway.log"), "utf8");
  await expect.poll(log, { timeout: 20_000 }).toContain("API server at");
  return /API server at (http:\/\/127\.0\.0\.1:\d+)/.exec(log())?.[1] ?? "";
}

/** A fake service manager that records its calls and runs the command of the unit. */
function managed(): () => string[] {
  const bin = join(home.path, "bin");
  const record = join(home.path, "diary");
  mkdirSync(bin);
  const script = `#!/bin/sh
echo "$*" >> "${record}"
unit="${home.path}/.config/systemd/user/$3"
[ "$2" = start ] || exit 0
eval "env $(sed -n 's/^Environment=//p' "$unit" | tr '\\n' ' ') $(sed -n 's/^ExecStart=//p' "$unit") > /dev/null 2>&1 &"
`;
  writeFileSync(join(bin, "systemctl"), script, { mode: 0o755 });
  env = { PATH: `${bin}:${process.env.PATH ?? ""}` };
  return () => (existsSync(record) ? readFileSync(record, "utf8").trim().split("\n") : []);
}

it.runIf(process.platform === "linux")(
  "is started and stopped by the service manager once it is a service",
  { timeout: 60_000 },
  async () => {
    const record = managed();
    home.useModel(llm, "agent:\n  restart_drain_timeout: 600\n");
    const units = join(home.path, ".config", "systemd", "user");
    expect(await run("gateway", "install")).toMatchObject({ code: 0 });
    const [name = ""] = readdirSync(units);
    // The home is not the usual one: the service of another home must not be overwritten.
    expect(name).toMatch(/^hermes-gateway-[0-9a-f]{8}\.service$/);
    const unit = readFileSync(join(units, name), "utf8");
    expect(unit).toContain(`"HERMES_HOME=${home.path}"`);
    // The manager must not end it while it finishes running turns.
    expect(unit).toContain("TimeoutStopSec=630");
    expect((await run("gateway", "start")).stdout).toContain("as a service");
    expect(record().at(-1)).toBe(`--user start ${name}`);
    expect(await run("gateway", "stop")).toMatchObject({ code: 0 });
    expect(record().at(-1)).toBe(`--user stop ${name}`);
    expect((await run("gateway", "uninstall")).stdout).toContain("Removed");
    expect(readdirSync(units)).toEqual([]);
    expect((await run("gateway", "uninstall")).stdout).toContain("No service");
  },
);

it.runIf(process.platform === "linux")("runs without a service manager too", { timeout: 60_000 }, async () => {
  managed();
  writeFileSync(join(home.path, "bin", "systemctl"), "#!/bin/sh\necho no bus >&2\nexit 1\n", { mode: 0o755 });
  expect(await run("gateway", "start")).toMatchObject({ code: 0 });
  const installed = await run("gateway", "install");
  expect(installed).toMatchObject({ code: 1 });
  expect(installed.stderr).toContain("no bus. Nothing was changed");
  expect(existsSync(join(home.path, ".config", "systemd"))).toBe(false);
  expect((await run("gateway", "status")).stdout).toContain("The gateway is");
  expect((await run("gateway", "reload")).stdout).toContain("Nothing has changed");
  expect(await run("gateway", "stop")).toMatchObject({ code: 0 });
});

it("accepts a stop while it starts", { timeout: 60_000 }, async () => {
  const ended = foreground();
  await expect.poll(() => existsSync(join(home.path, "gateway.lock.db")), { interval: 2, timeout: 20_000 }).toBe(true);
  await expect.poll(async () => (await run("gateway", "stop")).stdout, { timeout: 30_000 }).toContain("Stopped");
  expect(await ended).toBe(0);
});

it("runs once when several processes start it at the same time", { timeout: 60_000 }, async () => {
  const starts = await Promise.all([1, 2, 3].map(() => run("gateway", "start")));
  expect(starts.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(await run("gateway", "run")).toMatchObject({ code: 3 });
});

it("reports at once why it does not start in the background", { timeout: 60_000 }, async () => {
  mkdirSync(join(home.path, "runtime.db"));
  const start = await run("gateway", "start");
  expect(start.code).toBe(1);
  expect(start.stderr).toContain("runtime.db is not a file");
  expect(readFileSync(join(home.path, "logs", "gateway-errors.log"), "utf8")).toContain("runtime.db is not a file");
});

it("runs without a plugin that cannot be loaded, and says so", { timeout: 60_000 }, async () => {
  const folder = join(home.path, "plugins", "broken");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "plugin.yaml"), "name: broken\n");
  writeFileSync(join(folder, "index.mjs"), 'export function register() { throw new Error("kaput"); }\n');
  home.useModel(llm, "plugins:\n  enabled: [broken]\n");
  expect(await run("gateway", "start")).toMatchObject({ code: 0 });
  expect(readFileSync(join(home.path, "logs", "gateway.log"), "utf8")).toContain("broken is not loaded: kaput");
});

it("reports a port that is in use, and listens as soon as it is free", { timeout: 60_000 }, async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  env = { API_SERVER_ENABLED: "true", API_SERVER_PORT: "0", WEBHOOK_ENABLED: "true", WEBHOOK_PORT: String(port) };
  expect(await run("gateway", "start")).toMatchObject({ code: 0 });
  const url = await apiUrl();
  const health = async () => ((await (await fetch(`${url}/health`)).json()) as { status: string }).status;
  const status = await run("gateway", "status");
  expect(status).toMatchObject({ code: 1 });
  expect(status.stdout).toContain(`127.0.0.1:${port} is in use by another program`);
  expect(await health()).toBe("degraded");
  await new Promise((resolve) => other.close(resolve));
  await expect.poll(health, { timeout: 30_000 }).toBe("ok");
  expect(await run("gateway", "status")).toMatchObject({ code: 0 });
});

it("can be restarted from within a turn", { timeout: 90_000 }, async () => {
  home.useModel(llm, "approvals:\n  mode: off\n");
  env = { API_SERVER_ENABLED: "true", API_SERVER_KEY: "a-key-for-this-test", API_SERVER_PORT: "0" };
  expect(await run("gateway", "start")).toMatchObject({ code: 0 });
  const process = async () =>
    (JSON.parse((await run("gateway", "status", "--json")).stdout) as { pid?: number }).pid ?? 0;
  const before = await process();
  const answer = await fetch(`${await apiUrl()}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer a-key-for-this-test" },
    body: JSON.stringify({ messages: [{ role: "user", content: "Restart" }] }),
  });
  expect(JSON.stringify(await answer.json())).toContain("restarts when running turns are done");
  // A new process runs the program that is on disk now.
  await expect.poll(async () => ![0, before].includes(await process()), { timeout: 20_000 }).toBe(true);
});

it("finishes running API requests before it stops, and counts them", { timeout: 60_000 }, async () => {
  env = { API_SERVER_ENABLED: "true", API_SERVER_KEY: "a-key-for-this-test", API_SERVER_PORT: "0" };
  expect(await run("gateway", "start")).toMatchObject({ code: 0 });
  const url = await apiUrl();
  const headers = { authorization: "Bearer a-key-for-this-test" };
  const post = (path: string, body: object) =>
    fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  // This question stays unanswered; a stop must not wait for it.
  const { run_id: asking } = (await (await post("/v1/runs", { input: "Remove it" })).json()) as { run_id: string };
  const asked = async () => (await (await fetch(`${url}/v1/runs/${asking}`, { headers })).json()) as { status: string };
  await expect.poll(async () => (await asked()).status, { timeout: 20_000 }).toBe("waiting_for_approval");
  const answer = post("/v1/chat/completions", { messages: [{ role: "user", content: "Hi" }] });
  await llm.arrived(2);
  expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ status: "ok" });
  expect((await run("gateway", "status", "--deep")).stdout).toContain("Turns running: 2");
  expect(await run("gateway", "stop")).toMatchObject({ code: 0 });
  expect(await (await answer).json()).toMatchObject({
    choices: [{ message: { content: "A long answer that is worth waiting for." }, finish_reason: "stop" }],
  });
});
