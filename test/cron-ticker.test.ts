// The ticker of a long-running process.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { processOwner } from "../src/cron/run/owner.ts";
import { CronTicker } from "../src/cron/run/ticker.ts";
import { NINE, SchedulerFixture } from "./kit/scheduler-fixture.ts";

let fixture: SchedulerFixture;
beforeEach(() => {
  fixture = new SchedulerFixture();
});
afterEach(() => fixture.remove());

describe("the ticker", () => {
  const settled = (check: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const deadline = Date.now() + 10_000;
      const look = setInterval(() => {
        if (!check() && Date.now() < deadline) return;
        clearInterval(look);
        if (check()) resolve();
        else reject(new Error("it did not happen"));
      }, 5);
    });

  it("ticks every minute, records a heartbeat, and waits for the runs when it stops", async () => {
    fixture.jobs({ schedule: { kind: "interval", minutes: 1, display: "every 1m" } });
    const { scheduler, ledger, states } = fixture.open();
    const owners = processOwner();
    const began = Date.now();
    // A simulated minute lasts 100 ms.
    const clock = () => NINE + (Date.now() - began) * 600;
    const ticker = new CronTicker({
      scheduler,
      ledger,
      owners,
      now: () => Date.now(),
      notice: () => undefined,
      everyMs: 100,
    });
    const moving = setInterval(() => {
      fixture.now = clock();
    }, 5);
    fixture.result = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { ok: true, reported: true };
    };
    ticker.start();
    await settled(() => fixture.runs.length >= 4);
    expect((await ledger.listHeartbeats())[0]).toMatchObject({ owner: owners.self, failure: "" });
    await settled(() => !ticker.health.late && ticker.health.failure === "");
    await ticker.stop();
    clearInterval(moving);
    const count = fixture.runs.length;
    expect(new Set(fixture.runs).size).toBe(count);
    expect(await ledger.listHeartbeats()).toEqual([]);
    expect((await states()).filter((state) => state === "running")).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(fixture.runs).toHaveLength(count);
  });

  it("reports a damaged file once, continues, and recovers when the file is repaired", async () => {
    writeFileSync(join(fixture.dir, "jobs.json"), "{ damaged");
    const { scheduler, ledger } = fixture.open();
    const notices: string[] = [];
    const ticker = new CronTicker({
      scheduler,
      ledger,
      owners: processOwner(),
      now: () => Date.now(),
      notice: (text) => notices.push(text),
      everyMs: 30,
    });
    ticker.start();
    await settled(() => ticker.health.failure !== "");
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(notices).toHaveLength(1);
    expect(notices[0]).toContain("jobs.json");
    fixture.jobs({});
    await settled(() => fixture.runs.length === 1 && ticker.health.failure === "");
    await ticker.stop();
  });

  it("interrupts a run that exceeds the shutdown limit; the run still gets its end and is reported", async () => {
    fixture.jobs({});
    const { scheduler, ledger, states } = fixture.open();
    fixture.result = (_job, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const ticker = new CronTicker({
      scheduler,
      ledger,
      owners: processOwner(),
      now: () => fixture.now,
      notice: () => undefined,
    });
    ticker.start();
    await settled(() => fixture.runs.length === 1);
    await ticker.stop({ drainMs: 20 });
    expect(await states()).toEqual(["failed"]);
    expect(fixture.alerts[0]).toContain("shut down");
  });
});
