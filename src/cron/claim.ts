// Claiming: under the lock of jobs.json the due occurrences become rows of the ledger, and the file moves on.
import { UserError } from "../core/failure.ts";
import type { Job, JobLedger, JobRun } from "../core/job.ts";
import { correctedDue, isTooLate } from "./due-time.ts";
import type { JobFile } from "./job-file.ts";
import { type Plan, planJob } from "./plan.ts";
import { firstRun } from "./schedule.ts";
import { settleRuns } from "./settle.ts";
import { isoIn, parseIso } from "./zone.ts";

export interface ClaimedRun {
  readonly job: Job;
  readonly run: { readonly id: number; readonly occurrence: number; readonly trigger: JobRun["trigger"] };
  /** Further occurrences of the job are due already. */
  readonly more: boolean;
}

export interface Claiming {
  readonly file: JobFile;
  readonly ledger: JobLedger;
  readonly owner: string;
  readonly leaseMs: number;
  zone(): string;
  now(): number;
}

interface Round {
  readonly claiming: Claiming;
  readonly now: number;
  readonly zone: string;
  /** Since when each job has a run going on. */
  readonly busy: ReadonlyMap<string, number>;
}

export function isLive(job: Job): boolean {
  return job.enabled && (job.state === "scheduled" || job.state === "running");
}

/** A job without a due time gets one: a one-off its own, so that a missed one is noticed. */
function withDueTime(job: Job, round: Round): Job {
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
  return { ...job, next_run_at: isoIn(at, zoneOf(job, round.zone)) };
}

function zoneOf(job: Job, zone: string): string {
  return job.schedule.kind === "cron" ? (job.schedule.tz ?? zone) : zone;
}

