// Results of jobs that run outside the gateway are delivered once, by the gateway's outbox or by the command itself.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fullProof } from "./kit/full-proof.ts";
import { hermesProgram, runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { FakeTelegram } from "./servers/fake-telegram.ts";

const KILLS = fullProof ? 40 : 8;
const CHAT = 42;

let home: TempHome;
let telegram: FakeTelegram;

beforeEach(async () => {
  home = tempHome();
  telegram = await new FakeTelegram({ latencyMs: 20 }).start();
  mkdirSync(join(home.path, "scripts"));
  // Each run prints a unique number.
  writeFileSync(join(home.path, "scripts", "count.sh"), 'echo "result #$$$(date +%s%N)#"\n');
});
afterEach(async () => {
  await hermes("gateway", "stop");
  await telegram.close();
  home.remove();
});

const env = () => ({ TZ: "UTC", TELEGRAM_BOT_TOKEN: telegram.token, TELEGRAM_API_ROOT: telegram.url });
const hermes = (...args: string[]) => runHermes(args, { home: home.path, env: env() });

async function makeJob(deliver = `telegram:${CHAT}`): Promise<void> {
  const made = await hermes(
    ...["cron", "create", "every 1d", "--script", "count.sh", "--no-agent"],
    ...["--name", "Count", "--deliver", deliver],
  );
  expect(made.stderr).toBe("");
}

const texts = () => telegram.fromBot(CHAT).map((message) => message.text);
const numbers = () => texts().flatMap((words) => /#(\d+)#/.exec(words)?.[1] ?? []);

describe("hermes cron outside the gateway", { timeout: 120_000 }, () => {
  it("sends the result itself when no gateway runs, and receives nothing", async () => {
    await makeJob();
    const run = await hermes("cron", "run", "Count");
    expect([run.code, run.stderr]).toEqual([0, "Running Count …\n"]);
    expect(texts()).toHaveLength(1);
    expect(texts()[0]).toContain("Scheduled job: Count");
    expect(telegram.calls.map(({ method }) => method)).not.toContain("getUpdates");
    const history = JSON.parse((await hermes("cron", "history", "--json")).stdout);
    expect(history).toMatchObject([{ state: "ran", deliveryError: null }]);
  });

  it("leaves it to a running gateway, which continues to receive messages", async () => {
    await makeJob();
    expect((await hermes("gateway", "start")).code).toBe(0);
    expect((await hermes("cron", "run", "Count")).code).toBe(0);
    await telegram.until(() => texts().length === 1, 20_000);
    await hermes("gateway", "stop");
    expect((await hermes("cron", "run", "Count")).code).toBe(0);
    expect(new Set(numbers()).size).toBe(2);
  });

  it("knows the home channel that the configuration names, with its topic", async () => {
    const section = `platforms:\n  telegram:\n    home_channel:\n      chat_id: "${CHAT}"\n      thread_id: "17"\n`;
    writeFileSync(join(home.path, "config.yaml"), section);
    await makeJob("telegram,all");
    expect((await hermes("cron", "run", "Count")).code).toBe(0);
    expect(texts()).toHaveLength(1);
    const [post] = telegram.calls.filter(({ method }) => method === "sendMessage");
    expect(Number(post?.params.message_thread_id)).toBe(17);
    const other = await hermes("cron", "create", "1h", "x", "--deliver", "slack");
    expect(other.stderr).toContain("slack is not set up here");
  });

  it("reports the error of the chat, and keeps the result", async () => {
    await makeJob();
    telegram.fault = "refuse";
    const run = await hermes("cron", "run", "Count");
    expect(run.code).toBe(0);
    expect(run.stderr).toContain("not delivered");
    expect((await hermes("cron", "list")).stdout).toContain("delivery failed");
    expect((await hermes("cron", "status")).stdout).toContain("Failures in the last seven days");
    telegram.fault = "none";
    // It stayed in the outbox: the next tick sends it.
    await hermes("cron", "tick");
    expect(numbers()).toHaveLength(1);
    await hermes("cron", "tick");
    expect(numbers()).toHaveLength(1);
  });
});

it("gives up on a result that can never be sent, and reports it", { timeout: 60_000 }, async () => {
  await makeJob();
  const wrong = { ...env(), TELEGRAM_BOT_TOKEN: "123456:WRONG-token-of-nobody-at-all-0000" };
  const run = await runHermes(["cron", "run", "Count", "--json"], { home: home.path, env: wrong });
  expect(JSON.parse(run.stdout)).toMatchObject({ state: "ran" });
  expect(JSON.parse(run.stdout).deliveryError).toContain("rejected the bot token");
  await hermes("cron", "tick");
  expect(texts()).toEqual([]);
});

it(`is sent once in spite of ${KILLS} kills`, { timeout: 60_000 + KILLS * 8_000 }, async () => {
  await makeJob();
  const began = performance.now();
  await hermes("cron", "run", "Count");
  const usual = performance.now() - began;
  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [hermesProgram(), "cron", "run", "Count"], {
      env: { PATH: process.env.PATH ?? "", HOME: home.path, HERMES_HOME: home.path, ...env() },
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    const calls = telegram.calls.length;
    // Every third is killed at any point, the others during a call to Telegram.
    if (kill % 3 === 0) await Promise.race([ended, sleep(usual * Math.random() * 1.2)]);
    else {
      while (telegram.calls.length === calls && child.exitCode === null) await sleep(2);
      await Promise.race([ended, sleep(Math.random() * 120)]);
    }
    child.kill("SIGKILL");
    await ended;
  }
  await hermes("cron", "tick");
  await hermes("cron", "tick");
  const history = await hermes("cron", "history", "--limit", "1000", "--json");
  const runs = JSON.parse(history.stdout) as { readonly state: string; readonly alert: string }[];
  const sent = numbers();
  const noted = texts().filter((words) => words.startsWith("(Sent again")).length;
  process.stdout.write(
    `${KILLS} kills: ${runs.length} runs, ${sent.length} results sent, ${noted} again with a note\n`,
  );
  expect(sent.length - new Set(sent).size).toBe(0);
  expect(noted).toBe(0);
  expect(new Set(sent).size).toBeGreaterThanOrEqual(runs.filter(({ state }) => state === "ran").length);
  // An alert whose sender was killed is sent again when its lease has expired, with the same key.
  const alerts = texts().filter((words) => words.includes("was cut off"));
  const abandoned = runs.filter(({ state }) => state === "abandoned");
  expect(new Set(alerts).size).toBe(alerts.length);
  expect(alerts.length).toBeLessThanOrEqual(abandoned.length);
  expect(alerts.length).toBeGreaterThanOrEqual(abandoned.filter(({ alert }) => alert === "sent").length);
});

it("is sent once when the gateway is killed while sending it", { timeout: 180_000 }, async () => {
  await makeJob();
  const start = () => {
    const child = spawn(process.execPath, [hermesProgram(), "gateway", "run"], {
      env: { PATH: process.env.PATH ?? "", HOME: home.path, HERMES_HOME: home.path, ...env() },
      stdio: "ignore",
    });
    return { child, ended: once(child, "exit") };
  };
  // The first message of a chat has no earlier message id to search from.
  await hermes("cron", "run", "Count");
  let ran = 1;
  let gateway = start();
  for (let round = 0; round < KILLS; round++) {
    const run = hermes("cron", "run", "Count");
    await sleep(Math.random() * 800);
    gateway.child.kill("SIGKILL");
    await gateway.ended;
    if (round % 2 === 0) gateway = start();
    const { code, stdout, stderr } = await run;
    expect(stderr).toBe("Running Count …\n");
    // A run that the gateway had begun itself is interrupted with it, and is reported.
    if (code === 0) ran += 1;
    else expect([code, stdout]).toEqual([1, expect.stringContaining("abandoned")]);
    if (round % 2 === 1) gateway = start();
  }
  await telegram.until(() => new Set(numbers()).size >= ran, 60_000);
  gateway.child.kill("SIGTERM");
  await gateway.ended;
  await hermes("cron", "tick");
  const sent = numbers();
  expect(sent).toHaveLength(new Set(sent).size);
  expect(sent.length).toBeGreaterThanOrEqual(ran);
});
