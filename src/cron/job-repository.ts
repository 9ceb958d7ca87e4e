// Scheduled jobs of a home: the file, the ledger, what can be done with them, and who runs them.
import type { JobLedger } from "../core/job.ts";
import type { JobActions } from "./job-actions.ts";
import type { JobFile } from "./job-file.ts";
import type { Owners } from "./owner.ts";
import type { Scheduler } from "./scheduler.ts";
import type { CronTicker } from "./ticker.ts";

/** What every look at the jobs needs; nothing here runs one. */
export interface JobRepository {
  readonly file: JobFile;
  readonly ledger: JobLedger;
  readonly actions: JobActions;
  readonly owners: Owners;
  /** Where documents of runs lie. */
  readonly output: string;
  /** The zone of jobs that name none. */
  zone(): string;
  /** What is wrong with the configured zone; undefined when nothing is. */
  readonly zoneProblem: string | undefined;
  /** Why nothing ticks; undefined when something does. */
  tickerProblem(): Promise<string | undefined>;
  close(): void;
}

/** Jobs, ready to run. */
export interface Cron extends JobRepository {
  readonly scheduler: Scheduler;
  /** Sends results that an earlier process could not send. */
  flush(): Promise<void>;
  /** For the gateway: ticks on every full minute until it is stopped. */
  ticker(): CronTicker;
}
