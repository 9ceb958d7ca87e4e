// Compares every instant of two years in forty zones with an independent calculation.
import { expect, it } from "vitest";
import { END, findEras, oracle, SCHEDULES, START, ZONES } from "../../test/kit/zone-oracle.ts";
import { readJob } from "./job-record.ts";
import { planJob } from "./schedule/plan.ts";
import { nextAfter } from "./schedule/schedule.ts";

it("has forty zones", () => {
  expect(new Set(ZONES).size).toBe(40);
});

it.each(ZONES)("%s", (zone) => {
  const eras = findEras(zone);
  for (const wanted of SCHEDULES) {
    const schedule = { kind: "cron", expr: wanted.expr, display: wanted.expr, tz: zone } as const;
    const found: number[] = [];
    for (let at: number | undefined = START; ; ) {
      at = nextAfter(schedule, at, { zone: "UTC", from: START });
      if (at === undefined || at > END) break;
      found.push(at);
    }
    if (JSON.stringify(found) === JSON.stringify(oracle(wanted, eras))) continue;
    expect(
      found.map((at) => new Date(at).toISOString()),
      `${wanted.expr} in ${zone}`,
    ).toEqual(oracle(wanted, eras).map((at) => new Date(at).toISOString()));
  }
});

it("plans each occurrence of two years once, at its instant, in every zone", () => {
  for (const zone of ZONES) {
    const wanted = SCHEDULES[1];
    if (!wanted) throw new Error("no schedule");
    const expected = oracle(wanted, findEras(zone));
    const schedule = { kind: "cron", expr: wanted.expr, display: wanted.expr, tz: zone };
    const planned: number[] = [];
    let next = expected[0] ?? 0;
    // A tick may be up to a minute late, and sometimes a second one follows immediately.
    for (let tick = 0; planned.length < expected.length; tick++) {
      const job = readJob({ id: "a1b2c3d4e5f6", schedule, next_run_at: new Date(next).toISOString() });
      if (!job) throw new Error("no job");
      const now = next + (tick % 4) * 20_000;
      const plan = planJob(job, { now, zone: "UTC" });
      expect(plan?.missed).toEqual([]);
      planned.push(plan?.run?.occurrence ?? Number.NaN);
      next = plan?.next ?? Number.NaN;
      const later = readJob({ ...job, next_run_at: new Date(next).toISOString() });
      if (later && tick % 7 === 0) expect(planJob(later, { now: now + 1000, zone: "UTC" })).toBeNull();
    }
    expect(planned).toEqual(expected);
  }
});
