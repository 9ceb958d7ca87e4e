// Scheduled jobs as surfaces and servers use them.
import type { Job } from "./job.ts";

/** Absent fields stay unchanged; an empty text or list clears the field. */
export interface JobInput {
  readonly schedule?: string | undefined;
  readonly timezone?: string | undefined;
  readonly prompt?: string | undefined;
  readonly name?: string | undefined;
  /** Zero or less: without a limit. */
  readonly repeat?: number | undefined;
  readonly deliver?: string | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly base_url?: string | undefined;
  readonly script?: string | undefined;
  readonly no_agent?: boolean | undefined;
  readonly context_from?: readonly string[] | undefined;
  readonly enabled_toolsets?: readonly string[] | undefined;
  readonly workdir?: string | undefined;
  readonly catch_up?: string | undefined;
  readonly at_least_once?: boolean | undefined;
  readonly catch_up_limit?: number | undefined;
}

/** Every change is validated first; an invalid one throws a UserError and changes nothing. */
export interface JobService {
  list(): Promise<readonly Job[]>;
  create(options: JobInput): Promise<Job>;
  update(id: string, options: JobInput): Promise<Job>;
  pause(id: string, reason?: string): Promise<Job>;
  resume(id: string): Promise<Job>;
  /** Makes the job due now; the next tick of any process runs it. */
  trigger(id: string): Promise<Job>;
  remove(id: string): Promise<Job>;
  /** Why no process runs jobs now; undefined when one does. */
  tickerProblem(): Promise<string | undefined>;
}
