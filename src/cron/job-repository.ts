// The scheduled jobs of a home: the file, the ledger, the actions, and the scheduler.
import type { JobLedger } from "../core/job.ts";
import type { JobActions } from "./job-actions.ts";
import type { JobFile } from "./job-file.ts";
import type { Owners } from "./run/owner.ts";
import type { Scheduler } from "./run/scheduler.ts";
import type { CronTicker } from "./run/ticker.ts";

/** Access to the jobs, without the means to run them. */
export interface JobRepository {
  readonly file: JobFile;
  readonly ledger: JobLedger;
  readonly actions: JobActions;
  readonly owners: Owners;
  /** The folder for the documents of runs. */
  readonly output: string;
  /** The time zone of jobs that name none. */
  zone(): string;
  /** Why the configured time zone cannot be used; undefined when it can. */
  readonly zoneProblem: string | undefined;
  /** Why no process runs due jobs; undefined when one does. */
  tickerProblem(): Promise<string | undefined>;
  close(): void;
}

/** The jobs with the means to run them. */
export interface Cron extends JobRepository {
  readonly scheduler: Scheduler;
  /** Sends results that an earlier process could not send. */
  flush(): Promise<void>;
  /** Runs due jobs on every full minute until it is stopped; for the gateway. */
  ticker(): CronTicker;
}
