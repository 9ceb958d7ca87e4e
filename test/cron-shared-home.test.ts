// A home in which Hermes Agent v0.14 runs jobs too: nothing is started twice.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { takeTickLock } from "../src/cron/run/tick-lock.ts";
import { ID, NINE, SchedulerFixture } from "./kit/scheduler-fixture.ts";

let fixture: SchedulerFixture;
beforeEach(() => {
  fixture = new SchedulerFixture();
  writeFileSync(join(fixture.dir, ".tick.lock"), "");
});
afterEach(() => fixture.remove());

it("delays due jobs while the other program runs jobs", async () => {
  fixture.jobs({});
  const { tick, job } = fixture.open();
  const release = await takeTickLock(join(fixture.dir, ".tick.lock"));
  if (release === "held") throw new Error("nobody else has this lock");
  expect(await tick()).toMatchObject({ started: 0, held: true });
  expect((await job()).next_run_at).toBe("2026-05-04T09:00:00.000Z");
  await release();
  fixture.now = NINE + 60_000;
  expect(await tick()).toMatchObject({ started: 1, held: false });
  expect(fixture.runs).toEqual([`${ID} 2026-05-04T09:00:00.000Z`]);
});

it("counts a run that ended in the meantime later, and once", async () => {
  fixture.jobs({});
  const { scheduler, tick, job } = fixture.open();
  let release: "held" | (() => Promise<void>) = "held";
  fixture.result = async () => {
    release = await takeTickLock(join(fixture.dir, ".tick.lock"));
    return { ok: true, reported: true };
  };
  await tick();
  expect(await job()).toMatchObject({ state: "running", repeat: { completed: 0 } });
  await (release as unknown as () => Promise<void>)();
  await scheduler.recover();
  await scheduler.recover();
  expect(await job()).toMatchObject({ state: "scheduled", repeat: { completed: 1 } });
});

it("marks a one-off as run from its start, so that the other program does not catch it up", async () => {
  const once = { kind: "once", run_at: new Date(NINE).toISOString(), display: "once" };
  fixture.jobs({ schedule: once, repeat: { times: 1, completed: 0 } });
  const { scheduler, job } = fixture.open();
  const finish = fixture.hold();
  await scheduler.tick();
  expect(await job()).toMatchObject({ state: "running", next_run_at: null, last_run_at: "2026-05-04T09:00:00+00:00" });
  finish();
  await scheduler.idle();
  expect(await job()).toMatchObject({ state: "completed", repeat: { completed: 1 } });
});
