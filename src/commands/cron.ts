// `/cron`: the scheduled jobs. The terminal manages all of them; a chat sees those that were created in it.

import type { ChatCommandContext } from "../core/chat/chat-command.ts";
import type { CommandAnswer } from "../core/chat/command.ts";
import { UserError } from "../core/failure.ts";
import type { Job } from "../core/job.ts";
import type { JobService } from "../core/job-service.ts";
import { type BuiltinCommand, chatCommand, text } from "./builtin-command.ts";

/** The part of the job service that the commands use. */
export interface CronJobs
  extends Pick<JobService, "list" | "create" | "update" | "pause" | "resume" | "trigger" | "remove" | "tickerProblem"> {
  /** By id or name, among the visible jobs. Throws UserError when there is none. */
  find(reference: string, isVisible: (job: Job) => boolean): Promise<Job>;
}

const HELP = `/cron                       scheduled jobs
/cron add WHEN TASK         WHEN is 30m, every 2h, 0 9 * * 1-5 or 2027-01-15T09:00
/cron edit JOB WHEN TASK    another time and task
/cron pause JOB             resume JOB continues it
/cron run JOB               due now
/cron remove JOB
More: hermes cron --help`;

/** Arguments of `add`: a schedule (quoted, `every …`, five cron fields, or one word), then the task. */
const ADD = /^(?:"([^"]+)"|(every\s+\S+|(?:[\d*,/-]+\s+){4}[\d*,/-]+|\S+))\s+(\S[\s\S]*)$/i;

/** For each action: the method of the job service and the reply. */
const JOB_ACTIONS = {
  pause: ["pause", "Paused"],
  resume: ["resume", "Resumed"],
  run: ["trigger", "Due now, it runs within a minute"],
  remove: ["remove", "Removed"],
} as const;

function isJobAction(word: string): word is keyof typeof JOB_ACTIONS {
  return Object.hasOwn(JOB_ACTIONS, word);
}

/** One job on one line, with its id. */
function formatJob(job: Job): string {
  const due = job.next_run_at?.slice(0, 16).replace("T", " ") ?? "no further run";
  const last = job.last_status === "error" ? `, last run failed: ${job.last_error ?? "unknown"}` : "";
  return `${job.id}  ${job.name} (${job.schedule_display}): ${job.state === "scheduled" ? due : job.state}${last}`;
}

function jobDetail(job: Job): string {
  const last = job.last_run_at ? `${job.last_run_at.slice(0, 16).replace("T", " ")} ${job.last_status ?? ""}` : "never";
  return [
    `${job.name} (${job.id})`,
    `When       ${job.schedule_display}, ${job.state}`,
    `Next       ${job.next_run_at?.slice(0, 16).replace("T", " ") ?? "no further run"}`,
    `Last       ${last}`,
    ...(job.last_error ? [`Error      ${job.last_error}`] : []),
    `Delivers   ${job.deliver}`,
    "",
    job.script ? `script ${job.script}` : job.prompt,
  ].join("\n");
}

/** The list of jobs for the terminal: Enter shows one, other keys change it. */
async function offerJobs(jobs: CronJobs): Promise<CommandAnswer | null> {
  const listed = (await jobs.list()).filter((job) => job.state !== "completed");
  if (listed.length === 0) return null;
  const problem = await jobs.tickerProblem();
  const paused = new Set(listed.filter((job) => job.state === "paused").map((job) => job.id));
  return {
    type: "choose",
    title: problem ? `Scheduled jobs: ${problem}` : "Scheduled jobs",
    choices: listed.map((job) => ({
      label: job.name,
      value: job.id,
      description: `${job.schedule_display}: ${job.state === "scheduled" ? (job.next_run_at?.slice(0, 16).replace("T", " ") ?? "") : job.state}`,
      detail: jobDetail(job),
      current: job.state === "scheduled",
    })),
    actions: [
      { key: "r", label: "run now", args: (id) => `run ${id}` },
      { key: "p", label: "pause or resume", args: (id) => `${paused.has(id) ? "resume" : "pause"} ${id}` },
      { key: "d", label: "remove", args: (id) => `remove ${id}`, confirm: ({ label }) => `Remove the job ${label}?` },
    ],
  };
}

