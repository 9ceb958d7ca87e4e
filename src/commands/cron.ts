// `/cron` in the terminal: the scheduled jobs, to make, pause, resume, start and remove. Chats have one of their own.

import type { Services } from "../app/services.ts";
import type { SlashCommand } from "../core/command.ts";
import { UserError } from "../core/failure.ts";
import type { Job } from "../core/job.ts";
import type { JobRepository } from "../cron/job-repository.ts";

const HELP = `/cron                       what is scheduled
/cron add WHEN TASK         WHEN is 30m, every 2h, 0 9 * * 1-5 or 2027-01-15T09:00
/cron pause JOB             resume JOB lets it go on
/cron run JOB               due now
/cron remove JOB
More with: hermes cron --help`;

/** `add`: a schedule in quotes, `every …`, five fields of cron, or one word; then the task. */
const ADD = /^(?:"([^"]+)"|(every\s+\S+|(?:[\d*,/-]+\s+){4}[\d*,/-]+|\S+))\s+(\S[\s\S]*)$/i;

/** What can be done to a job by `/cron`, here and in chats: the action, and what is said afterwards. */
export const JOB_ORDERS = {
  pause: ["pause", "Paused"],
  resume: ["resume", "Resumed"],
  run: ["trigger", "Due now, it runs within a minute"],
  remove: ["remove", "Removed"],
} as const;

export function isJobOrder(word: string): word is keyof typeof JOB_ORDERS {
  return Object.hasOwn(JOB_ORDERS, word);
}

/** One job on one line, with its id. */
export function jobLine(job: Job): string {
  const due = job.next_run_at?.slice(0, 16).replace("T", " ") ?? "no further run";
  const last = job.last_status === "error" ? `, last run failed: ${job.last_error ?? "unknown"}` : "";
  return `${job.id}  ${job.name} (${job.schedule_display}): ${job.state === "scheduled" ? due : job.state}${last}`;
}

async function answerTo(args: string, { actions, tickerProblem }: JobRepository): Promise<string> {
  const [, verb = "list", rest = ""] = /^(\S+)?\s*([\s\S]*)$/.exec(args.trim()) ?? [];
  const withProblem = async (text: string) => [text, (await tickerProblem()) ?? ""].join("\n").trim();
  if (verb === "list") {
    const jobs = (await actions.list()).filter((job) => job.state !== "completed");
    return jobs.length === 0
      ? "No scheduled jobs. Make one: /cron add WHEN TASK"
      : withProblem(jobs.map(jobLine).join("\n"));
  }
  if (verb === "add" || verb === "create") {
    const [, quoted, plain, prompt] = ADD.exec(rest) ?? [];
    if (prompt === undefined) return `When, and what?\n${HELP}`;
    return withProblem(`Scheduled: ${jobLine(await actions.create({ schedule: quoted ?? plain ?? "", prompt }))}`);
  }
  if (!isJobOrder(verb)) return verb === "help" ? HELP : `/cron ${verb} is not known.\n${HELP}`;
  if (rest === "") return `Which job? /cron ${verb} JOB; see /cron`;
  const [action, done] = JOB_ORDERS[verb];
  const job = await actions[action](rest);
  return verb === "run" ? withProblem(`${done}: ${job.name}.`) : `${done}: ${job.name}.`;
}

export function cronSlash(services: Services): SlashCommand {
  return {
    name: "cron",
    args: "[add|pause|resume|run|remove …]",
    summary: "Scheduled jobs",
    whileBusy: true,
    run: async (args) => {
      try {
        return { type: "text", text: await answerTo(args, await services.cron.repository()), columns: true };
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        return { type: "text", text: `${error.message}${error.hint ? `\n${error.hint}` : ""}` };
      }
    },
  };
}
