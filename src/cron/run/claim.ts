// Claims runs: under the lock of jobs.json, due occurrences are entered in the ledger and the due times move on.
import { UserError } from "../../core/failure.ts";
import type { Job, JobLedger, JobRun } from "../../core/job.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { JobFile } from "../job-file.ts";
import { correctedDue, isTooLate } from "../schedule/due-time.ts";
import { type Plan, planJob } from "../schedule/plan.ts";
import { firstRun } from "../schedule/schedule.ts";
import { isoIn, parseIso } from "../schedule/zone.ts";
import { settleRuns } from "./settle.ts";

export interface ClaimedRun {
  readonly job: Job;
  readonly run: { readonly id: number; readonly occurrence: number; readonly trigger: JobRun["trigger"] };
  /** Further occurrences of the job are due already. */
  readonly more: boolean;
}

export interface ClaimOptions {
  readonly file: JobFile;
  readonly ledger: JobLedger;
  readonly owner: string;
  readonly leaseMs: number;
  zone(): string;
  now(): number;
}

/** The values of one claim, the same for all jobs. */
interface ClaimRound {
  readonly options: ClaimOptions;
  readonly now: number;
  readonly zone: string;
  /** The start of the active run of each job that has one. */
  readonly busy: ReadonlyMap<string, number>;
}

export function isLive(job: Job): boolean {
  return job.enabled && (job.state === "scheduled" || job.state === "running");
}

/** Adds a due time when there is none. A one-off job gets its own time, so that a missed run is noticed. */
function withDueTime(job: Job, round: ClaimRound): Job {
  if (job.next_run_at !== null) {
    if (parseIso(job.next_run_at, round.zone) === undefined)
      throw new Error(`its due time "${job.next_run_at}" cannot be read`);
    return job;
  }
  const at =
    job.schedule.kind === "once"
      ? parseIso(job.schedule.run_at, round.zone)
      : firstRun(job.schedule, round.now, round.zone);
  if (at === undefined) throw new Error("its schedule has no further occurrence");
  return { ...job, next_run_at: isoIn(at, jobZone(job, round.zone)) };
}

function jobZone(job: Job, zone: string): string {
  return job.schedule.kind === "cron" ? (job.schedule.tz ?? zone) : zone;
}

/** Puts a job with an invalid schedule into the state `error`; the user is alerted once. */
async function disableInvalid(job: Job, error: unknown, round: ClaimRound): Promise<Job> {
  const { options, now } = round;
  const reason = `the schedule cannot be used: ${errorMessage(error)}`;
  const missed = [{ occurrence: now, until: now, count: 1, reason, alert: true }];
  await options.ledger.claim({ job, now, owner: options.owner, leaseMs: options.leaseMs, missed });
  return { ...job, state: "error", last_status: "error", last_error: reason };
}

/** Moves a due time that is later than the next occurrence of the schedule. */
async function correctDueTime(job: Job, round: ClaimRound): Promise<Job> {
  const { options, now, zone } = round;
  const due = await correctedDue(job, round, options.ledger);
  if (due === undefined) return job;
  if (due.release) await options.ledger.releaseAhead(job.id, now);
  return { ...job, next_run_at: isoIn(due.at, jobZone(job, zone)) };
}

async function claimJob(
  job: Job,
  round: ClaimRound,
): Promise<{ job: Job; claimed?: ClaimedRun | undefined; missed: number }> {
  const { options, now, zone } = round;
  if (job.next_run_at === null && round.busy.has(job.id)) return { job, missed: 0 };
  if (job.next_run_at === null && job.schedule.kind === "once" && job.last_run_at !== null)
    return { job: { ...job, state: "completed", enabled: false }, missed: 0 };
  let dated: Job;
  let plan: Plan | null;
  try {
    dated = withDueTime(job, round);
    plan = planJob(dated, { now, zone, busySince: round.busy.get(job.id) });
  } catch (error) {
    return { job: await disableInvalid(job, error, round), missed: 1 };
  }
  if (!plan) return { job: dated, missed: 0 };
  const { missed, run } = plan;
  const { owner, leaseMs } = options;
  const id = await options.ledger.claim({ job, now, owner, leaseMs, missed, run });
  const next_run_at = plan.next === null ? null : isoIn(plan.next, jobZone(job, zone));
  const moved: Job = { ...dated, next_run_at };
  const total = missed.reduce((sum, row) => sum + row.count, 0);
  if (id === null || !run) return { job: moved, missed: total };
  // Hermes Agent v0.14 runs a one-off job without a due time, unless it has a last run.
  const started = job.schedule.kind === "once" ? { last_run_at: isoIn(now, zone) } : {};
  const record: Job = { ...moved, ...started, state: "running" };
  const more = plan.next !== null && plan.next <= now;
  return { job: record, missed: total, claimed: { job: record, run: { id, ...run }, more } };
}

