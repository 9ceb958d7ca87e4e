// Scheduled jobs for servers and library users. The jobs are opened on the first call.
import type { JobRun } from "../core/job.ts";
import type { JobService } from "../core/job-service.ts";
import type { Cron } from "./job-repository.ts";

/** Jobs for a program that uses Hermes as a library: manage, run, inspect. */
export interface Jobs extends JobService {
  /** Runs a job now, by id or name, and waits until it has ended. */
  run(reference: string): Promise<JobRun>;
  /** Runs the due jobs once and waits until they have ended; for programs without a running gateway. */
  tick(): Promise<{ readonly started: number; readonly missed: number; readonly abandoned: number }>;
  /** The runs of jobs, newest first; 20 by default. */
  history(filter?: { readonly jobId?: string | undefined; readonly limit?: number }): Promise<readonly JobRun[]>;
}

export function createJobService(open: () => Promise<Cron>): JobService {
  const actions = async () => (await open()).actions;
  return {
    list: async () => (await actions()).list(),
    create: async (options) => (await actions()).create(options),
    update: async (id, request) => (await actions()).update(id, request),
    pause: async (id, reason) => (await actions()).pause(id, reason),
    resume: async (id) => (await actions()).resume(id),
    trigger: async (id) => (await actions()).trigger(id),
    remove: async (id) => (await actions()).remove(id),
    tickerProblem: async () => (await open()).tickerProblem(),
  };
}

export function openJobs(open: () => Promise<Cron>): Jobs {
  return {
    ...createJobService(open),
    run: async (reference) => {
      const { actions, scheduler, flush } = await open();
      const ended = await scheduler.runNow((await actions.find(reference)).id);
      await flush();
      return ended;
    },
    tick: async () => {
      const { scheduler, flush } = await open();
      const before = scheduler.tally.begun;
      const { missed, abandoned } = await scheduler.tick();
      await scheduler.idle();
      await flush();
      return { started: scheduler.tally.begun - before, missed, abandoned };
    },
    history: async (filter = {}) => (await open()).ledger.history({ limit: 20, ...filter }),
  };
}