async function answerInTerminal(args: string, jobs: CronJobs): Promise<string> {
  const [, verb = "list", rest = ""] = /^(\S+)?\s*([\s\S]*)$/.exec(args.trim()) ?? [];
  const withProblem = async (answer: string) => [answer, (await jobs.tickerProblem()) ?? ""].join("\n").trim();
  if (verb === "list") {
    const listed = (await jobs.list()).filter((job) => job.state !== "completed");
    return listed.length === 0
      ? "No scheduled jobs. Create one: /cron add WHEN TASK"
      : withProblem(listed.map(formatJob).join("\n"));
  }
  if (verb === "add" || verb === "create") {
    const [, quoted, plain, prompt] = ADD.exec(rest) ?? [];
    if (prompt === undefined) return `When, and what?\n${HELP}`;
    return withProblem(`Scheduled: ${formatJob(await jobs.create({ schedule: quoted ?? plain ?? "", prompt }))}`);
  }
  if (verb === "edit") return editJob(rest, jobs);
  if (!isJobAction(verb)) {
    if (verb === "help") return HELP;
    const named = (await jobs.list()).find((job) => job.id === args.trim() || job.name === args.trim());
    return named ? jobDetail(named) : `Unknown: /cron ${verb}\n${HELP}`;
  }
  if (rest === "") return `Which job? /cron ${verb} JOB; see /cron`;
  const [action, done] = JOB_ACTIONS[verb];
  const job = await jobs[action](rest);
  return verb === "run" ? withProblem(`${done}: ${job.name}.`) : `${done}: ${job.name}.`;
}

async function editJob(args: string, jobs: CronJobs): Promise<string> {
  const [, reference = "", change = ""] = /^(\S+)\s*([\s\S]*)$/.exec(args) ?? [];
  const [, quoted, plain, prompt] = ADD.exec(change) ?? [];
  if (prompt === undefined) return "Which job, when, and what? /cron edit JOB WHEN TASK";
  const job = await jobs.find(reference, () => true);
  return `Changed: ${formatJob(await jobs.update(job.id, { schedule: quoted ?? plain, prompt }))}`;
}

async function answerInChat(args: string, jobs: CronJobs, chat: ChatCommandContext): Promise<string> {
  const [word = "list", ...rest] = args.split(/\s+/).filter((part) => part !== "");
  const reference = rest.join(" ");
  const { platform, chatId } = chat.source;
  const isVisible = ({ origin }: Job) =>
    chat.sharesHome || (origin?.platform === platform && origin.chat_id === chatId);
  if (word === "list") {
    const visible = (await jobs.list()).filter(isVisible);
    if (visible.length === 0) return "There are no jobs here. Ask me to do something at a certain time to create one.";
    return [...visible.map(formatJob), "", "/cron pause|resume|run|remove ID"].join("\n");
  }
  if (!isJobAction(word)) return "Usage: /cron list, or /cron pause|resume|run|remove with the id of a job";
  if (reference === "") return `Which job? /cron ${word} ID; see /cron list`;
  try {
    const job = await jobs.find(reference, isVisible);
    const [action, done] = JOB_ACTIONS[word];
    await jobs[action](job.id);
    return `${done}: ${job.name}.`;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    // The hint is omitted: it names a terminal command.
    return `${error.message} See /cron list`;
  }
}

/** `open` loads the jobs at the first use. */
export function cronCommands(open: () => Promise<CronJobs>): readonly BuiltinCommand[] {
  return [
    {
      name: "cron",
      group: "Tools and skills",
      surface: "terminal",
      args: "[add|edit|pause|resume|run|remove …]",
      summary: "Scheduled jobs",
      whileBusy: true,
      ownerOnly: true,
      run: async (args, context) => {
        try {
          const offered = args === "" && context.width !== undefined ? await offerJobs(await open()) : null;
          if (offered) return offered;
          return { type: "text", text: await answerInTerminal(args, await open()), columns: true };
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
          return text(`${error.message}${error.hint ? `\n${error.hint}` : ""}`);
        }
      },
    },
    chatCommand({
      name: "cron",
      group: "Tools and skills",
      args: "[list|pause|resume|run|remove] [id]",
      summary: "Scheduled jobs",
      // Shows and changes the jobs of this chat; an owner in private sees all of them.
      ownerOnly: false,
      runInChat: async (args, chat) => text(await answerInChat(args, await open(), chat)),
    }),
  ];
}
