// A home in which Hermes Agent v0.14 runs jobs too: nothing is started twice.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { takeTickLock } from "../src/cron/tick-lock.ts";
import { ID, NINE, SchedulerBed } from "./kit/scheduler-fixture.ts";

let bed: SchedulerBed;
beforeEach(() => {
  bed = new SchedulerBed();
  writeFileSync(join(bed.dir, ".tick.lock"), "");
});
afterEach(() => bed.remove());

it("waits with what is due while the other one is at its jobs", async () => {
  bed.jobs({});
  const { tick, job } = bed.open();
  const release = await takeTickLock(join(bed.dir, ".tick.lock"));
  if (release === "held") throw new Error("nobody else has this lock");
  expect(await tick()).toMatchObject({ started: 0, held: true });
  expect((await job()).next_run_at).toBe("2026-05-04T09:00:00.000Z");
  await release();
  bed.now = NINE + 60_000;
  expect(await tick()).toMatchObject({ started: 1, held: false });
  expect(bed.runs).toEqual([`${ID} 2026-05-04T09:00:00.000Z`]);
});

it("counts a run that ended meanwhile later, and once", async () => {
  bed.jobs({});
  const { scheduler, tick, job } = bed.open();
  let release: "held" | (() => Promise<void>) = "held";
  bed.result = async () => {
    release = await takeTickLock(join(bed.dir, ".tick.lock"));
    return { ok: true, reported: true };
  };
  await tick();
  expect(await job()).toMatchObject({ state: "running", repeat: { completed: 0 } });
  await (release as unknown as () => Promise<void>)();
  await scheduler.recover();
  await scheduler.recover();
  expect(await job()).toMatchObject({ state: "scheduled", repeat: { completed: 1 } });
});

it("marks a one-off as run from its start, so that the other one does not make up for it", async () => {
  const once = { kind: "once", run_at: new Date(NINE).toISOString(), display: "once" };
  bed.jobs({ schedule: once, repeat: { times: 1, completed: 0 } });
  const { scheduler, job } = bed.open();
  const finish = bed.hold();
  await scheduler.tick();
  expect(await job()).toMatchObject({ state: "running", next_run_at: null, last_run_at: "2026-05-04T09:00:00+00:00" });
  finish();
  await scheduler.idle();
  expect(await job()).toMatchObject({ state: "completed", repeat: { completed: 1 } });
});