async function busyJobs(ledger: JobLedger): Promise<Map<string, number>> {
  return new Map((await ledger.open()).map((run) => [run.jobId, run.startedAt ?? run.claimedAt]));
}

export interface Claimed {
  readonly runs: readonly ClaimedRun[];
  readonly missed: number;
  /** Jobs whose due time was later than their schedule says. */
  readonly corrected?: readonly Job[] | undefined;
  /** Hermes Agent v0.14 runs the jobs of this home at the moment; due jobs wait for the next tick. */
  readonly held?: true | undefined;
}

/** Claims the due runs of one job or of all; at most one run per job. */
export async function claimDue(options: ClaimOptions, onlyJob?: string): Promise<Claimed> {
  const isDue = (job: Job) =>
    isLive(job) &&
    (onlyJob === undefined || job.id === onlyJob) &&
    (job.next_run_at === null || (parseIso(job.next_run_at, options.zone()) ?? 0) <= options.now());
  const isLagging = (job: Job) => isLive(job) && isTooLate(job, { now: options.now(), zone: options.zone() });
  // Most ticks find nothing, so the lock is taken only when something is due.
  if (!(await options.file.list()).some((job) => isDue(job) || isLagging(job))) return { runs: [], missed: 0 };
  const claimed = await options.file.changeBetweenTicks(async (jobs) => {
    const round = { options, now: options.now(), zone: options.zone(), busy: await busyJobs(options.ledger) };
    const runs: ClaimedRun[] = [];
    const records: Job[] = [];
    const moved: Job[] = [];
    let missed = 0;
    // Ended runs are counted first: one of them may have been the last run of its job.
    for (const job of settleRuns(jobs, await options.ledger.unsettled(), round.zone)) {
      const outcome = isDue(job)
        ? await claimJob(job, round)
        : { job: isLagging(job) ? await correctDueTime(job, round) : job, missed: 0 };
      if (outcome.job !== job && !isDue(job)) moved.push(outcome.job);
      records.push(outcome.job);
      missed += outcome.missed;
      if (outcome.claimed) runs.push(outcome.claimed);
    }
    const changed = records.some((job, index) => job !== jobs[index]);
    return { jobs: changed ? records : undefined, result: { runs, missed, corrected: moved } };
  });
  return claimed === "held" ? { runs: [], missed: 0, held: true } : claimed;
}

/** Claims a run that a user asked for. */
export async function claimManually(options: ClaimOptions, id: string): Promise<ClaimedRun> {
  return options.file.change(async (jobs) => {
    const job = jobs.find((entry) => entry.id === id);
    if (!job) throw new UserError(`There is no job ${id}.`, { hint: "See: hermes cron list --all" });
    const { ledger, owner, leaseMs } = options;
    const now = options.now();
    const since = (await busyJobs(ledger)).get(id);
    if (since !== undefined) {
      throw new UserError(`The job "${job.name}" is already running, since ${isoIn(since, options.zone())}.`, {
        hint: "Wait for its end: hermes cron history",
      });
    }
    const run = { occurrence: now, trigger: "manual" as const };
    const claimed = await ledger.claim({ job, now, owner, leaseMs, run });
    if (claimed === null) throw new UserError(`The job "${job.name}" was just started by another process.`);
    const state = isLive(job) ? ("running" as const) : job.state;
    const record: Job = { ...job, state };
    return {
      jobs: jobs.map((entry) => (entry === job ? record : entry)),
      result: { job: record, run: { id: claimed, ...run }, more: false },
    };
  });
}
