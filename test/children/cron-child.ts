// A scheduler process on a fast clock, for tests with several of them: prints each start and each alert before it continues.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { JobFile } from "../../src/cron/job-file.ts";
import { processOwner } from "../../src/cron/run/owner.ts";
import { Scheduler } from "../../src/cron/run/scheduler.ts";
import { createCronLedger } from "../../src/store/runtime/cron-ledger.ts";
import { openRuntimeDb } from "../../src/store/runtime-db.ts";

const [dir = "", began = "0", base = "0", speed = "1", until = "0"] = process.argv.slice(2);
/** The clock stands still before the start and at the end: jobs are not older than it, and a slow machine catches up. */
const now = () =>
  Math.max(Number(base), Math.min(Number(until), Number(base) + (Date.now() - Number(began)) * Number(speed)));

/** Each line is appended in one write: lines written before a kill -9 are complete. */
function say(name: string, line: string): void {
  appendFileSync(join(dir, name), `${line}\n`);
}

const ledger = createCronLedger(() => openRuntimeDb(join(dir, "runtime.db")));
const scheduler = new Scheduler({
  file: new JobFile(dir, () => "UTC"),
  ledger,
  owners: processOwner(),
  zone: () => "UTC",
  now,
  run: async (job, run) => {
    say("starts", `${job.id} ${run.occurrence}`);
    await sleep(Math.random() * 10);
    return { ok: true, reported: true };
  },
  alert: async (run) => {
    say("alerts", `${run.id}`);
    return undefined;
  },
  notice: (text) => say("notices", text),
  maxParallel: 0,
  // Far longer than the test on its fast clock: here a lease ends only when its process ends.
  leaseMs: 1e12,
});

while (now() < Number(until)) {
  await scheduler.tick();
  await sleep(5 + Math.random() * 15);
}
await scheduler.tick();
await scheduler.idle();
await scheduler.recover();
ledger.close();
