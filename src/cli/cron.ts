// `hermes cron`: scheduled jobs from the command line.
import { startJobInGateway, withCron, withJobs } from "../app/with-app.ts";
import { UserError } from "../core/failure.ts";
import type { Job, JobRun } from "../core/job.ts";
import { cronStatus, upcomingRuns } from "../cron/api.ts";
import { type CliCommand, type CliContext, type CliOption, integerOption, JSON_OPTION, textOption } from "./command.ts";
import { historyTable, jobDetails, jobTable, receipt, statusText, upcomingTable } from "./cron-view.ts";

/** The jobs of a home as `withJobs` provides them. */
type OpenedJobs = Parameters<Parameters<typeof withJobs>[1]>[0];

function print(context: CliContext, value: unknown, text: string): number {
  context.terminal.out(context.values.json ? JSON.stringify(value, null, 2) : text);
  return 0;
}

function formatWarning({ terminal }: CliContext, problem: string | undefined): string {
  return problem === undefined ? "" : `\n${terminal.wrapped(terminal.style("yellow", problem))}`;
}

function onNotice(context: CliContext): { onNotice(text: string): void } {
  return { onNotice: (text) => context.terminal.err(text) };
}

/** Opens the jobs without a scheduler to run them. */
function openRepository(context: CliContext, work: (repository: OpenedJobs) => Promise<number>): Promise<number> {
  return withJobs(context.home, (repository) => {
    if (repository.zoneProblem !== undefined) context.terminal.err(repository.zoneProblem);
    return work(repository);
  });
}

function reference(context: CliContext): string {
  const [id] = context.positionals;
  if (id === undefined)
    throw new UserError("which job?", { hint: "Give its id or name. See: hermes cron list", exitCode: 2 });
  return id;
}

function texts(context: CliContext, name: string): string[] | undefined {
  const value = context.values[name];
  return Array.isArray(value) ? value.map(String) : undefined;
}

async function list(context: CliContext): Promise<number> {
  return openRepository(context, async (repository) => {
    const all = await repository.actions.list();
    const shown = context.values.all ? all : all.filter((job) => job.state !== "completed");
    const problem = await repository.tickerProblem();
    const hidden = all.length - shown.length;
    const none =
      hidden === 0 ? "No scheduled jobs." : `No scheduled jobs; ${hidden} completed (hermes cron list --all).`;
    const table = shown.length === 0 ? none : jobTable(context.terminal, shown).trimEnd();
    const warning = shown.length === 0 ? "" : formatWarning(context, problem);
    return print(context, shown, `${table}${warning}`);
  });
}

