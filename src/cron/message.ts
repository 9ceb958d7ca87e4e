// The message that a run becomes: silent or not, with header and footer, files taken out of the text.
import type { Job, JobRun } from "../core/job.ts";
import { isoIn } from "./zone.ts";

const SILENT = /\[SILENT\]/i;
const MEDIA = /^[ \t]*MEDIA:[ \t]*(.+?)[ \t]*$|MEDIA:(\S+)/gm;
const RULE = "-".repeat(24);

/** The job had nothing to say. */
export function isSilent(text: string): boolean {
  return SILENT.test(text);
}

/** Files that the text asks to send along, and the text without them. */
export function takeMedia(text: string): { text: string; media: string[] } {
  const media: string[] = [];
  const rest = text.replaceAll(MEDIA, (_match, line: string | undefined, word: string | undefined) => {
    media.push((line ?? word ?? "").replace(/^["'`]|["'`]$/g, ""));
    return "";
  });
  return { text: rest.replaceAll(/\n{3,}/g, "\n\n").trim(), media };
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
