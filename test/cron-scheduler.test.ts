// The scheduler with a real file and a real ledger, on a clock that the test moves.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Job, JobRun } from "../src/core/job.ts";
import { JobFile } from "../src/cron/job-file.ts";
import { processOwner } from "../src/cron/owner.ts";
import { type JobResult, Scheduler } from "../src/cron/scheduler.ts";
import { createCronLedger } from "../src/store/runtime/cron-ledger.ts";
import { openRuntimeDb } from "../src/store/runtime-db.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NINE = Date.UTC(2026, 4, 4, 9);

let dir: string;
let now: number;
let alerts: string[];
let runs: string[];
let result: (job: Job, signal: AbortSignal) => Promise<JobResult>;
let opened: { close(): void }[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hermes-cron-"));
  now = NINE;
  alerts = [];
  runs = [];
  opened = [];
  result = async () => ({ ok: true, told: true });
});
afterEach(() => {
  for (const item of opened) item.close();
  rmSync(dir, { recursive: true, force: true });
});

const ID = "a1b2c3d4e5f6";

function jobs(...given: { readonly [field: string]: unknown }[]): void {
  const all = given.map((fields) => ({
    id: ID,
    name: "Briefing",
    prompt: "Say it",
    schedule: { kind: "cron", expr: "0 9 * * *", display: "0 9 * * *", tz: "UTC" },
    next_run_at: new Date(NINE).toISOString(),
    enabled: true,
    state: "scheduled",
    repeat: { times: null, completed: 0 },
    ...fields,
  }));
  writeFileSync(join(dir, "jobs.json"), JSON.stringify({ jobs: all }));
}

function open(options: { maxParallel?: number; lost?: boolean; leaseMs?: number; renewMs?: number } = {}) {
  const file = new JobFile(dir, () => "UTC");
  const ledger = createCronLedger(() => openRuntimeDb(join(dir, "runtime.db")));
  opened.push(ledger);
  const self = processOwner();
  const owners = options.lost ? { self: "elsewhere:1:x", lives: () => "unknown" as const } : self;
  const scheduler = new Scheduler({
    file,
    ledger,
    owners,
    zone: () => "UTC",
    now: () => now,
    run: async (job, run, signal) => {
      runs.push(`${job.id} ${new Date(run.occurrence).toISOString()}`);
      return result(job, signal);
    },
    alert: async (run: JobRun) => {
      alerts.push(`${run.state} ×${run.count}: ${run.reason}`);
      return undefined;
    },
    notice: (text) => {
      throw new Error(text);
    },
    maxParallel: options.maxParallel ?? 0,
    ...(options.leaseMs ? { leaseMs: options.leaseMs } : {}),
    ...(options.renewMs ? { renewMs: options.renewMs } : {}),
  });
  const tick = async () => {
    const report = await scheduler.tick();
    await scheduler.idle();
    return report;
  };
  const job = async () => (await file.list())[0] as Job;
  const states = async () => [...(await ledger.history({ limit: 1000 }))].reverse().map((run) => run.state);
  return { file, ledger, scheduler, tick, job, states };
}

