// The scheduler: runs, missed and abandoned occurrences, and their reports.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claimDue } from "../src/cron/claim.ts";
import { ID, NINE, SchedulerFixture } from "./kit/scheduler-fixture.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let bed: SchedulerFixture;
beforeEach(() => {
  bed = new SchedulerFixture();
});
afterEach(() => bed.remove());

describe("a due job", () => {
  it("runs once, is counted, and moves on", async () => {
    bed.jobs({});
    const { tick, job, states } = bed.open();
    bed.now = NINE - 1;
    expect((await tick()).started).toBe(0);
    bed.now = NINE + 20_000;
    expect((await tick()).started).toBe(1);
    expect((await tick()).started).toBe(0);
    expect(bed.runs).toEqual([`${ID} 2026-05-04T09:00:00.000Z`]);
    expect(await job()).toMatchObject({
      state: "scheduled",
      next_run_at: "2026-05-05T09:00:00+00:00",
      last_run_at: "2026-05-04T09:00:20+00:00",
      last_status: "ok",
      repeat: { times: null, completed: 1 },
    });
    expect(await states()).toEqual(["ran"]);
    expect(bed.alerts).toEqual([]);
  });

  it("is shown as running while it runs, and a removed one does not come back", async () => {
    bed.jobs({});
    const { scheduler, file, job } = bed.open();
    const finish = bed.hold();
    await scheduler.tick();
    expect((await job()).state).toBe("running");
    await file.change(async () => ({ jobs: [], result: undefined }));
    finish();
    await scheduler.idle();
    expect(await file.list()).toEqual([]);
  });

  it("is stopped when it is removed while it runs, without a word", async () => {
    bed.jobs({});
    const { scheduler, file, states } = bed.open({ renewMs: 20 });
    bed.result = (_job, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    await scheduler.tick();
    await file.change(async () => ({ jobs: [], result: undefined }));
    await scheduler.idle();
    expect(await states()).toEqual(["failed"]);
    expect(bed.alerts).toEqual([]);
  });

  it("is completed after its last repetition and does not run again", async () => {
    bed.jobs({ repeat: { times: 2, completed: 1 } });
    const { tick, job } = bed.open();
    await tick();
    expect(await job()).toMatchObject({
      state: "completed",
      enabled: false,
      next_run_at: null,
      repeat: { completed: 2 },
    });
    bed.now += DAY;
    expect((await tick()).started).toBe(0);
  });

  it("that happens once is completed", async () => {
    bed.jobs({
      schedule: { kind: "once", run_at: "2026-05-04T09:00:00+00:00", display: "once" },
      repeat: { times: 1, completed: 0 },
    });
    const { tick, job } = bed.open();
    await tick();
    expect(await job()).toMatchObject({ state: "completed", enabled: false, last_status: "ok" });
  });

  it("that happens once and is put off while it runs, happens again", async () => {
    bed.jobs({
      schedule: { kind: "once", run_at: "2026-05-04T09:00:00+00:00", display: "once" },
      repeat: { times: 1, completed: 0 },
    });
    const { scheduler, file, job, tick } = bed.open();
    const later = "2026-05-05T09:00:00+00:00";
    bed.result = async () => {
      const schedule = { kind: "once", run_at: later, display: "once" } as const;
      await file.edit(ID, (found) => ({ ...found, schedule, next_run_at: later }));
      bed.result = async () => ({ ok: true, reported: true });
      return { ok: true, reported: true };
    };
    await tick();
    expect(await job()).toMatchObject({ state: "scheduled", next_run_at: later });
    bed.now = NINE + DAY;
    await tick();
    expect(bed.runs).toHaveLength(2);
    expect(await job()).toMatchObject({ state: "completed", repeat: { completed: 1 } });
    expect(scheduler.running).toBe(0);
  });

  it("that fails is reported once", async () => {
    bed.jobs({});
    const { tick, job, states } = bed.open();
    bed.result = async () => {
      throw new Error("no network");
    };
    await tick();
    await tick();
    expect(await states()).toEqual(["failed"]);
    expect(bed.alerts).toEqual(["failed ×1: no network"]);
    expect(await job()).toMatchObject({ last_status: "error", last_error: "no network", state: "scheduled" });
  });

  it("paused, disabled or completed does not run", async () => {
    bed.jobs({ enabled: false, state: "paused" });
    const { tick } = bed.open();
    expect((await tick()).started).toBe(0);
  });
});

describe("jobs of one tick", () => {
  it("run at the same time, up to the limit", async () => {
    bed.jobs(...["a", "b", "c", "d"].map((email) => ({ id: email.repeat(12) })));
    let together = 0;
    let most = 0;
    bed.result = async () => {
      most = Math.max(most, ++together);
      await new Promise((resolve) => setTimeout(resolve, 10));
      together -= 1;
      return { ok: true, reported: true };
    };
    expect((await bed.open({ maxParallel: 2 }).tick()).started).toBe(4);
    expect(most).toBe(2);
    expect(bed.runs).toHaveLength(4);
  });
});

describe("missed occurrences", () => {
  it("late within the grace period run; later ones are recorded with a reason and reported once", async () => {
    bed.jobs({});
    const { tick, states, job } = bed.open();
    bed.now = NINE + 3 * DAY + HOUR;
    expect(await tick()).toMatchObject({ started: 1, missed: 3 });
    expect(await states()).toEqual(["skipped", "skipped", "skipped", "ran"]);
    expect(bed.alerts).toHaveLength(1);
    expect(bed.alerts[0]).toContain("no process ran jobs at that time");
    expect(bed.alerts[0]).toContain("with those before it 3 runs were missed");
    expect(bed.runs).toEqual([`${ID} 2026-05-07T09:00:00.000Z`]);
    expect((await job()).next_run_at).toBe("2026-05-08T09:00:00+00:00");
  });

  it("are all skipped when even the newest is too late", async () => {
    bed.jobs({});
    const { tick, states } = bed.open();
    bed.now = NINE + 3 * HOUR;
    expect(await tick()).toMatchObject({ started: 0, missed: 1 });
    expect(await states()).toEqual(["skipped"]);
    expect(bed.alerts).toHaveLength(1);
  });

  it("are caught up: the latest one", async () => {
    bed.jobs({ catch_up: "latest" });
    const { tick, states } = bed.open();
    bed.now = NINE + 3 * DAY - HOUR;
    await tick();
    expect(await states()).toEqual(["skipped", "skipped", "caught_up"]);
    expect(bed.runs).toEqual([`${ID} 2026-05-06T09:00:00.000Z`]);
  });

  it("are caught up: all of them in order, up to the limit", async () => {
    bed.jobs({ catch_up: "all", catch_up_limit: 3 });
    const { tick, states, job } = bed.open();
    bed.now = NINE + 5 * DAY + MINUTE;
    await tick();
    expect(await states()).toEqual(["skipped", "skipped", "skipped", "caught_up", "caught_up", "ran"]);
    expect(bed.runs.map((run) => run.slice(13, 23))).toEqual(["2026-05-07", "2026-05-08", "2026-05-09"]);
    expect((await job()).repeat.completed).toBe(3);
  });

  it("during a long catch-up run are reported when it ends, not at the next tick", async () => {
    const minutely = { kind: "interval", minutes: 1, display: "every 1m" };
    bed.jobs({ schedule: minutely, catch_up: "all", catch_up_limit: 2 });
    const { tick, states } = bed.open();
    bed.now = NINE + MINUTE;
    bed.result = async () => {
      bed.now += 10 * MINUTE;
      bed.result = async () => ({ ok: true, reported: true });
      return { ok: true, reported: true };
    };
    await tick();
    expect((await states()).filter((state) => state === "skipped").length).toBeGreaterThan(5);
    expect(bed.alerts).toHaveLength(1);
  });

  it("of a one-off are an error that stays visible", async () => {
    bed.jobs({ schedule: { kind: "once", run_at: "2026-05-04T09:00:00+00:00", display: "once" } });
    const { tick, job, states } = bed.open();
    bed.now = NINE + 10 * MINUTE;
    await tick();
    await tick();
    expect(await states()).toEqual(["skipped"]);
    expect(await job()).toMatchObject({ state: "error", enabled: false, last_status: "error" });
    expect(bed.alerts).toHaveLength(1);
  });

  it("by the hundred thousand share a row and do not block", async () => {
    bed.jobs({ schedule: { kind: "interval", minutes: 1, display: "every 1m" } });
    const { tick, ledger, job } = bed.open();
    bed.now = NINE + 200 * DAY;
    await tick();
    const rows = await ledger.history({ limit: 10_000 });
    expect(rows.length).toBeLessThan(1000);
    const total = rows.reduce((sum, row) => sum + row.count, 0);
    expect(Math.abs(total - 200 * 1440 - 1)).toBeLessThan(10);
    expect(Date.parse((await job()).next_run_at ?? "")).toBe(bed.now + MINUTE);
    expect(bed.alerts).toHaveLength(1);
  });
});

describe("a run that is still going on", () => {
  it("is not started again; what it overlaps is recorded", async () => {
    bed.jobs({ schedule: { kind: "interval", minutes: 5, display: "every 5m" } });
    const { scheduler, states, job } = bed.open();
    const finish = bed.hold();
    await scheduler.tick();
    for (let minute = 1; minute <= 12; minute++) {
      bed.now = NINE + minute * MINUTE;
      await scheduler.tick();
    }
    finish();
    await scheduler.idle();
    expect(bed.runs).toHaveLength(1);
    expect(await states()).toEqual(["ran", "skipped"]);
    expect(bed.alerts).toHaveLength(1);
    await scheduler.tick();
    await scheduler.idle();
    expect(bed.runs[1]).toContain("09:10:00");
    expect((await job()).next_run_at).toContain("09:15:00");
  });
});

describe("a run that outlasts its next occurrences", () => {
  it("is shown as running to its end, and is counted then", async () => {
    const minutely = { kind: "interval", minutes: 1, display: "every 1m" };
    bed.jobs({ schedule: minutely, repeat: { times: 2, completed: 1 } });
    const { scheduler, job, states } = bed.open();
    const finish = bed.hold();
    await scheduler.tick();
    bed.now = NINE + 5 * MINUTE;
    await scheduler.tick();
    expect(await states()).toContain("skipped");
    expect((await job()).state).toBe("running");
    finish();
    await scheduler.idle();
    expect(await job()).toMatchObject({
      state: "completed",
      last_status: "ok",
      last_run_at: "2026-05-04T09:00:00+00:00",
      repeat: { times: 2, completed: 2 },
    });
  });
});

describe("two schedulers", () => {
  it("keep to the number of repetitions, also while the last one is not counted yet", async () => {
    bed.jobs({ schedule: { kind: "interval", minutes: 5, display: "every 5m" }, repeat: { times: 1, completed: 0 } });
    const { file, ledger, job } = bed.open();
    const claiming = { file, ledger, owner: "another:1:x", leaseMs: 45_000, zone: () => "UTC", now: () => bed.now };
    const [first] = (await claimDue(claiming)).runs;
    await ledger.finish(first?.run.id ?? 0, "another:1:x", { state: "ran", now: bed.now, reported: true });
    bed.now = NINE + 5 * MINUTE;
    expect((await claimDue(claiming)).runs).toEqual([]);
    await bed.open().tick();
    expect(bed.runs).toEqual([]);
    expect(await job()).toMatchObject({ state: "completed", repeat: { completed: 1 } });
  });
});

describe("a lost owner", () => {
  it("leaves an abandoned run, which is reported once and never started again", async () => {
    bed.jobs({});
    const first = bed.open({ lost: true });
    bed.result = () => new Promise(() => undefined);
    await first.scheduler.tick();
    expect(await first.states()).toEqual(["running"]);
    const second = bed.open();
    bed.result = async () => ({ ok: true, reported: true });
    bed.now += 30_000;
    await second.tick();
    expect(await second.states()).toEqual(["running"]);
    bed.now += 2 * MINUTE;
    await second.tick();
    await second.tick();
    expect(await second.states()).toEqual(["abandoned"]);
    expect(bed.alerts).toHaveLength(1);
    expect(bed.runs).toHaveLength(1);
    expect(await second.job()).toMatchObject({
      state: "scheduled",
      last_status: "error",
      next_run_at: "2026-05-05T09:00:00+00:00",
    });
  });
});

describe("a run by hand", () => {
  it("leaves schedule and count alone", async () => {
    bed.jobs({ next_run_at: new Date(NINE + DAY).toISOString(), repeat: { times: 3, completed: 1 } });
    const { scheduler, job } = bed.open();
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
    bed.jobs({ id: "b".repeat(12), schedule: { kind: "cron", expr: "99 * * * *", display: "?" } }, {});
    const { tick, file } = bed.open();
    await tick();
    await tick();
    expect(bed.runs).toHaveLength(1);
    const [broken] = await file.list();
    expect(broken).toMatchObject({ state: "error" });
    expect(broken?.last_error).toContain("cannot be used");
    expect(bed.alerts).toHaveLength(1);
  });

  it("counts as one when the due time cannot be read", async () => {
    bed.jobs({ next_run_at: "soon" });
    const { tick, job } = bed.open();
    await tick();
    await tick();
    expect(await job()).toMatchObject({ state: "error", last_error: expect.stringContaining('"soon"') });
    expect(bed.alerts).toHaveLength(1);
  });
});

describe("looking", () => {
  it("changes nothing, however late it is", async () => {
    bed.jobs({});
    const before = readFileSync(join(bed.dir, "jobs.json"), "utf8");
    const { file, ledger } = bed.open();
    bed.now = NINE + 30 * DAY;
    await file.list();
    await ledger.history({ limit: 10 });
    await ledger.listHeartbeats();
    expect(readFileSync(join(bed.dir, "jobs.json"), "utf8")).toBe(before);
  });
});
