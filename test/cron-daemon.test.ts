// `hermes cron run` while the gateway runs: the gateway runs the job, and the terminal waits for the receipt.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hermesProgram, runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { until } from "./kit/until.ts";

let home: TempHome;
let gateway: ChildProcess;
let began: string;
let go: string;

const hermes = (...args: string[]) => runHermes(args, { home: home.path, env: { TZ: "UTC" } });
const history = async () => JSON.parse((await hermes("cron", "history", "--json")).stdout);

function start(...args: string[]): ChildProcess {
  const env = { PATH: process.env.PATH ?? "", HOME: home.path, HERMES_HOME: home.path, TZ: "UTC" };
  return spawn(process.execPath, [hermesProgram(), ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
}

beforeEach(async () => {
  home = tempHome();
  began = join(home.path, "began");
  go = join(home.path, "go");
  mkdirSync(join(home.path, "scripts"));
  const script = `echo x >> ${began}\nwhile [ ! -e ${go} ]; do sleep 0.05; done\necho done\n`;
  writeFileSync(join(home.path, "scripts", "wait.sh"), script);
  await hermes("cron", "create", "every 1d", "--script", "wait.sh", "--no-agent", "--name", "Wait");
  gateway = start("gateway", "run");
  await until(async () => (await hermes("cron", "status")).stdout.includes("Jobs are run"));
}, 60_000);
afterEach(async () => {
  if (gateway.exitCode === null && gateway.signalCode === null) {
    gateway.kill("SIGKILL");
    await once(gateway, "exit");
  }
  home.remove();
});

it("continues when its terminal is closed", { timeout: 60_000 }, async () => {
  const terminal = start("cron", "run", "Wait");
  await until(() => existsSync(began));
  terminal.kill("SIGKILL");
  await once(terminal, "exit");
  writeFileSync(go, "");
  await until(async () => (await history())[0]?.state !== "running");
  expect(await history()).toMatchObject([{ state: "ran", trigger: "manual" }]);
  expect((await history())[0].owner).toContain(`:${gateway.pid}:`);
});

it("ends with a receipt, and a second request during the run is refused", { timeout: 60_000 }, async () => {
  const first = hermes("cron", "run", "Wait");
  await until(() => existsSync(began));
  const second = await hermes("cron", "run", "Wait");
  expect(second.code).toBe(1);
  expect(second.stderr).toContain("is already running");
  writeFileSync(go, "");
  const receipt = await first;
  expect(receipt.code).toBe(0);
  const document = /Document: (\S+)/.exec(receipt.stdout)?.[1] ?? "";
  expect(readFileSync(document, "utf8")).toContain("done");
});

it("is reported as abandoned when the gateway is killed during the run", { timeout: 60_000 }, async () => {
  const order = hermes("cron", "run", "Wait");
  await until(() => existsSync(began));
  gateway.kill("SIGKILL");
  const receipt = await order;
  expect(receipt.code).toBe(1);
  expect(receipt.stdout).toMatch(/abandoned[\s\S]*ended before it had finished/);
  // The receipt already reported it: there is no second alert.
  expect(receipt.stderr).toBe("Running Wait …\n");
});