describe("a due job", () => {
  it("runs once, is counted, and moves on", async () => {
    jobs({});
    const { tick, job, states } = open();
    now = NINE - 1;
    expect((await tick()).started).toBe(0);
    now = NINE + 20_000;
    expect((await tick()).started).toBe(1);
    expect((await tick()).started).toBe(0);
    expect(runs).toEqual([`${ID} 2026-05-04T09:00:00.000Z`]);
    expect(await job()).toMatchObject({
      state: "scheduled",
      next_run_at: "2026-05-05T09:00:00+00:00",
      last_run_at: "2026-05-04T09:00:20+00:00",
      last_status: "ok",
      repeat: { times: null, completed: 1 },
    });
    expect(await states()).toEqual(["ran"]);
    expect(alerts).toEqual([]);
  });

  it("is shown as running while it runs, and a removed one does not come back", async () => {
    jobs({});
    const { scheduler, file, job } = open();
    let finish = () => undefined as undefined;
    const gate = new Promise<void>((resolve) => {
      finish = () => resolve() as undefined;
    });
    result = async () => {
      await gate;
      return { ok: true, told: true };
    };
    await scheduler.tick();
    expect((await job()).state).toBe("running");
    await file.change(async () => ({ jobs: [], result: undefined }));
    finish();
    await scheduler.idle();
    expect(await file.list()).toEqual([]);
  });

  it("is completed after its last repetition and does not run again", async () => {
    jobs({ repeat: { times: 2, completed: 1 } });
    const { tick, job } = open();
    await tick();
    expect(await job()).toMatchObject({
      state: "completed",
      enabled: false,
      next_run_at: null,
      repeat: { completed: 2 },
    });
    now += DAY;
    expect((await tick()).started).toBe(0);
  });

  it("that happens once is completed", async () => {
    jobs({
      schedule: { kind: "once", run_at: "2026-05-04T09:00:00+00:00", display: "once" },
      repeat: { times: 1, completed: 0 },
    });
    const { tick, job } = open();
    await tick();
    expect(await job()).toMatchObject({ state: "completed", enabled: false, last_status: "ok" });
  });

  it("that fails is told once", async () => {
    jobs({});
    const { tick, job, states } = open();
    result = async () => {
      throw new Error("no network");
    };
    await tick();
    await tick();
    expect(await states()).toEqual(["failed"]);
    expect(alerts).toEqual(["failed ×1: no network"]);
    expect(await job()).toMatchObject({ last_status: "error", last_error: "no network", state: "scheduled" });
  });

  it("paused, disabled or completed does not run", async () => {
    jobs({ enabled: false, state: "paused" });
    const { tick } = open();
    expect((await tick()).started).toBe(0);
  });
});

describe("jobs of one tick", () => {
  it("run at the same time, up to the limit", async () => {
    jobs(...["a", "b", "c", "d"].map((letter) => ({ id: letter.repeat(12) })));
    let together = 0;
    let most = 0;
    result = async () => {
      most = Math.max(most, ++together);
      await new Promise((resolve) => setTimeout(resolve, 10));
      together -= 1;
      return { ok: true, told: true };
    };
    expect((await open({ maxParallel: 2 }).tick()).started).toBe(4);
    expect(most).toBe(2);
    expect(runs).toHaveLength(4);
  });
});

describe("missed occurrences", () => {
  it("late within the grace period run, later ones are recorded with a reason and told once", async () => {
    jobs({});
    const { tick, states, job } = open();
    now = NINE + 3 * DAY + HOUR;
    expect(await tick()).toMatchObject({ started: 1, missed: 3 });
    expect(await states()).toEqual(["skipped", "skipped", "skipped", "ran"]);
    expect(alerts).toHaveLength(1);
    expect(alerts[0]).toContain("nothing ran jobs at that time");
    expect(runs).toEqual([`${ID} 2026-05-07T09:00:00.000Z`]);
    expect((await job()).next_run_at).toBe("2026-05-08T09:00:00+00:00");
  });

  it("are all skipped when even the newest is too late", async () => {
    jobs({});
    const { tick, states } = open();
    now = NINE + 3 * HOUR;
    expect(await tick()).toMatchObject({ started: 0, missed: 1 });
    expect(await states()).toEqual(["skipped"]);
    expect(alerts).toHaveLength(1);
  });

  it("are caught up: the latest one", async () => {
    jobs({ catch_up: "latest" });
    const { tick, states } = open();
    now = NINE + 3 * DAY - HOUR;
    await tick();
    expect(await states()).toEqual(["skipped", "skipped", "caught_up"]);
    expect(runs).toEqual([`${ID} 2026-05-06T09:00:00.000Z`]);
  });

  it("are caught up: all of them in order, up to the limit", async () => {
    jobs({ catch_up: "all", catch_up_limit: 3 });
    const { tick, states, job } = open();
    now = NINE + 5 * DAY + MINUTE;
    await tick();
    expect(await states()).toEqual(["skipped", "skipped", "skipped", "caught_up", "caught_up", "ran"]);
    expect(runs.map((run) => run.slice(13, 23))).toEqual(["2026-05-07", "2026-05-08", "2026-05-09"]);
    expect((await job()).repeat.completed).toBe(3);
  });

  it("of a one-off are an error that stays visible", async () => {
    jobs({ schedule: { kind: "once", run_at: "2026-05-04T09:00:00+00:00", display: "once" } });
    const { tick, job, states } = open();
    now = NINE + 10 * MINUTE;
    await tick();
    await tick();
    expect(await states()).toEqual(["skipped"]);
    expect(await job()).toMatchObject({ state: "error", enabled: false, last_status: "error" });
    expect(alerts).toHaveLength(1);
  });

  it("by the hundred thousand share a row and do not block", async () => {
    jobs({ schedule: { kind: "interval", minutes: 1, display: "every 1m" } });
    const { tick, ledger, job } = open();
    now = NINE + 200 * DAY;
    await tick();
    const rows = await ledger.history({ limit: 10_000 });
    expect(rows.length).toBeLessThan(1000);
    const total = rows.reduce((sum, row) => sum + row.count, 0);
    expect(Math.abs(total - 200 * 1440 - 1)).toBeLessThan(10);
    expect(Date.parse((await job()).next_run_at ?? "")).toBe(now + MINUTE);
    expect(alerts).toHaveLength(1);
  });
});

