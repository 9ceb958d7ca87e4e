// The real scheduler and its ledger on a simulated clock, in forty zones: each occurrence at its instant, one row, one end.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { JobFile } from "../src/cron/job-file.ts";
import { processOwner } from "../src/cron/run/owner.ts";
import { Scheduler } from "../src/cron/run/scheduler.ts";
import { createCronLedger } from "../src/store/runtime/cron-ledger.ts";
import { openRuntimeDb } from "../src/store/runtime-db.ts";
import { fullProof } from "./kit/full-proof.ts";
import { END, findEras, oracle, SCHEDULES, START, type Wanted, ZONES } from "./kit/zone-oracle.ts";

/** The full form simulates both years in one go; the short form the nights in which most clocks change. */
const SPANS: readonly (readonly [number, number])[] = fullProof
  ? [[START, END]]
  : [
      [Date.UTC(2026, 2, 7), Date.UTC(2026, 2, 10)],
      [Date.UTC(2026, 2, 27), Date.UTC(2026, 2, 31)],
      [Date.UTC(2026, 3, 3), Date.UTC(2026, 3, 7)],
      [Date.UTC(2027, 9, 2), Date.UTC(2027, 9, 5)],
      [Date.UTC(2026, 9, 24), Date.UTC(2026, 9, 26)],
      [Date.UTC(2026, 9, 31), Date.UTC(2026, 10, 2)],
    ];
/** Daily in the hour that clocks jump over, and several times in the nights of Sundays. */
const WANTED: readonly Wanted[] = SCHEDULES.filter(({ expr }) => expr === "30 2 * * *" || expr === "15 1,2,3 * * 0");
/** After so many ticks two schedulers tick at once, and after so many one is restarted. */
const TOGETHER = 5;
const RESTART = 97;

let folder = "";
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** In memory where the machine has such a folder: nothing here is about the disk. */
function newFolder(): string {
  const memory = "/dev/shm";
  return mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), "hermes-years-"));
}

function program(now: () => number) {
  const file = new JobFile(folder, () => "UTC");
  const ledger = createCronLedger(() => openRuntimeDb(join(folder, "runtime.db")));
  const scheduler = new Scheduler({
    file,
    ledger,
    owners: processOwner(),
    zone: () => "UTC",
    now,
    run: async () => ({ ok: true, reported: true }),
    alert: async (run) => {
      throw new Error(`nothing should be wrong: ${run.reason}`);
    },
    notice: (text) => {
      throw new Error(text);
    },
    maxParallel: 0,
  });
  return { file, ledger, scheduler };
}

interface Expected {
  readonly wanted: Wanted;
  readonly zone: string;
  readonly due: readonly number[];
}

/** Both years of every job, counted once. */
const YEARS: readonly Expected[] = ZONES.flatMap((zone) => {
  const eras = findEras(zone);
  return WANTED.map((wanted) => ({ wanted, zone, due: oracle(wanted, eras) }));
});

function jobsFor(from: number, until: number): readonly Expected[] {
  return YEARS.map((job) => ({ ...job, due: job.due.filter((at) => at > from && at <= until) }));
}

function writeJobs(expected: readonly Expected[]): void {
  const jobs = expected.map(({ wanted, zone }, index) => ({
    id: index.toString(16).padStart(12, "0"),
    name: `${wanted.expr} ${zone}`,
    prompt: "Say it",
    schedule: { kind: "cron", expr: wanted.expr, display: wanted.expr, tz: zone },
    next_run_at: null,
    enabled: true,
    state: "scheduled",
    repeat: { times: null, completed: 0 },
  }));
  writeFileSync(join(folder, "jobs.json"), JSON.stringify({ jobs }));
}

/** The first full minute at which the file says that something is due, as the ticker would meet it. */
async function nextTick(file: JobFile): Promise<number> {
  const due = (await file.list()).map((job) => Date.parse(job.next_run_at ?? ""));
  return Math.ceil(Math.min(...due) / 60_000) * 60_000;
}

async function simulate(from: number, until: number): Promise<{ rows: number; ticks: number }> {
  folder = newFolder();
  const expected = jobsFor(from, until);
  writeJobs(expected);
  let now = from;
  let ticks = 0;
  const second = program(() => now);
  let first = program(() => now);
  await first.scheduler.tick();
  for (now = await nextTick(first.file); now <= until; now = await nextTick(first.file)) {
    // A tick comes a little after the minute.
    now += (ticks % 4) * 5_000;
    const programs = ticks % TOGETHER === 0 ? [first, second] : [first];
    await Promise.all(programs.map(({ scheduler }) => scheduler.tick()));
    await Promise.all(programs.map(({ scheduler }) => scheduler.idle()));
    ticks += 1;
    if (ticks % RESTART !== 0) continue;
    first.ledger.close();
    first = program(() => now);
  }
  const jobs = await first.file.list();
  let rows = 0;
  for (const [index, { wanted, zone, due }] of expected.entries()) {
    const job = jobs[index];
    const history = [...(await first.ledger.history({ jobId: job?.id ?? "", limit: 100_000 }))].reverse();
    const found = history.map((run) => run.occurrence).sort((a, b) => a - b);
    const words = (times: readonly number[]) => times.map((at) => new Date(at).toISOString());
    if (found.join() !== due.join()) expect(words(found), `${wanted.expr} in ${zone}`).toEqual(words(due));
    const odd = history.filter((run) => run.state !== "ran" || run.count !== 1 || run.endedAt === null);
    expect(odd).toEqual([]);
    expect(job?.repeat.completed).toBe(due.length);
    rows += history.length;
  }
  expect(await first.ledger.open()).toEqual([]);
  first.ledger.close();
  second.ledger.close();
  return { rows, ticks };
}

it("runs each occurrence in forty zones once, at its instant", {
  timeout: fullProof ? 3_600_000 : 120_000,
}, async () => {
  const began = process.cpuUsage();
  let rows = 0;
  let ticks = 0;
  for (const [from, until] of SPANS) {
    const done = await simulate(from, until);
    rows += done.rows;
    ticks += done.ticks;
    rmSync(folder, { recursive: true, force: true });
  }
  const { user, system } = process.cpuUsage(began);
  const days = SPANS.reduce((sum, [from, until]) => sum + (until - from) / 86_400_000, 0);
  process.stdout.write(
    `${days} days × ${ZONES.length} zones: ${rows} occurrences, ${rows} rows, ${ticks} ticks, ${Math.round((user + system) / 1e6)} s of CPU\n`,
  );
  expect(rows).toBeGreaterThan(days * ZONES.length);
});
