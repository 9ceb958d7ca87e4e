// Many jobs are due at once and the process that runs them is killed: jobs that had not started run once after the restart.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createCronLedger } from "../src/store/runtime/cron-ledger.ts";
import { openRuntimeDb } from "../src/store/runtime-db.ts";
import { fullProof } from "./kit/full-proof.ts";
import { hermesProgram } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";

const JOBS = 200;
const MINUTE = 60_000;
/** Runs that may be under way when a process is killed: a few start at a time. */
const FEW = 20;

let home: TempHome;
let gateway: ChildProcess | undefined;

function start(): ChildProcess {
  const env = { PATH: process.env.PATH ?? "", HOME: home.path, HERMES_HOME: home.path, TZ: "UTC" };
  gateway = spawn(process.execPath, [hermesProgram(), "gateway", "run"], { env, stdio: "ignore" });
  return gateway;
}

async function kill(): Promise<void> {
  if (!gateway || gateway.exitCode !== null || gateway.signalCode !== null) return;
  gateway.kill("SIGKILL");
  await once(gateway, "exit");
}

const done = (): string[] => {
  const path = join(home.path, "runs");
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
};

async function rows() {
  const ledger = createCronLedger(() => openRuntimeDb(join(home.path, "runtime.db")));
  try {
    return await ledger.history({ limit: 10_000 });
  } finally {
    ledger.close();
  }
}

/** Scripts without the model, all due half a minute ago and then a day later. */
function writeJobs(): void {
  mkdirSync(join(home.path, "cron"), { recursive: true });
  mkdirSync(join(home.path, "scripts"), { recursive: true });
  const due = new Date(Math.floor((Date.now() - 30_000) / MINUTE) * MINUTE);
  const expr = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`;
  const jobs = Array.from({ length: JOBS }, (_, index) => {
    const id = index.toString(16).padStart(12, "0");
    writeFileSync(join(home.path, "scripts", `${id}.sh`), `echo ${id} >> ${join(home.path, "runs")}\n`);
    return {
      id,
      name: `Job ${index}`,
      prompt: "",
      script: `${id}.sh`,
      no_agent: true,
      deliver: "local",
      schedule: { kind: "cron", expr, display: expr, tz: "UTC" },
      next_run_at: due.toISOString(),
      enabled: true,
      state: "scheduled",
      repeat: { times: null, completed: 0 },
    };
  });
  writeFileSync(join(home.path, "cron", "jobs.json"), JSON.stringify({ jobs }));
}

beforeEach(() => {
  home = tempHome();
  writeJobs();
});
afterEach(async () => {
  await kill();
  home.remove();
});

/** The full form kills in every tenth of the first three seconds. */
const KILL_AFTER = fullProof ? Array.from({ length: 30 }, (_, index) => (index + 1) * 100) : [50, 900];

it.each(KILL_AFTER)(
  "loses no run that had not started: killed %i ms after the first run",
  async (ms) => {
    start();
    while (done().length === 0) await sleep(10);
    await sleep(ms);
    await kill();
    start();
    for (;;) {
      const all = await rows();
      if (all.length >= JOBS && all.every((run) => run.state !== "running")) break;
      await sleep(200);
    }
    await kill();
    const ran = done();
    const abandoned = (await rows()).filter((run) => run.state === "abandoned");
    expect(new Set(ran).size).toBe(ran.length);
    expect(abandoned.length).toBeLessThanOrEqual(FEW);
    expect(ran.length).toBeGreaterThanOrEqual(JOBS - FEW);
    const missing = Array.from({ length: JOBS }, (_, index) => index.toString(16).padStart(12, "0")).filter(
      (id) => !ran.includes(id),
    );
    // Runs that did not finish are reported as abandoned.
    expect(missing.filter((id) => !abandoned.some((run) => run.jobId === id))).toEqual([]);
  },
  40_000,
);
