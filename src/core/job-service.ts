// What a surface or a server may do with scheduled jobs. Handed over by app/.
import type { Job } from "./job.ts";

/** Fields that are absent stay as they are; an empty text or list clears. */
export interface JobInput {
  readonly schedule?: string | undefined;
  readonly timezone?: string | undefined;
  readonly prompt?: string | undefined;
  readonly name?: string | undefined;
  /** Zero or less: for ever. */
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
  readonly catch_up_limit?: number | undefined;
}

/** Every change is checked first; trouble is a UserError and changes nothing. */
export interface JobService {
  list(): Promise<readonly Job[]>;
  create(options: JobInput): Promise<Job>;
  update(id: string, options: JobInput): Promise<Job>;
  pause(id: string, reason?: string): Promise<Job>;
  resume(id: string): Promise<Job>;
  /** Due now: whoever ticks next runs it. */
  trigger(id: string): Promise<Job>;
  remove(id: string): Promise<Job>;
  /** Why nothing runs jobs at the moment; undefined when something does. */
  tickerProblem(): Promise<string | undefined>;
}
