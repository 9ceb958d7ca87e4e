// Scheduled jobs as servers and programs handle them. The jobs are opened at the first call.

import type { App } from "../app/app.ts";
import type { JobRun } from "../core/job.ts";
import type { JobService } from "../core/job-service.ts";

/** Jobs for a program: to look after, to run, and to see what became of them. */
export interface Jobs extends JobService {
  /** Runs a job now, by id or name, and waits for its end. */
  run(reference: string): Promise<JobRun>;
  /** Runs what is due, once, and waits for the ends; for programs that look after the jobs themselves. */
  tick(): Promise<{ readonly started: number; readonly missed: number; readonly abandoned: number }>;
  /** What became of each occurrence, newest first; 20 unless told otherwise. */
  history(filter?: { readonly jobId?: string | undefined; readonly limit?: number }): Promise<readonly JobRun[]>;
}

export function createJobService(app: App): JobService {
  const actions = async () => (await app.cron()).actions;
  return {
    list: async () => (await actions()).list(),
    create: async (options) => (await actions()).create(options),
    update: async (id, request) => (await actions()).update(id, request),
    pause: async (id, reason) => (await actions()).pause(id, reason),
    resume: async (id) => (await actions()).resume(id),
    trigger: async (id) => (await actions()).trigger(id),
    remove: async (id) => (await actions()).remove(id),
    tickerProblem: async () => (await app.cron()).tickerProblem(),
  };
}

export function openJobs(app: App): Jobs {
  return {
    ...createJobService(app),
    run: async (reference) => {
      const { actions, scheduler, flush } = await app.cron();
      const ended = await scheduler.runNow((await actions.find(reference)).id);
      await flush();
      return ended;
    },
    tick: async () => {
      const { scheduler, flush } = await app.cron();
      const before = scheduler.tally.begun;
      const { missed, abandoned } = await scheduler.tick();
      await scheduler.idle();
      await flush();
      return { started: scheduler.tally.begun - before, missed, abandoned };
    },
    history: async (filter = {}) => (await app.cron()).ledger.history({ limit: 20, ...filter }),
  };
}
