// `hermes gateway` and `hermes pairing` end to end: start, status, second start, stop, exit codes.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";
import { tempHome } from "./kit/temp-home.ts";
import { type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";
import { FakeTelegram } from "./servers/fake-telegram.ts";

const home = tempHome();
let telegram: FakeTelegram;
let llm: FakeLlm;
const run = (...args: string[]) =>
  runHermes(args, { home: home.path, env: { TELEGRAM_BOT_TOKEN: telegram.token, TELEGRAM_API_ROOT: telegram.url } });

beforeAll(async () => {
  telegram = await new FakeTelegram().start();
  llm = await startFakeLlm({ script: (request) => text(`You said: ${String(request.messages.at(-1)?.text)}`) });
  home.useModel(llm);
});
afterAll(async () => {
  await run("gateway", "stop");
  await telegram.close();
  await llm.close();
  home.remove();
});

describe("hermes gateway", { timeout: 60_000 }, () => {
  it("reports missing settings and that no gateway runs", async () => {
    const status = await run("gateway", "status");
    expect(status).toMatchObject({ code: 3 });
    expect(status.stdout).toContain("hermes gateway start");
    const setup = await run("gateway", "setup");
    expect(setup.stdout).toContain("✓ Telegram");
    expect(setup.stdout).not.toContain(telegram.token);
  });

  it("starts, pairs a user, answers, reports its status, refuses a second instance, and stops", async () => {
    expect(await run("gateway", "start")).toMatchObject({ code: 0 });
    telegram.say(5, "hello");
    await telegram.until(() => telegram.fromBot(5).length === 1, 20_000);
    const code = /approve telegram (\w+)/.exec(telegram.fromBot(5)[0]?.text ?? "")?.[1] ?? "";
    expect((await run("pairing", "list")).stdout).toContain("waiting   telegram  5");
    expect((await run("pairing", "approve", "telegram", "NOTRIGHT")).code).toBe(1);
    expect((await run("pairing", "approve", "telegram", code)).stdout).toContain("may now write");
    telegram.say(5, "now me");
    await telegram.until(() => telegram.fromBot(5).some((message) => message.text === "You said: now me"), 20_000);
    const status = await run("gateway", "status", "--deep");
    expect(status.code).toBe(0);
    expect(status.stdout).toContain("✓ telegram as hermes_bot: ok");
    expect(status.stdout).toContain("0 to send");
    expect(status.stdout).toContain("Scheduled jobs: last tick");
    expect(await run("gateway", "run")).toMatchObject({ code: 3 });
    const log = readFileSync(join(home.path, "logs", "gateway.log"), "utf8");
    expect(log).not.toContain(telegram.token);
    expect(log).not.toContain(code);
    expect(await run("gateway", "stop")).toMatchObject({ code: 0 });
    expect(await run("gateway", "status")).toMatchObject({ code: 3 });
    expect(JSON.parse(readFileSync(join(home.path, "gateway_state.json"), "utf8"))).toMatchObject({
      gateway_state: "stopped",
    });
  });

  it("starts again after kill -9", async () => {
    await run("gateway", "start");
    const status = JSON.parse((await run("gateway", "status", "--json")).stdout) as { pid: number };
    process.kill(status.pid, "SIGKILL");
    expect(existsSync(join(home.path, "gateway.sock"))).toBe(true);
    const deadline = Date.now() + 10_000;
    let again = await run("gateway", "status");
    while (again.code !== 3 && Date.now() < deadline) again = await run("gateway", "status");
    expect(again.code).toBe(3);
    expect((await run("gateway", "start")).code).toBe(0);
    expect((await run("gateway", "stop")).code).toBe(0);
  });
});
