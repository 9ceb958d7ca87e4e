// Four schedulers on one home, killed at random: every occurrence gets one row, one end, and at most one start.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { JobFile } from "../src/cron/job-file.ts";
import { createCronLedger } from "../src/store/runtime/cron-ledger.ts";
import { openRuntimeDb } from "../src/store/runtime-db.ts";
import { bundle } from "./kit/bundle.ts";
import { tempDir } from "./kit/temp-dir.ts";

const MINUTE = 60_000;
const BASE = Date.UTC(2026, 0, 1);
const OCCURRENCES = 60;
const JOBS = ["a", "b", "c", "d"].map((email) => email.repeat(12));
/** One simulated minute lasts 90 ms. */
const SPEED = MINUTE / 90;

let child: string;
let dir: string;

beforeAll(async () => {
  child = await bundle("test/children/cron-child.ts");
  dir = tempDir("hermes-schedulers-");
});
const started: ChildProcess[] = [];
afterAll(() => {
  for (const process of started) process.kill("SIGKILL");
  rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

function lines(name: string): string[] {
  const path = join(dir, name);
  return existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];
}

function writeJobs(): void {
  const jobs = JOBS.map((id) => ({
    id,
    name: id,
    prompt: "tick",
    schedule: { kind: "interval", minutes: 1, display: "every 1m" },
    next_run_at: new Date(BASE + MINUTE).toISOString(),
    repeat: { times: null, completed: 0 },
    // Killed schedulers leave gaps; missed occurrences are caught up.
    catch_up: "all",
    catch_up_limit: 100,
  }));
  writeFileSync(join(dir, "jobs.json"), JSON.stringify({ jobs }));
}

it("starts each occurrence once through random kills", async () => {
  writeJobs();
  const began = Date.now() + 300;
  const until = BASE + (OCCURRENCES + 0.5) * MINUTE;
  const args = [dir, began, BASE, SPEED, until].map(String);
  const start = (): ChildProcess => {
    const process = spawn(globalThis.process.execPath, [child, ...args], { stdio: ["ignore", "ignore", "inherit"] });
    started.push(process);
    return process;
  };
  const running = [start(), start(), start(), start()];
  let kills = 0;
  const now = () => BASE + (Date.now() - began) * SPEED;
  while (now() < until - 5 * MINUTE) {
    await sleep(150 + Math.random() * 250);
    const index = Math.floor(Math.random() * running.length);
    const victim = running[index];
    if (!victim || victim.exitCode !== null) continue;
    victim.kill("SIGKILL");
    kills += 1;
    await once(victim, "exit");
    running[index] = start();
  }
  await Promise.all(running.map((process) => (process.exitCode === null ? once(process, "exit") : undefined)));
  // One more tick closes the runs that the last killed process left open.
  const last = spawn(process.execPath, [child, ...args], { stdio: "inherit" });
  await once(last, "exit");

  const ledger = createCronLedger(() => openRuntimeDb(join(dir, "runtime.db")));
  const rows = await ledger.history({ limit: 100_000 });
  ledger.close();
  const starts = lines("starts");
  const alerts = lines("alerts");
  expect(kills).toBeGreaterThan(5);
  expect(starts.length).toBeGreaterThan(OCCURRENCES);
  expect(new Set(starts).size).toBe(starts.length);
  expect(rows.filter((row) => row.state === "running")).toEqual([]);
  expect(new Set(rows.map((row) => `${row.jobId} ${row.occurrence}`)).size).toBe(rows.length);
  for (const id of JOBS) {
    const own = rows.filter((row) => row.jobId === id).map((row) => row.occurrence);
    const minutes = own.map((at) => (at - BASE) / MINUTE).sort((a, b) => a - b);
    expect(minutes).toEqual(Array.from({ length: minutes.length }, (_, index) => index + 1));
    expect(minutes.length).toBeGreaterThanOrEqual(OCCURRENCES - 1);
  }
  const good = rows.filter((row) => row.state === "ran" || row.state === "caught_up");
  for (const row of good) expect(starts).toContain(`${row.jobId} ${row.occurrence}`);
  const abandoned = rows.filter((row) => row.state === "abandoned");
  const skipped = rows.filter((row) => row.state === "skipped");
  expect(good.length + abandoned.length + skipped.length).toBe(rows.length);
  expect(skipped.filter((row) => !row.reason)).toEqual([]);
  for (const row of abandoned) expect(alerts).toContain(String(row.id));
  expect(lines("notices")).toEqual([]);
  // Every started run is counted exactly once, although processes were killed while counting.
  const jobs = await new JobFile(dir, () => "UTC").list();
  for (const job of jobs) {
    const counted = rows.filter((row) => row.jobId === job.id && row.state !== "skipped").length;
    expect(job.repeat.completed).toBe(counted);
  }
}, 120_000);
