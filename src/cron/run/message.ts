// The messages about a run: its result, its failure, an alert.
import type { Job, JobRun } from "../../core/job.ts";
import { isoIn } from "../schedule/zone.ts";

const SILENT = /\[SILENT\]/i;
const RULE = "-".repeat(24);

/** True when the job has nothing to report. */
export function isSilent(text: string): boolean {
  return SILENT.test(text);
}

/** Adds a header and a footer to a result. The message does not become part of the chat's conversation. */
export function wrapResult(job: Pick<Job, "id" | "name">, text: string): string {
  const footer =
    `The agent does not see this message in the conversation. ` +
    `To stop or change the job, send a message such as: stop the job "${job.name}".`;
  return `Scheduled job: ${job.name}\n(job id: ${job.id})\n${RULE}\n\n${text}\n\n${footer}`;
}

export function failureText(job: Pick<Job, "name">, error: string): string {
  return `⚠️ The scheduled job "${job.name}" failed:\n${error}`;
}

/** The alert about a run that was missed or abandoned, or that failed without a report. */
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
