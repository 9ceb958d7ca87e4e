// `hermes gateway setup`: questions in a terminal, instructions elsewhere, and a real sign-in in both.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hermesProgram, runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { FakeTelegram } from "./servers/fake-telegram.ts";

let home: TempHome;
let telegram: FakeTelegram;

beforeEach(async () => {
  home = tempHome();
  telegram = await new FakeTelegram().start();
});

afterEach(async () => {
  await telegram.close();
  home.remove();
});

function openTerminal(...args: string[]) {
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: home.path,
    HERMES_HOME: home.path,
    TELEGRAM_API_ROOT: telegram.url,
    NO_COLOR: "1",
    TERM: "xterm",
  };
  const terminal = spawn(process.execPath, [hermesProgram(), ...args], { cwd: home.path, env, cols: 160, rows: 50 });
  let screen = "";
  terminal.onData((data) => {
    screen += data;
  });
  const exit = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  return {
    exit,
    sees: (words: string) => expect.poll(() => screen, { timeout: 20_000 }).toContain(words),
    types: (line: string) => terminal.write(`${line}\r`),
    screen: () => screen,
    kill: () => terminal.kill("SIGKILL"),
  };
}

it("asks for the required settings, does not show the token, and signs in", { timeout: 90_000 }, async () => {
  const ada = openTerminal("gateway", "setup");
  try {
    await ada.sees("Number or name");
    ada.types("1");
    await ada.sees("Token from @BotFather, not shown");
    ada.types("123456:WRONG-token-of-nobody-at-all-0000");
    await ada.sees("Ids of users who may write");
    ada.types("");
    await ada.sees("✗ Telegram: Telegram rejected the bot token");
    await ada.sees("Try again?");
    ada.types("y");
    await expect.poll(() => ada.screen().split("not shown").length, { timeout: 20_000 }).toBeGreaterThan(2);
    // A value that was entered before is kept.
    await ada.sees("not shown (Enter keeps it)");
    ada.types(telegram.token);
    await expect.poll(() => ada.screen().split("may write").length, { timeout: 20_000 }).toBeGreaterThan(2);
    ada.types("5");
    await ada.sees("✓ Signed in to Telegram as hermes_bot.");
    await ada.sees("hermes gateway start");
    expect(await ada.exit).toBe(0);
  } finally {
    ada.kill();
  }
  expect(ada.screen()).not.toContain(telegram.token);
  const file = join(home.path, ".env");
  expect(readFileSync(file, "utf8")).toContain(`TELEGRAM_BOT_TOKEN=${telegram.token}`);
  expect(readFileSync(file, "utf8")).toContain("TELEGRAM_ALLOWED_USERS=5");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(telegram.calls.map((call) => call.method)).not.toContain("getUpdates");
});

it("prints instructions without a terminal, and checks the existing settings", { timeout: 60_000 }, async () => {
  const run = (args: string[], env: { [name: string]: string } = {}) =>
    runHermes(["gateway", "setup", ...args], { home: home.path, env: { TELEGRAM_API_ROOT: telegram.url, ...env } });
  const bare = await run([]);
  expect(bare.code).toBe(0);
  expect(bare.stdout).toContain("TELEGRAM_BOT_TOKEN (needed)");
  expect(bare.stdout).toContain("hermes config set TELEGRAM_BOT_TOKEN <value>");
  expect(await run(["--check"])).toMatchObject({ code: 1 });
  const good = await run(["telegram", "--check"], { TELEGRAM_BOT_TOKEN: telegram.token });
  expect(good).toMatchObject({ code: 0 });
  expect(good.stdout).toContain("✓ Signed in to Telegram as hermes_bot.");
  const typo = await run(["telegarm"]);
  expect(typo).toMatchObject({ code: 2 });
  expect(typo.stderr).toContain("telegram");
});