describe("a run that is still going on", () => {
  it("is not started again; what it overlaps is recorded", async () => {
    jobs({ schedule: { kind: "interval", minutes: 5, display: "every 5m" } });
    const { scheduler, states, job } = open();
    let finish = () => undefined as undefined;
    const gate = new Promise<void>((resolve) => {
      finish = () => resolve() as undefined;
    });
    result = async () => {
      await gate;
      return { ok: true, told: true };
    };
    await scheduler.tick();
    for (let minute = 1; minute <= 12; minute++) {
      now = NINE + minute * MINUTE;
      await scheduler.tick();
    }
    finish();
    await scheduler.idle();
    expect(runs).toHaveLength(1);
    expect(await states()).toEqual(["ran", "skipped"]);
    expect(alerts).toHaveLength(1);
    await scheduler.tick();
    await scheduler.idle();
    expect(runs[1]).toContain("09:10:00");
    expect((await job()).next_run_at).toContain("09:15:00");
  });
});

describe("a lost owner", () => {
  it("leaves an abandoned run behind, told once, never started again", async () => {
    jobs({});
    const first = open({ lost: true });
    result = () => new Promise(() => undefined);
    await first.scheduler.tick();
    expect(await first.states()).toEqual(["running"]);
    const second = open();
    result = async () => ({ ok: true, told: true });
    now += 30_000;
    await second.tick();
    expect(await second.states()).toEqual(["running"]);
    now += 2 * MINUTE;
    await second.tick();
    await second.tick();
    expect(await second.states()).toEqual(["abandoned"]);
    expect(alerts).toHaveLength(1);
    expect(runs).toHaveLength(1);
    expect(await second.job()).toMatchObject({
      state: "scheduled",
      last_status: "error",
      next_run_at: "2026-05-05T09:00:00+00:00",
    });
  });
});

describe("a run by hand", () => {
  it("leaves schedule and count alone", async () => {
    jobs({ next_run_at: new Date(NINE + DAY).toISOString(), repeat: { times: 3, completed: 1 } });
    const { scheduler, job } = open();
    const row = await scheduler.runNow(ID);
    expect(row).toMatchObject({ state: "ran", trigger: "manual", occurrence: NINE });
    expect(await job()).toMatchObject({
      next_run_at: new Date(NINE + DAY).toISOString(),
      state: "scheduled",
      last_status: "ok",
      repeat: { times: 3, completed: 1 },
    });
    await expect(scheduler.runNow("nobody")).rejects.toThrow("no job");
  });
});

describe("a schedule that cannot be used", () => {
  it("puts the job aside, visibly, without harm to the others", async () => {
    jobs({ id: "b".repeat(12), schedule: { kind: "cron", expr: "99 * * * *", display: "?" } }, {});
    const { tick, file } = open();
    await tick();
    await tick();
    expect(runs).toHaveLength(1);
    const [broken] = await file.list();
    expect(broken).toMatchObject({ state: "error" });
    expect(broken?.last_error).toContain("cannot be used");
    expect(alerts).toHaveLength(1);
  });
});

describe("looking", () => {
  it("changes nothing, however late it is", async () => {
    jobs({});
    const before = readFileSync(join(dir, "jobs.json"), "utf8");
    const { file, ledger } = open();
    now = NINE + 30 * DAY;
    await file.list();
    await ledger.history({ limit: 10 });
    await ledger.signs();
    expect(readFileSync(join(dir, "jobs.json"), "utf8")).toBe(before);
  });
});
