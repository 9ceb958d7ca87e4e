// The message that a run becomes: silent or not, with header and footer.
import type { Job, JobRun } from "../core/job.ts";
import { isoIn } from "./zone.ts";

const SILENT = /\[SILENT\]/i;
const RULE = "-".repeat(24);

/** The job had nothing to say. */
export function isSilent(text: string): boolean {
  return SILENT.test(text);
}

/** Header and footer around a result; the chat's own conversation never contains it. */
export function wrapped(job: Pick<Job, "id" | "name">, text: string): string {
  const footer =
    `The agent does not see this message in the conversation. ` +
    `To stop or change the job, send a message such as: stop the job "${job.name}".`;
  return `Scheduled job: ${job.name}\n(job id: ${job.id})\n${RULE}\n\n${text}\n\n${footer}`;
}

export function failureText(job: Pick<Job, "name">, error: string): string {
  return `⚠️ The scheduled job "${job.name}" failed:\n${error}`;
}

/** The alert about a run that nobody heard of: missed, abandoned, or failed without a word. */
export function alertText(run: JobRun, job: Job | undefined, zone: string): string {
  const when = isoIn(run.occurrence, zone);
  const what =
    run.state === "skipped"
      ? run.count > 1
        ? `missed ${run.count} runs, from ${when} to ${isoIn(run.until, zone)}`
        : `did not run at ${when}`
      : run.state === "abandoned"
        ? `was cut off (due ${when})`
        : `failed (due ${when})`;
  const next = job?.next_run_at && job.enabled ? `\nNext run: ${job.next_run_at}` : "";
  return `⚠️ The scheduled job "${run.jobName}" ${what}:\n${run.reason ?? "the reason is not known"}${next}\nRun it now: hermes cron run ${run.jobId}`;
}
