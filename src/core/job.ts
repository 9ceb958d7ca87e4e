// Scheduled jobs: the record in jobs.json, the ledger of occurrences, and the delivery of results.
import type { MediaRequest } from "./chat/outgoing-media.ts";

/** `tz` is the IANA time zone of a cron expression; without it the configured zone applies. */
export type Schedule =
  | { readonly kind: "once"; readonly run_at: string; readonly display: string }
  | { readonly kind: "interval"; readonly minutes: number; readonly display: string }
  | { readonly kind: "cron"; readonly expr: string; readonly display: string; readonly tz?: string | undefined };

export type JobState = "scheduled" | "running" | "paused" | "completed" | "error";

/** Which missed occurrences are run later: none, the newest one, or all of them up to a limit. */
export type CatchUp = "skip" | "latest" | "all";

/** The chat in which a job was created. */
export interface JobOrigin {
  readonly platform: string;
  readonly chat_id: string;
  readonly chat_name?: string | null | undefined;
  readonly thread_id?: string | null | undefined;
  /** The user or shared chat whose sessions the runs may search; absent for the owner. */
  readonly tenant?: string | undefined;
}

/** One job as jobs.json holds it. Fields that are not listed here are kept as they are. */
export interface Job {
  readonly id: string;
  readonly name: string;
  readonly prompt: string;
  readonly skills: readonly string[];
  /** Legacy; mirrors the first of `skills`. */
  readonly skill: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly base_url: string | null;
  readonly script: string | null;
  readonly no_agent: boolean;
  readonly context_from: readonly string[] | null;
  readonly schedule: Schedule;
  readonly schedule_display: string;
  readonly repeat: { readonly times: number | null; readonly completed: number };
  readonly enabled: boolean;
  readonly state: JobState;
  readonly paused_at: string | null;
  readonly paused_reason: string | null;
  readonly created_at: string | null;
  readonly next_run_at: string | null;
  readonly last_run_at: string | null;
  readonly last_status: "ok" | "error" | null;
  readonly last_error: string | null;
  readonly last_delivery_error: string | null;
  readonly deliver: string;
  readonly origin: JobOrigin | null;
  readonly enabled_toolsets: readonly string[] | null;
  readonly workdir: string | null;
  readonly catch_up?: CatchUp | undefined;
  /** A run that a crash interrupted is run again. */
  readonly at_least_once?: boolean | undefined;
  /** Missed occurrences that `all` runs at most. */
  readonly catch_up_limit?: number | undefined;
  /** The newest run of the ledger that is counted in `repeat` and the `last_…` fields. */
  readonly counted_run?: number | undefined;
}

/** Every state except `running` is final; a row gets exactly one final state. */
export type RunState = "running" | "ran" | "caught_up" | "failed" | "skipped" | "abandoned";
export type RunEnd = Exclude<RunState, "running">;

/** One occurrence of a job. Times are milliseconds since the epoch. */
export interface JobRun {
  readonly id: number;
  readonly jobId: string;
  readonly jobName: string;
  /** The time in the schedule; for a manual run, the time of the request. */
  readonly occurrence: number;
  /** A row may cover several occurrences that were missed together: their number, and the last of them. */
  readonly count: number;
  readonly until: number;
  readonly trigger: "schedule" | "catch_up" | "manual";
  readonly state: RunState;
  /** Why it was skipped, failed or abandoned. */
  readonly reason: string | null;
  readonly owner: string | null;
  readonly claimedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly sessionId: string | null;
  readonly document: string | null;
  readonly deliveryError: string | null;
  /** The state of the alert about this run. */
  readonly alert: "none" | "due" | "sending" | "sent";
}

export interface MissedRuns {
  readonly occurrence: number;
  readonly until: number;
  readonly count: number;
  readonly reason: string;
  /** The user should be alerted. */
  readonly alert: boolean;
}

export interface RunClaim {
  readonly job: { readonly id: string; readonly name: string };
  readonly now: number;
  readonly owner: string;
  readonly leaseMs: number;
  readonly missed?: readonly MissedRuns[] | undefined;
  readonly run?: { readonly occurrence: number; readonly trigger: JobRun["trigger"] } | undefined;
}

export interface RunOutcome {
  readonly state: Exclude<RunEnd, "skipped">;
  readonly now: number;
  readonly reason?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly document?: string | undefined;
  readonly deliveryError?: string | undefined;
  /** The outcome was reported to the user, or needs no report. */
  readonly reported: boolean;
}

/** A process that runs due jobs, as of its last heartbeat. */
export interface TickerHeartbeat {
  readonly owner: string;
  readonly startedAt: number;
  readonly tickedAt: number;
  /** The error of the last tick; empty when there was none. */
  readonly failure: string;
}