/** A schedule that cannot be evaluated puts the job aside, visibly, and is told once. */
async function setAside(job: Job, error: unknown, round: Round): Promise<Job> {
  const { claiming, now } = round;
  const reason = `the schedule cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  const missed = [{ occurrence: now, until: now, count: 1, reason, alert: true }];
  await claiming.ledger.claim({ job, now, owner: claiming.owner, leaseMs: claiming.leaseMs, missed });
  return { ...job, state: "error", last_status: "error", last_error: reason };
}

/** A due time that lies behind what the schedule says from now on is moved to it. */
async function corrected(job: Job, round: Round): Promise<Job> {
  const { claiming, now, zone } = round;
  const due = await correctedDue(job, round, claiming.ledger);
  if (due === undefined) return job;
  if (due.release) await claiming.ledger.releaseAhead(job.id, now);
  return { ...job, next_run_at: isoIn(due.at, zoneOf(job, zone)) };
}

async function claimJob(
  job: Job,
  round: Round,
): Promise<{ job: Job; claimed?: ClaimedRun | undefined; missed: number }> {
  const { claiming, now, zone } = round;
  if (job.next_run_at === null && round.busy.has(job.id)) return { job, missed: 0 };
  if (job.next_run_at === null && job.schedule.kind === "once" && job.last_run_at !== null)
    return { job: { ...job, state: "completed", enabled: false }, missed: 0 };
  let dated: Job;
  let plan: Plan | null;
  try {
    dated = withDueTime(job, round);
    const busySince = round.busy.get(job.id);
    plan = planJob(dated, { now, zone, ...(busySince === undefined ? {} : { busySince }) });
  } catch (error) {
    return { job: await setAside(job, error, round), missed: 1 };
  }
  if (!plan) return { job: dated, missed: 0 };
  const { missed, run } = plan;
  const { owner, leaseMs } = claiming;
  const id = await claiming.ledger.claim({ job, now, owner, leaseMs, missed, ...(run ? { run } : {}) });
  const next_run_at = plan.next === null ? null : isoIn(plan.next, zoneOf(job, zone));
  const moved: Job = { ...dated, next_run_at };
  const total = missed.reduce((sum, row) => sum + row.count, 0);
  if (id === null || !run) return { job: moved, missed: total };
  // Hermes Agent v0.14 takes a one-off without a due time for one that is still to come, unless it has run.
  const begun = job.schedule.kind === "once" ? { last_run_at: isoIn(now, zone) } : {};
  const record: Job = { ...moved, ...begun, state: "running" };
  const more = plan.next !== null && plan.next <= now;
  return { job: record, missed: total, claimed: { job: record, run: { id, ...run }, more } };
}

async function busyJobs(ledger: JobLedger): Promise<Map<string, number>> {
  return new Map((await ledger.open()).map((run) => [run.jobId, run.startedAt ?? run.claimedAt]));
}

export interface Claimed {
  readonly runs: readonly ClaimedRun[];
  readonly missed: number;
  /** Jobs whose due time was further ahead than their schedule says. */
  readonly corrected?: readonly Job[] | undefined;
  /** Hermes Agent v0.14 is at the jobs of this home; what is due waits for the next tick. */
  readonly held?: true | undefined;
}

/** Claims what is due, of one job or of all; at most one run per job. */
export async function claimDue(claiming: Claiming, onlyJob?: string): Promise<Claimed> {
  const isDue = (job: Job) =>
    isLive(job) &&
    (onlyJob === undefined || job.id === onlyJob) &&
    (job.next_run_at === null || (parseIso(job.next_run_at, claiming.zone()) ?? 0) <= claiming.now());
  const lags = (job: Job) => isLive(job) && isTooLate(job, { now: claiming.now(), zone: claiming.zone() });
  // Most ticks find nothing: they take no lock.
  if (!(await claiming.file.list()).some((job) => isDue(job) || lags(job))) return { runs: [], missed: 0 };
  const claimed = await claiming.file.changeBetweenTicks(async (jobs) => {
    const round = { claiming, now: claiming.now(), zone: claiming.zone(), busy: await busyJobs(claiming.ledger) };
    const runs: ClaimedRun[] = [];
    const records: Job[] = [];
    const moved: Job[] = [];
    let missed = 0;
    // A run that ended a moment ago may have been the last one: it is counted before the next is claimed.
    for (const job of settleRuns(jobs, await claiming.ledger.unsettled(), round.zone)) {
      const outcome = isDue(job)
        ? await claimJob(job, round)
        : { job: lags(job) ? await corrected(job, round) : job, missed: 0 };
      if (outcome.job !== job && !isDue(job)) moved.push(outcome.job);
      records.push(outcome.job);
      missed += outcome.missed;
      if (outcome.claimed) runs.push(outcome.claimed);
    }
    const changed = records.some((job, index) => job !== jobs[index]);
    return { ...(changed ? { jobs: records } : {}), result: { runs, missed, corrected: moved } };
  });
  return claimed === "held" ? { runs: [], missed: 0, held: true } : claimed;
}

/** Claims a run that a person asked for. */
export async function claimByHand(claiming: Claiming, id: string): Promise<ClaimedRun> {
  return claiming.file.change(async (jobs) => {
    const job = jobs.find((entry) => entry.id === id);
    if (!job) throw new UserError(`There is no job ${id}.`, { hint: "See: hermes cron list --all" });
    const { ledger, owner, leaseMs } = claiming;
    const now = claiming.now();
    const since = (await busyJobs(ledger)).get(id);
    if (since !== undefined) {
      throw new UserError(`The job "${job.name}" is running already, since ${isoIn(since, claiming.zone())}.`, {
        hint: "Wait for its end: hermes cron history",
      });
    }
    const run = { occurrence: now, trigger: "manual" as const };
    const claimed = await ledger.claim({ job, now, owner, leaseMs, run });
    if (claimed === null) throw new UserError(`The job "${job.name}" was started this very moment.`);
    const state = isLive(job) ? ("running" as const) : job.state;
    const record: Job = { ...job, state };
    return {
      jobs: jobs.map((entry) => (entry === job ? record : entry)),
      result: { job: record, run: { id: claimed, ...run }, more: false },
    };
  });
}
