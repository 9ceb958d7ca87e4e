// A scheduler with a real file and a real ledger, on a clock that the test moves.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Job, JobRun } from "../../src/core/job.ts";
import { JobFile } from "../../src/cron/job-file.ts";
import { processOwner } from "../../src/cron/run/owner.ts";
import { type JobResult, Scheduler } from "../../src/cron/run/scheduler.ts";
import { createCronLedger } from "../../src/store/runtime/cron-ledger.ts";
import { openRuntimeDb } from "../../src/store/runtime-db.ts";
import { tempDir } from "./temp-dir.ts";

export const NINE = Date.UTC(2026, 4, 4, 9);
export const ID = "a1b2c3d4e5f6";

export class SchedulerFixture {
  readonly dir = tempDir("hermes-cron-");
  now = NINE;
  /** Alerts and starts in their order. */
  readonly alerts: string[] = [];
  readonly runs: string[] = [];
  /** The result of a run. */
  result: (job: Job, signal: AbortSignal) => Promise<JobResult> = async () => ({ ok: true, reported: true });
  readonly #opened: { close(): void }[] = [];
  readonly #notice: (text: string) => void;

  /** Notices fail the test unless it expects them. */
  constructor(
    notice = (text: string): void => {
      throw new Error(text);
    },
  ) {
    this.#notice = notice;
  }

  /** Runs last until the returned function is called. */
  hold(): () => void {
    let finish: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    this.result = async () => {
      await gate;
      return { ok: true, reported: true };
    };
    return finish;
  }

  /** Writes jobs.json; a job is daily at nine by default. */
  jobs(...given: { readonly [field: string]: unknown }[]): void {
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
    writeFileSync(join(this.dir, "jobs.json"), JSON.stringify({ jobs: all }));
  }

  /** One more scheduler on the same home; `lost` makes it one of another machine. */
  open(options: { maxParallel?: number; lost?: boolean; renewMs?: number } = {}) {
    const file = new JobFile(this.dir, () => "UTC");
    const ledger = createCronLedger(() => openRuntimeDb(join(this.dir, "runtime.db")));
    this.#opened.push(ledger);
    const owners = options.lost ? { self: "elsewhere:1:x", lives: () => "unknown" as const } : processOwner();
    const scheduler = new Scheduler({
      file,
      ledger,
      owners,
      zone: () => "UTC",
      now: () => this.now,
      run: async (job, run, signal) => {
        this.runs.push(`${job.id} ${new Date(run.occurrence).toISOString()}`);
        return this.result(job, signal);
      },
      alert: async (run: JobRun) => {
        this.alerts.push(`${run.state} ×${run.count}: ${run.reason}`);
        return undefined;
      },
      notice: this.#notice,
      maxParallel: options.maxParallel ?? 0,
      ...(options.renewMs === undefined ? {} : { renewMs: options.renewMs }),
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

  remove(): void {
    for (const item of this.#opened) item.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
