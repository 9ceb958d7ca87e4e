// What an ended run does to its job's record: counts it, notes how it went, and tells whether the job goes on.
import type { Job, JobRun } from "../core/job.ts";
import { isoIn } from "./zone.ts";

function noted(job: Job, run: JobRun, zone: string): Job {
  if (run.state === "skipped") return { ...job, last_error: run.reason };
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

/** Applying the same run again changes nothing. */
export function settleRun(job: Job, run: JobRun, zone: string): Job {
  if ((job.counted_run ?? 0) >= run.id) return job;
  const next = { ...noted(job, run, zone), counted_run: run.id };
  const idle: Job = next.state === "running" ? { ...next, state: "scheduled" } : next;
  if (run.trigger === "manual") return idle;
  if (run.state === "skipped") {
    const missedForGood = idle.schedule.kind === "once" && idle.next_run_at === null && idle.state === "scheduled";
    return missedForGood ? { ...over(idle, "error"), last_status: "error" } : idle;
  }
  const counted: Job = { ...idle, repeat: { ...idle.repeat, completed: idle.repeat.completed + 1 } };
  const { times, completed } = counted.repeat;
  if (times !== null && completed >= times) return over(counted, "completed");
  if (counted.next_run_at !== null || counted.state !== "scheduled") return counted;
  if (counted.schedule.kind === "once") return over(counted, "completed");
  return { ...counted, state: "error", last_error: "The schedule has no further occurrence." };
}
