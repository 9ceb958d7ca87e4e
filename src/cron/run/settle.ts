// Updates the record of a job after a run has ended: the count, the last result, and whether the job continues.
import type { Job, JobRun } from "../../core/job.ts";
import { isoIn } from "../schedule/zone.ts";

function withResult(job: Job, run: JobRun, zone: string): Job {
  const good = run.state === "ran" || run.state === "caught_up";
  return {
    ...job,
    last_run_at: isoIn(run.startedAt ?? run.endedAt ?? run.claimedAt, zone),
    last_status: good ? "ok" : "error",
    last_error: good ? null : run.reason,
    last_delivery_error: run.deliveryError,
  };
}

function ended(job: Job, state: Job["state"]): Job {
  return { ...job, state, enabled: false, next_run_at: null };
}

/** Does not change `counted_run`: a run that is still active has a lower id than the missed ones and is counted later. */
function withMissedRun(job: Job, run: JobRun): Job {
  const updated: Job = { ...job, last_error: run.reason };
  const isOver = job.schedule.kind === "once" && job.next_run_at === null && job.state === "scheduled";
  return isOver ? { ...ended(updated, "error"), last_status: "error" } : updated;
}

/** Applying the same run twice changes nothing. */
export function settleRun(job: Job, run: JobRun, zone: string): Job {
  if ((job.counted_run ?? 0) >= run.id) return job;
  if (run.state === "skipped") return withMissedRun(job, run);
  const next = { ...withResult(job, run, zone), counted_run: run.id };
  const idle: Job = next.state === "running" ? { ...next, state: "scheduled" } : next;
  if (run.trigger === "manual") return idle;
  // A one-off job with a due time was changed while it ran, or was started early: its scheduled run is still to come.
  if (idle.schedule.kind === "once" && idle.next_run_at !== null) return idle;
  const counted: Job = { ...idle, repeat: { ...idle.repeat, completed: idle.repeat.completed + 1 } };
  const { times, completed } = counted.repeat;
  if (times !== null && completed >= times) return ended(counted, "completed");
  if (counted.next_run_at !== null || counted.state !== "scheduled") return counted;
  if (counted.schedule.kind === "once") return ended(counted, "completed");
  return { ...counted, state: "error", last_error: "The schedule has no further occurrence." };
}

/** The jobs with all of these runs counted. Unaffected jobs are returned as the same object. */
export function settleRuns(jobs: readonly Job[], runs: readonly JobRun[], zone: string): Job[] {
  return jobs.map((job) =>
    runs.filter((run) => run.jobId === job.id).reduce((record, run) => settleRun(record, run, zone), job),
  );
}
