// Parses schedules and computes their instants.
import { describe, expect, it } from "vitest";
import { UserError } from "../../core/failure.ts";
import { firstRun, gracePeriod, nextAfter, parseSchedule } from "./schedule.ts";
import { isoIn, parseIso } from "./zone.ts";

const now = Date.UTC(2026, 0, 15, 12, 0, 0);
const frame = { now, zone: "Europe/Berlin" };

describe("accepted input", () => {
  it.each([
    ["every 2h", { kind: "interval", minutes: 120 }],
    ["EVERY 30 minutes", { kind: "interval", minutes: 30 }],
    ["every 1d", { kind: "interval", minutes: 1440 }],
    ["0 9 * * *", { kind: "cron", expr: "0 9 * * *", tz: "Europe/Berlin" }],
    ["  */5   8-18 * * 1-5 ", { kind: "cron", expr: "*/5 8-18 * * 1-5" }],
    ["30m", { kind: "once", run_at: "2026-01-15T13:30:00+01:00" }],
    ["2 hrs", { kind: "once", run_at: "2026-01-15T15:00:00+01:00" }],
    ["1d", { kind: "once", run_at: "2026-01-16T13:00:00+01:00" }],
    ["2026-02-03T14:00", { kind: "once", run_at: "2026-02-03T14:00:00+01:00" }],
    ["2026-07-03T14:00:00Z", { kind: "once", run_at: "2026-07-03T16:00:00+02:00" }],
    ["2026-07-03T14:00:00-05:00", { kind: "once", run_at: "2026-07-03T21:00:00+02:00" }],
    ["2026-07-03", { kind: "once", run_at: "2026-07-03T00:00:00+02:00" }],
  ])("%s", (text, expected) => {
    expect(parseSchedule(text, frame)).toMatchObject(expected);
  });

  it.each([
    ["@daily", "0 0 * * *"],
    ["@Hourly", "0 * * * *"],
    ["0 9 * * MON-FRI", "0 9 * * 1-5"],
    ["30 8 1 jan,jul *", "30 8 1 1,7 *"],
    ["0 12 * * sat-sun", "0 12 * * 6-7"],
  ])("stores %s as %s", (text, expr) => {
    expect(parseSchedule(text, frame)).toMatchObject({ kind: "cron", expr });
  });

  it.each([
    "",
    "sometimes",
    "every",
    "every sunday 9am",
    "every 1d at 09:00",
    "every 0m",
    "0m",
    "61 * * * *",
    "0 9 * *",
    "0 9 * * MONDAY",
    "0 9 * MON *",
    "0 9 * * 1 30",
    "@reboot",
    "0 0 31 2 *",
    "1 2 3 4 5 6 7",
    "2026-02-30T10:00",
    "2020-01-01T00:00:00Z",
    "5 weeks",
    "0 0 5-0 * *",
    "0 30-2 * * *",
  ])("refuses %j and lists the accepted forms", (text) => {
    expect(() => parseSchedule(text, frame)).toThrow(UserError);
    try {
      parseSchedule(text, frame);
    } catch (error) {
      expect((error as UserError).hint).toContain("every 30m");
    }
  });
});

/** The instants of a cron expression after a time, formatted in the zone. */
function series(expr: string, tz: string, from: string, count: number): string[] {
  const schedule = { kind: "cron", expr, display: expr, tz } as const;
  const found: string[] = [];
  let at = parseIso(from, tz) ?? 0;
  for (let number = 0; number < count; number++) {
    at = nextAfter(schedule, at, { zone: "UTC", from: at }) ?? Number.NaN;
    found.push(isoIn(at, tz));
  }
  return found;
}

it.each([
  ["0 22-2/2 * * *", ["22:00", "00:00", "02:00", "22:00"]],
  ["0 22-1 * * *", ["22:00", "23:00", "00:00", "01:00", "22:00"]],
])("goes over the end of the day: %s", (expr, times) => {
  expect(series(expr, "UTC", "2026-01-15T12:00", times.length).map((at) => at.slice(11, 16))).toEqual(times);
});