/** Options of create and edit as fields of the job. Only given options are present: they are merged over a job. */
function toOptions(context: CliContext) {
  const names = ["name", "deliver", "script", "workdir", "model", "provider"] as const;
  const given: { [field: string]: string | string[] } = Object.fromEntries(
    names.flatMap((name) => {
      const value = textOption(context, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const lists = { skills: "skill", context_from: "context-from", enabled_toolsets: "toolset" };
  for (const [field, option] of Object.entries(lists)) {
    const values = texts(context, option);
    if (values) given[field] = values;
  }
  const timezone = textOption(context, "tz");
  const baseUrl = textOption(context, "base-url");
  const catchUp = textOption(context, "catch-up");
  const number = (name: string) => integerOption(context, name, { default: 0, min: 0, max: 1_000_000 });
  return {
    ...given,
    ...(timezone === undefined ? {} : { timezone }),
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
    ...(catchUp === undefined ? {} : { catch_up: catchUp }),
    ...(context.values.repeat === undefined ? {} : { repeat: number("repeat") }),
    ...(context.values["catch-up-limit"] === undefined ? {} : { catch_up_limit: number("catch-up-limit") }),
    ...(context.values["no-agent"] ? { no_agent: true } : {}),
    ...(context.values["at-least-once"] ? { at_least_once: true } : {}),
    ...(context.values["at-most-once"] ? { at_least_once: false } : {}),
  };
}

async function ask(context: CliContext, question: string): Promise<string> {
  const answer = context.terminal.interactive ? await context.terminal.ask(question) : null;
  return answer?.trim() ?? "";
}

async function create(context: CliContext): Promise<number> {
  const [given, ...words] = context.positionals;
  const schedule = given ?? (await ask(context, "When (30m, every 2h, @daily, 0 9 * * MON-FRI, 2027-01-15T09:00)? "));
  if (schedule === "") {
    throw new UserError("when should the job run?", { hint: "See: hermes cron create --help", exitCode: 2 });
  }
  const bare = given === undefined && !context.values.script && !context.values.skill;
  const prompt = words.length > 0 ? words.join(" ") : bare ? await ask(context, "What should be done? ") : "";
  return withCron(context.home, onNotice(context), async (cron) => {
    const job = await cron.actions.create({ ...toOptions(context), schedule, prompt });
    const problem = await cron.tickerProblem();
    return print(context, job, `Scheduled.\n${jobDetails(job)}${formatWarning(context, problem)}`);
  });
}

/** The skills after --add-skill, --remove-skill and --clear-skills. */
function editedSkills(context: CliContext, job: Job): { skills?: string[] | undefined } {
  const added = texts(context, "add-skill") ?? [];
  const removed = texts(context, "remove-skill") ?? [];
  if (context.values["clear-skills"]) return { skills: added };
  if (added.length === 0 && removed.length === 0) return {};
  const base = texts(context, "skill") ?? job.skills;
  return { skills: [...new Set([...base, ...added])].filter((name) => !removed.includes(name)) };
}

async function edit(context: CliContext): Promise<number> {
  const schedule = textOption(context, "schedule");
  const prompt = textOption(context, "prompt");
  return withCron(context.home, onNotice(context), async (cron) => {
    const before = await cron.actions.find(reference(context));
    const options = {
      ...toOptions(context),
      ...editedSkills(context, before),
      ...(schedule === undefined ? {} : { schedule }),
      ...(prompt === undefined ? {} : { prompt }),
      ...(context.values.agent ? { no_agent: false } : {}),
    };
    if (Object.keys(options).length === 0)
      throw new UserError("what should change?", { hint: "See: hermes cron edit --help", exitCode: 2 });
    const job = await cron.actions.update(before.id, options);
    return print(context, job, `Changed.\n${jobDetails(job)}`);
  });
}

type Change = "pause" | "resume" | "remove";
const DONE: { readonly [name in Change]: string } = { pause: "Paused", resume: "Resumed", remove: "Removed" };

function change(name: Change): (context: CliContext) => Promise<number> {
  return (context) =>
    openRepository(context, async (repository) => {
      const id = reference(context);
      const job =
        name === "pause"
          ? await repository.actions.pause(id, textOption(context, "reason"))
          : await repository.actions[name](id);
      const next = name === "resume" ? ` Next run: ${job.next_run_at}.` : "";
      return print(context, job, `${DONE[name]}: ${job.name} (${job.id}).${next}`);
    });
}

/** Prints notices after the run, without those that repeat its result. */
async function run(context: CliContext): Promise<number> {
  const notices: string[] = [];
  let reason = "";
  try {
    return await runAndWait(context, { onNotice: (text) => void notices.push(text) }, (ended) => {
      reason = ended.reason ?? "";
    });
  } finally {
    for (const text of notices) if (reason === "" || !text.includes(reason)) context.terminal.err(text);
  }
}

async function runAndWait(
  context: CliContext,
  options: { onNotice(text: string): void },
  onEnd: (run: JobRun) => void,
): Promise<number> {
  return withCron(context.home, options, async (cron) => {
    const job = await cron.actions.find(reference(context));
    if (!context.values.json) context.terminal.err(`Running ${job.name} …`);
    const started = await startJobInGateway(context.home, job.id);
    const following = new AbortController();
    const stop = () => {
      following.abort();
      void cron.scheduler.stop();
    };
    process.once("SIGINT", stop);
    try {
      const ended = await (started === undefined
        ? cron.scheduler.runNow(job.id)
        : cron.scheduler.follow(job.id, started, following.signal));
      onEnd(ended);
      await cron.flush();
      if (ended.state === "running")
        context.terminal.err("It is still running in the gateway. See: hermes cron history");
      print(context, ended, receipt(ended, cron.zone()));
      return ended.state === "ran" ? 0 : 1;
    } finally {
      process.removeListener("SIGINT", stop);
    }
  });
}

async function tick(context: CliContext): Promise<number> {
  return withCron(context.home, onNotice(context), async (cron) => {
    const { missed, abandoned, held } = await cron.scheduler.tick();
    if (held) context.terminal.err("Hermes Agent v0.14 runs jobs of this home at the moment; nothing was started.");
    await cron.scheduler.idle();
    await cron.flush();
    const { begun, failed } = cron.scheduler.tally;
    const text = `${begun} run${failed > 0 ? ` (${failed} failed)` : ""}, ${missed} missed, ${abandoned} abandoned.`;
    return print(context, { started: begun, failed, missed, abandoned, held }, text);
  });
}

async function status(context: CliContext): Promise<number> {
  return openRepository(context, async (repository) => {
    const report = await cronStatus(repository);
    print(context, report, statusText(context.terminal, report, repository.zone()));
    return !report.alive && report.active > 0 ? 1 : 0;
  });
}

/** The history of a job; a removed job is found by its id. */
async function readHistory(repository: OpenedJobs, id: string, limit: number): Promise<readonly JobRun[]> {
  const kept = await repository.ledger.history({ limit, jobId: id });
  return kept.length > 0 ? kept : repository.ledger.history({ limit, jobId: (await repository.actions.find(id)).id });
}

async function history(context: CliContext): Promise<number> {
  const limit = integerOption(context, "limit", { default: 20, min: 1, max: 10_000 });
  return openRepository(context, async (repository) => {
    const [id] = context.positionals;
    const rows =
      id === undefined ? await repository.ledger.history({ limit }) : await readHistory(repository, id, limit);
    const text = rows.length === 0 ? "No runs yet." : historyTable(context.terminal, rows, repository.zone());
    return print(context, rows, text);
  });
}

async function next(context: CliContext): Promise<number> {
  const count = integerOption(context, "count", { default: 10, min: 1, max: 1000 });
  return openRepository(context, async (repository) => {
    const [job] = context.positionals;
    const rows = await upcomingRuns(repository, { count, job });
    const value = rows.map((row) => ({ job_id: row.job.id, name: row.job.name, at: row.at, overdue: row.overdue }));
    return print(context, value, rows.length === 0 ? "Nothing is due." : upcomingTable(context.terminal, rows));
  });
}

const FIELDS: { readonly [name: string]: CliOption } = {
  name: { type: "string", value: "NAME", help: "A short name" },
  deliver: {
    type: "string",
    value: "WHERE",
    help: "local, origin, all, platform[:chat[:thread]]; several with commas",
  },
  repeat: { type: "string", value: "N", help: "Number of runs; 0 for no limit" },
  skill: { type: "string", multiple: true, value: "NAME", help: "Load this skill first (repeatable)" },
  script: { type: "string", value: "FILE", help: "Run this file of the scripts folder first" },
  "no-agent": { type: "boolean", help: "Only the script; its output is the message" },
  workdir: { type: "string", value: "DIR", help: "Absolute folder to work in" },
  model: { type: "string", value: "MODEL", help: "Use this model" },
  provider: { type: "string", value: "ID", help: "The provider of that model" },
  "base-url": { type: "string", value: "URL", help: "The server of that model" },
  "context-from": {
    type: "string",
    multiple: true,
    value: "ID",
    help: "Include the newest result of that job (repeatable)",
  },
  toolset: { type: "string", multiple: true, value: "NAME", help: "Only these toolsets (repeatable)" },
  tz: { type: "string", value: "ZONE", help: "IANA zone of a cron schedule (the configured one)" },
  "catch-up": { type: "string", value: "HOW", help: "Missed runs: skip, latest or all (skip)" },
  "at-least-once": { type: "boolean", help: "Run again what a crash interrupted; it may then happen twice" },
  "catch-up-limit": { type: "string", value: "N", help: "Maximum number of missed runs to start with `all` (10)" },
};

const EDIT_ONLY: { readonly [name: string]: CliOption } = {
  schedule: { type: "string", value: "WHEN", help: "A new schedule" },
  prompt: { type: "string", value: "TEXT", help: "A new task" },
  "add-skill": { type: "string", multiple: true, value: "NAME", help: "Add a skill (repeatable)" },
  "remove-skill": { type: "string", multiple: true, value: "NAME", help: "Remove a skill (repeatable)" },
  "clear-skills": { type: "boolean", help: "Remove all skills" },
  agent: { type: "boolean", help: "Ask the model again (undoes --no-agent)" },
  "at-most-once": { type: "boolean", help: "Do not repeat interrupted runs (undoes --at-least-once)" },
};

const one = { args: "ID", maxPositionals: 1 } as const;

export const cronCommand: CliCommand = {
  name: "cron",
  summary: "Schedule jobs and see their results",
  defaultSubcommand: "list",
  subcommands: [
    {
      name: "list",
      summary: "List jobs",
      options: { all: { type: "boolean", help: "Completed ones too" }, ...JSON_OPTION },
      maxPositionals: 0,
      run: list,
    },
    {
      name: "create",
      aliases: ["add"],
      summary: "Schedule a job",
      args: "WHEN [PROMPT…]",
      options: { ...FIELDS, ...JSON_OPTION },
      examples: [
        'hermes cron create "0 9 * * 1-5" "Summarise my unread mail" --deliver telegram',
        'hermes cron create "every 2h" --script check.py --no-agent',
      ],
      run: create,
    },
    { name: "edit", summary: "Change a job", ...one, options: { ...FIELDS, ...EDIT_ONLY, ...JSON_OPTION }, run: edit },
    {
      name: "pause",
      summary: "Stop a job until it is resumed",
      ...one,
      options: { reason: { type: "string", value: "TEXT", help: "Why" }, ...JSON_OPTION },
      run: change("pause"),
    },
    { name: "resume", summary: "Resume a paused job", ...one, options: JSON_OPTION, run: change("resume") },
    { name: "run", summary: "Run a job now and wait for its end", ...one, options: JSON_OPTION, run },
    {
      name: "remove",
      aliases: ["rm", "delete"],
      summary: "Delete a job and its results",
      ...one,
      options: JSON_OPTION,
      run: change("remove"),
    },
    {
      name: "status",
      summary: "Show whether jobs are run, and by which process",
      options: JSON_OPTION,
      maxPositionals: 0,
      run: status,
    },
    { name: "tick", summary: "Run all due jobs once", options: JSON_OPTION, maxPositionals: 0, run: tick },
    {
      name: "history",
      summary: "List the runs of a job and their results",
      args: "[ID]",
      maxPositionals: 1,
      options: { limit: { type: "string", value: "N", help: "How many (20)" }, ...JSON_OPTION },
      run: history,
    },
    {
      name: "next",
      summary: "List the next runs, soonest first",
      args: "[ID]",
      maxPositionals: 1,
      options: { count: { type: "string", short: "n", value: "N", help: "How many (10)" }, ...JSON_OPTION },
      run: next,
    },
  ],
};
