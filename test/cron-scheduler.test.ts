// The scheduler: runs, missed and abandoned occurrences, and their reports.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claimDue } from "../src/cron/run/claim.ts";
import { ID, NINE, SchedulerFixture } from "./kit/scheduler-fixture.ts";
import { until } from "./kit/until.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let fixture: SchedulerFixture;
beforeEach(() => {
  fixture = new SchedulerFixture();
});
afterEach(() => fixture.remove());

describe("a due job", () => {
  it("runs once, is counted, and gets its next due time", async () => {
    fixture.jobs({});
    const { tick, job, states } = fixture.open();
    fixture.now = NINE - 1;
    expect((await tick()).started).toBe(0);
    fixture.now = NINE + 20_000;
    expect((await tick()).started).toBe(1);
    expect((await tick()).started).toBe(0);
    expect(fixture.runs).toEqual([`${ID} 2026-05-04T09:00:00.000Z`]);
    expect(await job()).toMatchObject({
      state: "scheduled",
      next_run_at: "2026-05-05T09:00:00+00:00",
      last_run_at: "2026-05-04T09:00:20+00:00",
      last_status: "ok",
      repeat: { times: null, completed: 1 },
    });
    expect(await states()).toEqual(["ran"]);
    expect(fixture.alerts).toEqual([]);
  });

  it("is shown as running while it runs, and a removed one does not come back", async () => {
    fixture.jobs({});
    const { scheduler, file, job } = fixture.open();
    const finish = fixture.hold();
    await scheduler.tick();
    expect((await job()).state).toBe("running");
    await file.change(async () => ({ jobs: [], result: undefined }));
    finish();
    await scheduler.idle();
    expect(await file.list()).toEqual([]);
  });

  it("is stopped without an alert when it is removed while it runs", async () => {
    fixture.jobs({});
    const { scheduler, file, states } = fixture.open({ renewMs: 20 });
    fixture.result = (_job, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    await scheduler.tick();
    await file.change(async () => ({ jobs: [], result: undefined }));
    await scheduler.idle();
    expect(await states()).toEqual(["failed"]);
    expect(fixture.alerts).toEqual([]);
  });

  it("is completed after its last repetition and does not run again", async () => {
    fixture.jobs({ repeat: { times: 2, completed: 1 } });
    const { tick, job } = fixture.open();
    await tick();
    expect(await job()).toMatchObject({
      state: "completed",
      enabled: false,
      next_run_at: null,
      repeat: { completed: 2 },
    });
    fixture.now += DAY;
    expect((await tick()).started).toBe(0);
  });

  it("a one-off is completed", async () => {
    fixture.jobs({
      schedule: { kind: "once", run_at: "2026-05-04T09:00:00+00:00", display: "once" },
      repeat: { times: 1, completed: 0 },
    });
    const { tick, job } = fixture.open();
    await tick();
    expect(await job()).toMatchObject({ state: "completed", enabled: false, last_status: "ok" });
  });

  it("a one-off that is rescheduled while it runs, runs again", async () => {
    fixture.jobs({
      schedule: { kind: "once", run_at: "2026-05-04T09:00:00+00:00", display: "once" },
      repeat: { times: 1, completed: 0 },
    });
    const { scheduler, file, job, tick } = fixture.open();
    const later = "2026-05-05T09:00:00+00:00";
    fixture.result = async () => {
      const schedule = { kind: "once", run_at: later, display: "once" } as const;
      await file.edit(ID, (found) => ({ ...found, schedule, next_run_at: later }));
      fixture.result = async () => ({ ok: true, reported: true });
      return { ok: true, reported: true };
    };
    await tick();
    expect(await job()).toMatchObject({ state: "scheduled", next_run_at: later });
    fixture.now = NINE + DAY;
    await tick();
    expect(fixture.runs).toHaveLength(2);
    expect(await job()).toMatchObject({ state: "completed", repeat: { completed: 1 } });
    expect(scheduler.running).toBe(0);
  });

  it("that fails is reported once", async () => {
    fixture.jobs({});
    const { tick, job, states } = fixture.open();
    fixture.result = async () => {
      throw new Error("no network");
    };
    await tick();
    await tick();
    expect(await states()).toEqual(["failed"]);
    expect(fixture.alerts).toEqual(["failed ×1: no network"]);
    expect(await job()).toMatchObject({ last_status: "error", last_error: "no network", state: "scheduled" });
  });

  it("paused, disabled or completed does not run", async () => {
    fixture.jobs({ enabled: false, state: "paused" });
    const { tick } = fixture.open();
    expect((await tick()).started).toBe(0);
  });
});

describe("jobs of one tick", () => {
  it("run at the same time, up to the limit", async () => {
    fixture.jobs(...["a", "b", "c", "d"].map((email) => ({ id: email.repeat(12) })));
    let together = 0;
    let most = 0;
    fixture.result = async () => {
      most = Math.max(most, ++together);
      await new Promise((resolve) => setTimeout(resolve, 10));
      together -= 1;
      return { ok: true, reported: true };
    };
    expect((await fixture.open({ maxParallel: 2 }).tick()).started).toBe(4);
    expect(most).toBe(2);
    expect(fixture.runs).toHaveLength(4);
  });
});

describe("missed occurrences", () => {
  it("late within the grace period run; later ones are recorded with a reason and reported once", async () => {
    fixture.jobs({});
    const { tick, states, job } = fixture.open();
    fixture.now = NINE + 3 * DAY + HOUR;
    expect(await tick()).toMatchObject({ started: 1, missed: 3 });
    expect(await states()).toEqual(["skipped", "skipped", "skipped", "ran"]);
    expect(fixture.alerts).toHaveLength(1);
    expect(fixture.alerts[0]).toContain("no process ran jobs at that time");
    expect(fixture.alerts[0]).toContain("with those before it 3 runs were missed");
    expect(fixture.runs).toEqual([`${ID} 2026-05-07T09:00:00.000Z`]);
    expect((await job()).next_run_at).toBe("2026-05-08T09:00:00+00:00");
  });

  it("are all skipped when even the newest is too late", async () => {
    fixture.jobs({});
    const { tick, states } = fixture.open();
    fixture.now = NINE + 3 * HOUR;
    expect(await tick()).toMatchObject({ started: 0, missed: 1 });
    expect(await states()).toEqual(["skipped"]);
    expect(fixture.alerts).toHaveLength(1);
  });

  it("are caught up: the latest one", async () => {
    fixture.jobs({ catch_up: "latest" });
    const { tick, states } = fixture.open();
    fixture.now = NINE + 3 * DAY - HOUR;
    await tick();
    expect(await states()).toEqual(["skipped", "skipped", "caught_up"]);
    expect(fixture.runs).toEqual([`${ID} 2026-05-06T09:00:00.000Z`]);
  });

  it("are caught up: all of them in order, up to the limit", async () => {
    fixture.jobs({ catch_up: "all", catch_up_limit: 3 });
    const { tick, states, job } = fixture.open();
    fixture.now = NINE + 5 * DAY + MINUTE;
    await tick();
    expect(await states()).toEqual(["skipped", "skipped", "skipped", "caught_up", "caught_up", "ran"]);
    expect(fixture.runs.map((run) => run.slice(13, 23))).toEqual(["2026-05-07", "2026-05-08", "2026-05-09"]);
    expect((await job()).repeat.completed).toBe(3);
  });

  it("during a long catch-up run are reported when it ends, not at the next tick", async () => {
    const minutely = { kind: "interval", minutes: 1, display: "every 1m" };
    fixture.jobs({ schedule: minutely, catch_up: "all", catch_up_limit: 2 });
    const { tick, states } = fixture.open();
    fixture.now = NINE + MINUTE;
    fixture.result = async () => {
      fixture.now += 10 * MINUTE;
      fixture.result = async () => ({ ok: true, reported: true });
      return { ok: true, reported: true };
    };
    await tick();
    expect((await states()).filter((state) => state === "skipped").length).toBeGreaterThan(5);
    expect(fixture.alerts).toHaveLength(1);
  });

  it("of a one-off are an error that stays visible", async () => {
    fixture.jobs({ schedule: { kind: "once", run_at: "2026-05-04T09:00:00+00:00", display: "once" } });
    const { tick, job, states } = fixture.open();
    fixture.now = NINE + 10 * MINUTE;
    await tick();
    await tick();
    expect(await states()).toEqual(["skipped"]);
    expect(await job()).toMatchObject({ state: "error", enabled: false, last_status: "error" });
    expect(fixture.alerts).toHaveLength(1);
  });

  it("in large numbers share a row and do not block", async () => {
    fixture.jobs({ schedule: { kind: "interval", minutes: 1, display: "every 1m" } });
    const { tick, ledger, job } = fixture.open();
    fixture.now = NINE + 200 * DAY;
    await tick();
    const rows = await ledger.history({ limit: 10_000 });
    expect(rows.length).toBeLessThan(1000);
    const total = rows.reduce((sum, row) => sum + row.count, 0);
    expect(Math.abs(total - 200 * 1440 - 1)).toBeLessThan(10);
    expect(Date.parse((await job()).next_run_at ?? "")).toBe(fixture.now + MINUTE);
    expect(fixture.alerts).toHaveLength(1);
  });
});

describe("a run that has not finished", () => {
  it("is not started again; what it overlaps is recorded", async () => {
    fixture.jobs({ schedule: { kind: "interval", minutes: 5, display: "every 5m" } });
    const { scheduler, states, job } = fixture.open();
    const finish = fixture.hold();
    await scheduler.tick();
    for (let minute = 1; minute <= 12; minute++) {
      fixture.now = NINE + minute * MINUTE;
      await scheduler.tick();
    }
    finish();
    await scheduler.idle();
    expect(fixture.runs).toHaveLength(1);
    expect(await states()).toEqual(["ran", "skipped"]);
    expect(fixture.alerts).toHaveLength(1);
    await scheduler.tick();
    await scheduler.idle();
    expect(fixture.runs[1]).toContain("09:10:00");
    expect((await job()).next_run_at).toContain("09:15:00");
  });
});

describe("a run that outlasts its next occurrences", () => {
  it("is shown as running to its end, and is counted then", async () => {
    const minutely = { kind: "interval", minutes: 1, display: "every 1m" };
    fixture.jobs({ schedule: minutely, repeat: { times: 2, completed: 1 } });
    const { scheduler, job, states } = fixture.open();
    const finish = fixture.hold();
    await scheduler.tick();
    fixture.now = NINE + 5 * MINUTE;
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
  it("respect the number of repetitions, also while the last run is not counted yet", async () => {
    fixture.jobs({
      schedule: { kind: "interval", minutes: 5, display: "every 5m" },
      repeat: { times: 1, completed: 0 },
    });
    const { file, ledger, job } = fixture.open();
    const claiming = { file, ledger, owner: "another:1:x", leaseMs: 45_000, zone: () => "UTC", now: () => fixture.now };
    const [first] = (await claimDue(claiming)).runs;
    await ledger.finish(first?.run.id ?? 0, "another:1:x", { state: "ran", now: fixture.now, reported: true });
    fixture.now = NINE + 5 * MINUTE;
    expect((await claimDue(claiming)).runs).toEqual([]);
    await fixture.open().tick();
    expect(fixture.runs).toEqual([]);
    expect(await job()).toMatchObject({ state: "completed", repeat: { completed: 1 } });
  });
});

describe("a killed owner", () => {
  it("starts the interrupted run of a job that asks for at least once again, for a day", async () => {
    fixture.jobs({ at_least_once: true });
    const finish = fixture.hold();
    const first = fixture.open({ lost: true });
    await first.scheduler.tick();
    await until(async () => (await first.ledger.open()).some((run) => run.startedAt !== null));
    fixture.now = NINE + HOUR;
    fixture.result = async () => ({ ok: true, reported: true });
    const second = fixture.open();
    await second.tick();
    expect(await second.states()).toEqual(["ran"]);
    expect(fixture.runs).toHaveLength(2);
    finish();
    await first.scheduler.idle();
    expect(await second.states()).toEqual(["ran"]);
  });

  it("leaves an abandoned run, which is reported once and never started again", async () => {
    fixture.jobs({});
    const first = fixture.open({ lost: true });
    fixture.result = () => new Promise(() => undefined);
    await first.scheduler.tick();
    expect(await first.states()).toEqual(["running"]);
    const second = fixture.open();
    fixture.result = async () => ({ ok: true, reported: true });
    fixture.now += 30_000;
    await second.tick();
    expect(await second.states()).toEqual(["running"]);
    fixture.now += 2 * MINUTE;
    await second.tick();
    await second.tick();
    expect(await second.states()).toEqual(["abandoned"]);
    expect(fixture.alerts).toHaveLength(1);
    expect(fixture.runs).toHaveLength(1);
    expect(await second.job()).toMatchObject({
      state: "scheduled",
      last_status: "error",
      next_run_at: "2026-05-05T09:00:00+00:00",
    });
  });
});

describe("a manual run", () => {
  it("leaves schedule and count alone", async () => {
    fixture.jobs({ next_run_at: new Date(NINE + DAY).toISOString(), repeat: { times: 3, completed: 1 } });
    const { scheduler, job } = fixture.open();
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
  it("disables the job visibly and does not affect the others", async () => {
    fixture.jobs({ id: "b".repeat(12), schedule: { kind: "cron", expr: "99 * * * *", display: "?" } }, {});
    const { tick, file } = fixture.open();
    await tick();
    await tick();
    expect(fixture.runs).toHaveLength(1);
    const [broken] = await file.list();
    expect(broken).toMatchObject({ state: "error" });
    expect(broken?.last_error).toContain("cannot be used");
    expect(fixture.alerts).toHaveLength(1);
  });

  it("includes a due time that cannot be parsed", async () => {
    fixture.jobs({ next_run_at: "soon" });
    const { tick, job } = fixture.open();
    await tick();
    await tick();
    expect(await job()).toMatchObject({ state: "error", last_error: expect.stringContaining('"soon"') });
    expect(fixture.alerts).toHaveLength(1);
  });
});

describe("listing", () => {
  it("changes nothing, also when jobs are overdue", async () => {
    fixture.jobs({});
    const before = readFileSync(join(fixture.dir, "jobs.json"), "utf8");
    const { file, ledger } = fixture.open();
    fixture.now = NINE + 30 * DAY;
    await file.list();
    await ledger.history({ limit: 10 });
    await ledger.listHeartbeats();
    expect(readFileSync(join(fixture.dir, "jobs.json"), "utf8")).toBe(before);
  });
});
