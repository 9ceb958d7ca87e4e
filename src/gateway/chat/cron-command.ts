// /cron in a chat: the jobs that were made here, or all of them for the owner; pause, resume, run, remove.
import { isJobOrder, JOB_ORDERS, jobLine } from "../../commands/cron.ts";
import { UserError } from "../../core/failure.ts";
import type { Job } from "../../core/job.ts";
import type { Source } from "../../core/platform.ts";
import type { GatewayContext } from "../control/gateway-context.ts";

function isHere(job: Job, source: Source): boolean {
  return job.origin?.platform === source.platform && job.origin.chat_id === source.chatId;
}

export async function cronCommand(args: string, gateway: GatewayContext, source: Source): Promise<string> {
  const { actions } = await gateway.opened.app.cron();
  const [word = "list", ...rest] = args.split(/\s+/).filter((part) => part !== "");
  const reference = rest.join(" ");
  const visible = (job: Job) => gateway.isOwner(source) || isHere(job, source);
  if (word === "list") {
    const jobs = (await actions.list()).filter(visible);
    if (jobs.length === 0) return "There are no jobs here. Ask me to do something at a certain time, and I make one.";
    return [...jobs.map(jobLine), "", "/cron pause|resume|run|remove ID"].join("\n");
  }
  if (!isJobOrder(word)) return "Say /cron list, or /cron pause|resume|run|remove with the id of a job.";
  if (reference === "") return `Which job? /cron ${word} ID; see /cron list`;
  try {
    const job = await actions.find(reference, visible);
    const [action, done] = JOB_ORDERS[word];
    await actions[action](job.id);
    return `${done}: ${job.name}.`;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    // Its hint speaks of the terminal.
    return `${error.message} See /cron list`;
  }
}
