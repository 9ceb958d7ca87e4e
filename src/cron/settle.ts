// What an ended run does to its job's record: counts it, notes how it went, and tells whether the job goes on.
import type { Job, JobRun } from "../core/job.ts";
import { isoIn } from "./zone.ts";

function noted(job: Job, run: JobRun, zone: string): Job {
  const good = run.state === "ran" || run.state === "caught_up";
  return {
    ...job,
    last_run_at: isoIn(run.startedAt ?? run.endedAt ?? run.claimedAt, zone),
    last_status: good ? "ok" : "error",
    last_error: good ? null : run.reason,
    last_delivery_error: run.deliveryError,
  };
}

function over(job: Job, state: Job["state"]): Job {
  return { ...job, state, enabled: false, next_run_at: null };
}

/** Only runs move the mark: a run that goes on while others are missed has the lower number and is counted later. */
function missed(job: Job, run: JobRun): Job {
  const told: Job = { ...job, last_error: run.reason };
  const forGood = job.schedule.kind === "once" && job.next_run_at === null && job.state === "scheduled";
  return forGood ? { ...over(told, "error"), last_status: "error" } : told;
}

/** Applying the same run again changes nothing. */
export function settleRun(job: Job, run: JobRun, zone: string): Job {
  if ((job.counted_run ?? 0) >= run.id) return job;
  if (run.state === "skipped") return missed(job, run);
  const next = { ...noted(job, run, zone), counted_run: run.id };
  const idle: Job = next.state === "running" ? { ...next, state: "scheduled" } : next;
  if (run.trigger === "manual") return idle;
  // A one-off that has a due time again was given a new one while it ran, or was started early: that one is to come.
  if (idle.schedule.kind === "once" && idle.next_run_at !== null) return idle;
  const counted: Job = { ...idle, repeat: { ...idle.repeat, completed: idle.repeat.completed + 1 } };
  const { times, completed } = counted.repeat;
  if (times !== null && completed >= times) return over(counted, "completed");
  if (counted.next_run_at !== null || counted.state !== "scheduled") return counted;
  if (counted.schedule.kind === "once") return over(counted, "completed");
  return { ...counted, state: "error", last_error: "The schedule has no further occurrence." };
}

/** The jobs with all of these runs counted; a job that none of them concerns is the same object. */
export function settleRuns(jobs: readonly Job[], ended: readonly JobRun[], zone: string): Job[] {
  return jobs.map((job) =>
    ended.filter((run) => run.jobId === job.id).reduce((record, run) => settleRun(record, run, zone), job),
  );
}
