// What a surface or a server may do with scheduled jobs. Handed over by app/.
import type { Job } from "./job.ts";

/** Fields that are absent stay as they are; an empty text or list clears. */
export interface JobInput {
  readonly schedule?: string;
  readonly timezone?: string;
  readonly prompt?: string;
  readonly name?: string;
  /** Zero or less: for ever. */
  readonly repeat?: number;
  readonly deliver?: string;
  readonly skills?: readonly string[];
  readonly model?: string;
  readonly provider?: string;
  readonly base_url?: string;
  readonly script?: string;
  readonly no_agent?: boolean;
  readonly context_from?: readonly string[];
  readonly enabled_toolsets?: readonly string[];
  readonly workdir?: string;
  readonly catch_up?: string;
  readonly catch_up_limit?: number;
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
