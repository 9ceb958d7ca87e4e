// `hermes cron` as a person uses it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hermesProgram, runHermes } from "./hermes.ts";
import { type TempHome, tempHome } from "./temp-home.ts";

let home: TempHome;
beforeEach(() => {
  home = tempHome();
});
afterEach(() => home.remove());

const hermes = (...args: string[]) => runHermes(["cron", ...args], { home: home.path, env: { TZ: "UTC" } });

it("makes a job, runs it with a receipt, shows its history and removes it", async () => {
  mkdirSync(join(home.path, "scripts"));
  writeFileSync(join(home.path, "scripts", "hello.sh"), "echo hello from the script\n");
  const made = await hermes(
    "create",
    "0 9 * * 1-5",
    "--script",
    "hello.sh",
    "--no-agent",
    "--name",
    "Hello",
    "--tz",
    "Asia/Tokyo",
    "--json",
  );
  expect(made.stderr).toBe("");
  const job = JSON.parse(made.stdout);
  expect(job).toMatchObject({ name: "Hello", deliver: "local", schedule: { tz: "Asia/Tokyo" } });
  expect(job.next_run_at).toMatch(/T09:00:00\+09:00$/);
  const before = readFileSync(join(home.path, "cron", "jobs.json"), "utf8");
  const [list, next, status] = await Promise.all([
    hermes("list"),
    hermes("next", "-n", "3", "--json"),
    hermes("status"),
  ]);
  expect(list.stdout).toContain("Hello");
  expect(list.stdout).toContain("Nothing runs jobs");
  expect(JSON.parse(next.stdout)).toHaveLength(3);
  expect(status.stdout).toContain("1 of 1 jobs are active");
  expect(readFileSync(join(home.path, "cron", "jobs.json"), "utf8")).toBe(before);
  const run = await hermes("run", "hello");
  expect(run.code).toBe(0);
  expect(run.stdout).toContain("ran");
  const document = /Document: (\S+)/.exec(run.stdout)?.[1] ?? "";
  expect(readFileSync(document, "utf8")).toContain("hello from the script");
  expect(JSON.parse((await hermes("history", "--json")).stdout)).toMatchObject([{ state: "ran", trigger: "manual" }]);
  expect((await hermes("pause", "Hello", "--reason", "holiday")).stdout).toContain("Paused");
  expect((await hermes("remove", job.id)).stdout).toContain("Removed");
  expect((await hermes("list")).stdout).toContain("No scheduled jobs");
});

it("names the cure for what it cannot do", async () => {
  const results = await Promise.all([
    hermes("create", "sometimes", "x"),
    hermes("create", "1h", "x", "--deliver", "telegram"),
    hermes("pause", "nobody"),
  ]);
  expect(results.map((result) => result.code)).toEqual([2, 2, 2]);
  expect(results[0]?.stderr).toContain("every 30m");
  expect(results[1]?.stderr).toContain("telegram");
  expect(results[2]?.stderr).toContain("hermes cron list");
});

it("ends a run whose process was killed as abandoned, tells it once, and does not start it again", async () => {
  const marker = join(home.path, "began");
  mkdirSync(join(home.path, "scripts"));
  writeFileSync(join(home.path, "scripts", "slow.sh"), `echo x >> ${marker}\nsleep 60\n`);
  await hermes("create", "every 1d", "--script", "slow.sh", "--no-agent", "--name", "Slow");
  const env = { PATH: process.env.PATH ?? "", HOME: home.path, HERMES_HOME: home.path };
  const child = spawn(process.execPath, [hermesProgram(), "cron", "run", "Slow"], { env, stdio: "ignore" });
  while (!existsSync(marker)) await sleep(20);
  expect((await hermes("list")).stdout).toContain("running");
  child.kill("SIGKILL");
  await once(child, "exit");
  const [first, second] = [await hermes("tick"), await hermes("tick")];
  expect(first.stderr).toContain('The scheduled job "Slow" was cut off');
  expect(second.stderr).toBe("");
  const history = JSON.parse((await hermes("history", "--json")).stdout);
  expect(history).toMatchObject([{ state: "abandoned", alert: "sent" }]);
  expect(readFileSync(marker, "utf8")).toBe("x\n");
  expect((await hermes("list")).stdout).toContain("scheduled");
});