/** The durable record of occurrences. A claim is a unique insert: the process that inserts the row owns the run. */
export interface JobLedger {
  /** Writes the rows of missed runs and claims the run. Its id; null when another process has it. */
  claim(claim: RunClaim): Promise<number | null>;
  /** Records that the work begins. False when the run belongs to another process: then it must not begin. */
  started(id: number, owner: string, now: number): Promise<boolean>;
  /** Takes over a lost run, as not begun; false when it has changed since it was read: another process was faster. */
  takeOver(run: Pick<JobRun, "id" | "owner" | "startedAt">, owner: string, leaseUntil: number): Promise<boolean>;
  /** Ended runs of a job whose scheduled time is after `now`: the clock was ahead when they ran. */
  ahead(jobId: string, now: number): Promise<readonly JobRun[]>;
  /** Moves those rows by a millisecond or more, so that the occurrences can be claimed again. */
  releaseAhead(jobId: string, now: number): Promise<void>;
  /** False when the run belongs to another process: then the work must stop. */
  renew(id: number, owner: string, leaseUntil: number): Promise<boolean>;
  /** False when the run was ended already. */
  finish(id: number, owner: string, outcome: RunOutcome): Promise<boolean>;
  /** Runs that have not ended. */
  open(): Promise<readonly (JobRun & { readonly leaseUntil: number })[]>;
  /** Ends a run whose process has ended; false when the run was ended already. */
  abandon(id: number, now: number, reason: string): Promise<boolean>;
  /** Ended runs that jobs.json does not count yet, oldest first. */
  unsettled(): Promise<readonly JobRun[]>;
  settle(ids: readonly number[]): Promise<void>;
  /** Takes the alerts that are due; no other process sends them for `leaseMs`. */
  takeAlerts(now: number, leaseMs: number): Promise<readonly JobRun[]>;
  alertSent(id: number, deliveryError?: string): Promise<void>;
  /** Newest first. */
  history(filter: { readonly jobId?: string | undefined; readonly limit: number }): Promise<readonly JobRun[]>;
  recordHeartbeat(heartbeat: TickerHeartbeat): Promise<void>;
  removeHeartbeat(owner: string): Promise<void>;
  listHeartbeats(): Promise<readonly TickerHeartbeat[]>;
  /** Deletes ended runs and tickers that are older than `before`. */
  prune(before: number): Promise<number>;
  close(): void;
}

export interface DeliveryTarget {
  readonly platform: string;
  readonly chatId: string;
  readonly threadId?: string | undefined;
}

export interface DeliveryMessage {
  readonly text: string;
  /** Files to send along, by path. */
  readonly media: readonly string[];
  /** The job that produced it; results of jobs are not added to the history of the chat. */
  readonly jobId?: string | undefined;
  /** How the files are to be sent. */
  readonly mediaOptions?: MediaRequest | undefined;
  /** The platform of the agent that sent it (`cli`, `telegram`): the message is then added to the session of the chat. */
  readonly mirrorFrom?: string | undefined;
  /** Identifies this delivery: several attempts with the same key, from any process, send it once. */
  readonly key?: string | undefined;
  /** How long to wait for the platform to confirm; without it, a durably queued message counts as sent. */
  readonly waitMs?: number | undefined;
}

/** A chat that messages can be sent to. */
export interface KnownChat {
  readonly platform: string;
  readonly chatId: string;
  readonly threadId?: string | undefined;
  readonly name: string;
  /** `dm`, `group`, `channel` … */
  readonly kind: string;
  /** The server that a channel belongs to, where the platform has such. */
  readonly guild?: string | undefined;
}

/** How results reach chats. The gateway supplies one; without it only `local` works. */
export interface Deliverer {
  /** Every platform that can be named, configured or not. */
  known(): readonly string[];
  /** Why nothing can be sent to the platform, with a hint; undefined when it can. */
  problem(platform: string): string | undefined;
  /** The home channel of a platform. */
  home(platform: string): DeliveryTarget | undefined;
  /** The chat, with its thread, that a reference such as `#engineering` means; undefined when there is none. */
  resolve(platform: string, reference: string): Promise<DeliveryTarget | undefined>;
  /** Chats of the platforms that are set up, as far as they are known. */
  chats?(): Promise<readonly KnownChat[]>;
  /** Undefined when the message was sent or durably queued; otherwise one sentence about the error. */
  send(target: DeliveryTarget, message: DeliveryMessage): Promise<string | undefined>;
  /** Sends what earlier processes could not send; absent where that happens automatically. */
  flush?(): Promise<void>;
}