it.each([
  ["0 9 * * 7-2", ["2026-01-18", "2026-01-19", "2026-01-20", "2026-01-25"]],
  ["0 9 * * 6-1", ["2026-01-17", "2026-01-18", "2026-01-19", "2026-01-24"]],
])("goes over the end of the week: %s", (expr, days) => {
  expect(series(expr, "UTC", "2026-01-15T12:00", days.length).map((at) => at.slice(0, 10))).toEqual(days);
});

describe("when clocks change", () => {
  it("keeps the wall-clock hour across the change", () => {
    expect(series("0 9 * * *", "America/New_York", "2026-03-06T12:00", 4)).toEqual([
      "2026-03-07T09:00:00-05:00",
      "2026-03-08T09:00:00-04:00",
      "2026-03-09T09:00:00-04:00",
      "2026-03-10T09:00:00-04:00",
    ]);
  });
  it("runs a time in the gap once, at the end of the gap", () => {
    expect(series("30 2 * * *", "America/New_York", "2026-03-07T12:00", 2)).toEqual([
      "2026-03-08T03:00:00-04:00",
      "2026-03-09T02:30:00-04:00",
    ]);
    expect(series("0,20,40 2 * * *", "Europe/Berlin", "2026-03-28T12:00", 2)).toEqual([
      "2026-03-29T03:00:00+02:00",
      "2026-03-30T02:00:00+02:00",
    ]);
  });
  it("runs midnight of a day that starts at one o'clock", () => {
    expect(series("0 0 * * *", "America/Santiago", "2026-09-05T12:00", 2)).toEqual([
      "2026-09-06T01:00:00-03:00",
      "2026-09-07T00:00:00-03:00",
    ]);
  });
  it("runs a listed time in the repeated hour once, at the first of the two", () => {
    expect(series("30 1 * * *", "America/New_York", "2026-10-31T12:00", 2)).toEqual([
      "2026-11-01T01:30:00-04:00",
      "2026-11-02T01:30:00-05:00",
    ]);
    expect(series("0 1,13 * * *", "America/New_York", "2026-10-31T20:00", 2)).toEqual([
      "2026-11-01T01:00:00-04:00",
      "2026-11-01T13:00:00-05:00",
    ]);
  });
  it("runs steps twice in the repeated hour and not in the missing one", () => {
    expect(series("30 * * * *", "America/New_York", "2026-11-01T00:00", 4)).toEqual([
      "2026-11-01T00:30:00-04:00",
      "2026-11-01T01:30:00-04:00",
      "2026-11-01T01:30:00-05:00",
      "2026-11-01T02:30:00-05:00",
    ]);
    expect(series("30 * * * *", "America/New_York", "2026-03-08T01:00", 2)).toEqual([
      "2026-03-08T01:30:00-05:00",
      "2026-03-08T03:30:00-04:00",
    ]);
  });
  it("supports half-hour changes", () => {
    expect(series("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00", 2)).toEqual([
      "2026-04-05T01:45:00+11:00",
      "2026-04-06T01:45:00+10:30",
    ]);
  });
  it("skips a day that a zone never had", () => {
    expect(series("0 9 * * *", "Pacific/Apia", "2011-12-29T00:00", 2)).toEqual([
      "2011-12-29T09:00:00-10:00",
      "2011-12-31T09:00:00+14:00",
    ]);
  });
  it("counts intervals by elapsed time", () => {
    const schedule = parseSchedule("every 2h", frame);
    const from = parseIso("2026-03-29T00:30", "Europe/Berlin") ?? 0;
    const next = nextAfter(schedule, from, { zone: "Europe/Berlin", from }) ?? 0;
    expect(next - from).toBe(7_200_000);
    expect(isoIn(next, "Europe/Berlin")).toBe("2026-03-29T03:30:00+02:00");
  });
});

describe("grace", () => {
  it.each([
    ["every 1m", 120_000],
    ["every 1h", 1_800_000],
    ["every 1d", 7_200_000],
    ["0 * * * *", 1_800_000],
    ["0 9 * * 1", 7_200_000],
    ["30m", 120_000],
  ])("%s", (text, expected) => {
    const schedule = parseSchedule(text, frame);
    expect(gracePeriod(schedule, firstRun(schedule, now, "UTC") ?? 0, "UTC")).toBe(expected);
  });
});
