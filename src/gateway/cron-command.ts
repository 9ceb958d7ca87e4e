// /cron in a chat: the jobs that were made here, or all of them for the owner; pause, resume, run, remove.
import { UserError } from "../core/failure.ts";
import type { Job } from "../core/job.ts";
import type { Source } from "../core/platform.ts";
import type { Office } from "./office.ts";

const ACTIONS = { pause: "pause", resume: "resume", run: "trigger", remove: "remove" } as const;
const DONE = {
  pause: "Paused",
  resume: "Resumed",
  run: "Due now, it runs within a minute",
  remove: "Removed",
} as const;

function isHere(job: Job, source: Source): boolean {
  return job.origin?.platform === source.platform && job.origin.chat_id === source.chatId;
}

function lineOf(job: Job): string {
  const due = job.next_run_at?.slice(0, 16).replace("T", " ");
  const when = job.state === "paused" ? "paused" : (due ?? "no further run");
  const last = job.last_status === "error" ? `, last run failed: ${job.last_error ?? "unknown"}` : "";
  return `${job.id}  ${job.name} (${job.schedule_display}): ${when}${last}`;
}

export async function cronCommand(args: string, office: Office, source: Source): Promise<string> {
  const { actions } = await office.opened.app.cron();
  const [word = "list", ...rest] = args.split(/\s+/).filter((part) => part !== "");
  const reference = rest.join(" ");
  const visible = (job: Job) => office.isOwner(source) || isHere(job, source);
  if (word === "list") {
    const jobs = (await actions.list()).filter(visible);
    if (jobs.length === 0) return "There are no jobs here. Ask me to do something at a certain time, and I make one.";
    return [...jobs.map(lineOf), "", "/cron pause|resume|run|remove ID"].join("\n");
  }
  if (!Object.hasOwn(ACTIONS, word)) return "Say /cron list, or /cron pause|resume|run|remove with the id of a job.";
  if (reference === "") return `Which job? /cron ${word} ID; see /cron list`;
  try {
    const job = await actions.find(reference, visible);
    const action = word as keyof typeof ACTIONS;
    await actions[ACTIONS[action]](job.id);
    return `${DONE[action]}: ${job.name}.`;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    // Its cure speaks of the terminal.
    return `${error.message} See /cron list`;
  }
}
