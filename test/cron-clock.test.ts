// The clock is set back: jobs follow the new time, and a job that has just run does not run twice.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";
import { NINE, SchedulerFixture } from "./kit/scheduler-fixture.ts";
import { tempHome } from "./kit/temp-home.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const iso = (ms: number) => new Date(ms).toISOString();

describe("with a clock that the test moves", () => {
  let fixture: SchedulerFixture;
  const notices: string[] = [];
  beforeEach(() => {
    fixture = new SchedulerFixture((text) => notices.push(text));
    notices.length = 0;
  });
  afterEach(() => fixture.remove());

  it.each([
    { name: "* * * * *", schedule: { kind: "cron", expr: "* * * * *", display: "* * * * *", tz: "UTC" } },
    { name: "every 1m", schedule: { kind: "interval", minutes: 1, display: "every 1m" } },
  ])(
    "$name continues at once after the clock went three hours ahead and back, also when those hours repeat",
    async ({ schedule }) => {
      fixture.jobs({ schedule });
      const { tick } = fixture.open();
      await tick();
      fixture.now = NINE + 3 * HOUR;
      await tick();
      fixture.now = NINE + MINUTE;
      await tick();
      expect(notices.join()).toContain("later than their schedules");
      fixture.now = NINE + 2 * MINUTE;
      await tick();
      fixture.now = NINE + 3 * MINUTE;
      await tick();
      const minutes = fixture.runs.map((run) => run.slice(-13, -8));
      expect(minutes.slice(0, 2)).toEqual(["09:00", "12:00"]);
      expect(minutes.slice(2)).toContain("09:03");
      const before = fixture.runs.length;
      for (let minute = 178; minute <= 182; minute++) {
        fixture.now = NINE + minute * MINUTE;
        await tick();
      }
      expect(fixture.runs.slice(before).map((run) => run.slice(-13, -8))).toContain("12:00");
    },
  );

  it("a daily job that ran is not run again when the clock goes back an hour, and is when it goes back days", async () => {
    fixture.jobs({});
    const { tick, job } = fixture.open();
    await tick();
    fixture.now = NINE - HOUR;
    await tick();
    fixture.now = NINE + MINUTE;
    await tick();
    expect(fixture.runs).toHaveLength(1);
    expect((await job()).next_run_at).toContain("2026-05-05T09:00");
    fixture.now = NINE - 3 * 24 * HOUR + MINUTE;
    await tick();
    expect((await job()).next_run_at).toContain("2026-05-02T09:00");
    for (const day of [-2, -1, 0]) {
      fixture.now = NINE + day * 24 * HOUR;
      await tick();
    }
    expect(fixture.runs.map((run) => run.slice(-24, -14))).toEqual([
      "2026-05-04",
      "2026-05-02",
      "2026-05-03",
      "2026-05-04",
    ]);
  });

  it("one-off jobs keep their time, and a small step does not make a new interval job run earlier", async () => {
    const at = iso(NINE + 48 * HOUR);
    fixture.jobs(
      { id: "o".repeat(12), schedule: { kind: "once", run_at: at, display: "once" }, next_run_at: at },
      {
        id: "i".repeat(12),
        schedule: { kind: "interval", minutes: 1440, display: "every 1d" },
        next_run_at: iso(NINE + 24 * HOUR + 5_000),
      },
    );
    const { tick, file } = fixture.open();
    await tick();
    expect((await file.list()).map((entry) => entry.next_run_at)).toEqual([at, iso(NINE + 24 * HOUR + 5_000)]);
    expect(notices).toEqual([]);
  });
});

const LIBRARY = ["x86_64", "aarch64"]
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find(existsSync);
if (!LIBRARY) process.stderr.write("skipped: libfaketime is not installed (apt-get install faketime)\n");

it.skipIf(!LIBRARY)(
  "a real process whose clock goes back says so, shows the right times and runs the job",
  async () => {
    const home = tempHome();
    const clock = join(home.path, "clock");
    const runs = join(home.path, "runs");
    mkdirSync(join(home.path, "cron"), { recursive: true });
    mkdirSync(join(home.path, "scripts"));
    writeFileSync(join(home.path, "scripts", "note.sh"), `echo run >> ${runs}\n`);
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: home.path,
      HERMES_HOME: home.path,
      LD_PRELOAD: LIBRARY ?? "",
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      TZ: "UTC",
    };
    const hermes = (...args: string[]) => runHermes(args, { home: home.path, env });
    const lines = () => (existsSync(runs) ? readFileSync(runs, "utf8").split("\n").length - 1 : 0);
    try {
      writeFileSync(clock, "+3h");
      const made = await hermes(
        "cron",
        "add",
        "* * * * *",
        "--script",
        "note.sh",
        "--no-agent",
        "--name",
        "Each minute",
      );
      expect(made.stderr).toBe("");
      writeFileSync(clock, "+0");
      const soon = await hermes("cron", "next", "--json");
      const first = JSON.parse(soon.stdout)[0];
      expect(Date.parse(first.at) - Date.now()).toBeLessThan(2 * MINUTE);
      expect((await hermes("cron", "status")).stdout).toContain("Due too late: Each minute");
      const tick = await hermes("cron", "tick");
      expect(tick.code).toBe(0);
      expect((await hermes("cron", "status")).stdout).not.toContain("Due too late");
      writeFileSync(clock, "+61s");
      await hermes("cron", "tick");
      expect(lines()).toBe(1);
    } finally {
      home.remove();
    }
  },
  60_000,
);
