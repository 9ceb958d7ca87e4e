// The cronjob tool: the model creates, lists, changes and removes scheduled jobs. The gate checks every change.
import type { Static } from "typebox";
import { UserError } from "../core/failure.ts";
import type { Gate } from "../core/gate.ts";
import type { Job } from "../core/job.ts";
import type { JobInput } from "../core/job-service.ts";
import type { JsonObject } from "../core/message.ts";
import { Type } from "../core/tool/schema.ts";
import {
  defineTool,
  gateContext,
  jsonResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  toolError,
} from "../core/tool/tool.ts";
import { findJob, type JobActions } from "./job-actions.ts";
import type { JobReach } from "./job-reach.ts";

export interface CronjobToolOptions {
  /** Opened on the first call. */
  actions(): Promise<JobActions>;
  readonly gate: Gate;
  readonly reach: JobReach;
  /** Why no process runs due jobs; undefined when one does. */
  tickerProblem(): Promise<string | undefined>;
}

const text = (description: string) => Type.Optional(Type.String({ description }));
const words = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));

const parameters = Type.Object({
  action: Type.String({ description: "create, list, update, pause, resume, remove or run" }),
  job_id: text("Id or name of the job; needed by every action but create and list"),
  schedule: text("30m (once, from now), every 2h, 0 9 * * 1-5 (cron, numbers only), or 2027-01-15T09:00"),
  prompt: text("The complete task: the job does not see this conversation"),
  name: text("A short name"),
  repeat: Type.Optional(Type.Integer({ description: "How many runs; 0 for no limit" })),
  deliver: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String())], {
      description: "origin (this chat), local (file only), all, platform[:chat[:thread]]; several with commas",
    }),
  ),
  skills: words("Skills to load first, in order"),
  model: Type.Optional(
    Type.Object(
      { model: Type.Optional(Type.String()), provider: Type.Optional(Type.String()) },
      { description: "A model other than the default" },
    ),
  ),
  script: text("A file in the home's scripts folder, run first; its output is given to the task"),
  no_agent: Type.Optional(Type.Boolean({ description: "Only the script; its output is the message" })),
  context_from: words("Ids of jobs whose newest result is given to the task"),
  enabled_toolsets: words("Only these toolsets"),
  workdir: text("Absolute folder to work in"),
  timezone: text("IANA zone of a cron schedule; default: the user's"),
  catch_up: text("What to do about missed runs: skip (default), latest or all"),
  at_least_once: Type.Optional(
    Type.Boolean({ description: "Run again what a crash interrupted; it may then happen twice" }),
  ),
  catch_up_limit: Type.Optional(Type.Integer({ description: "How many missed runs `all` runs later (10)" })),
  reason: text("Why it is paused"),
  include_disabled: Type.Optional(Type.Boolean({ description: "list: paused and ended jobs too (default true)" })),
});

type Args = Static<typeof parameters>;

const ACTIONS = ["create", "list", "update", "pause", "resume", "remove", "run"] as const;
type Action = (typeof ACTIONS)[number];
const ALIASES: { readonly [name: string]: Action } = {
  run_now: "run",
  trigger: "run",
  delete: "remove",
  add: "create",
};

/** A job as the model and scripts see it. */
export function jobEntry(job: Job): JsonObject {
  const { times, completed } = job.repeat;
  return {
    job_id: job.id,
    name: job.name,
    skill: job.skill,
    skills: job.skills,
    prompt_preview: job.prompt.length > 100 ? `${job.prompt.slice(0, 100)}...` : job.prompt,
    model: job.model,
    provider: job.provider,
    base_url: job.base_url,
    schedule: job.schedule_display,
    repeat: times === null ? "forever" : `${completed}/${times}`,
    deliver: job.deliver,
    next_run_at: job.next_run_at,
    last_run_at: job.last_run_at,
    last_status: job.last_status,
    last_delivery_error: job.last_delivery_error,
    enabled: job.enabled,
    state: job.state,
    paused_at: job.paused_at,
    paused_reason: job.paused_reason,
    ...(job.last_error ? { last_error: job.last_error } : {}),
    ...(job.schedule.kind === "cron" && job.schedule.tz ? { timezone: job.schedule.tz } : {}),
    ...(job.script ? { script: job.script } : {}),
    ...(job.no_agent ? { no_agent: true } : {}),
    ...(job.enabled_toolsets ? { enabled_toolsets: job.enabled_toolsets } : {}),
    ...(job.workdir ? { workdir: job.workdir } : {}),
    ...(job.context_from ? { context_from: job.context_from } : {}),
    ...(job.catch_up ? { catch_up: job.catch_up } : {}),
  };
}

/** Fields that older prompts and skills use although the schema does not have them. */
function legacyFields(args: Args): JobInput {
  const { skill, provider, base_url } = args as { readonly [name: string]: unknown };
  return {
    ...(typeof skill === "string" && args.skills === undefined ? { skills: [skill] } : {}),
    ...(typeof provider === "string" ? { provider } : {}),
    ...(typeof base_url === "string" ? { base_url } : {}),
  };
}

function joinTargets({ deliver }: Args): string | undefined {
  return typeof deliver === "string" ? deliver : deliver?.join(",");
}

function toJobInput(args: Args): JobInput {
  const { action: _action, job_id: _id, model, reason: _reason, include_disabled: _all, deliver: _to, ...rest } = args;
  const deliver = joinTargets(args);
  return {
    ...rest,
    ...(deliver === undefined ? {} : { deliver }),
    ...legacyFields(args),
    ...(model?.model === undefined ? {} : { model: model.model }),
    ...(model?.provider === undefined ? {} : { provider: model.provider }),
  };
}

/** Why the user must be asked even when the gate would allow the change. */
async function reasonToAsk(action: Action, args: Args, options: CronjobToolOptions): Promise<string | undefined> {
  if (action !== "create") return undefined;
  const removed = await (await options.actions()).removedLike(toJobInput(args));
  if (!removed) return undefined;
  return `would recreate the job "${removed.name}", which was removed on ${new Date(removed.at).toISOString().slice(0, 10)}`;
}

/** Why the gate denies the change; undefined when it allows it. */
async function checkGate(
  action: Action,
  args: Args,
  context: ToolContext,
  options: CronjobToolOptions,
): Promise<string | undefined> {
  const about = gateContext("cronjob", context);
  const because = await reasonToAsk(action, args, options);
  const text = action === "create" ? plainText(args) : undefined;
  const intent = { kind: "durable", what: "cron", summary: summarize(action, args), text } as const;
  const verdict = await options.gate.check(because === undefined ? intent : { ...intent, because }, about);
  return verdict.allowed ? undefined : verdict.message;
}

/** The text of a job that only has a prompt; undefined for one with a script, skills or another model. */
function plainText(args: Args): string | undefined {
  const { prompt, deliver: _, ...rest } = args;
  const others = Object.keys(rest).filter((key) => !["action", "schedule", "name", "repeat"].includes(key));
  if (others.length > 0 || prompt === undefined) return undefined;
  const to = joinTargets(args) ?? "origin";
  return to === "origin" || to === "local" ? prompt : `${prompt} ${to}`;
}

function summarize(action: Action, args: Args): string {
  const what = args.prompt ?? args.script ?? args.skills?.join(", ") ?? "";
  return [action, args.job_id ?? "", args.schedule ?? "", what].filter((part) => part !== "").join(" · ");
}

const DONE: { readonly [action in Exclude<Action, "list">]: string } = {
  create: "Scheduled",
  update: "Changed",
  pause: "Paused",
  resume: "Resumed",
  remove: "Removed",
  run: "Due now; it runs at the next tick, within a minute",
};

/** Throws UserError when the conversation may not use these jobs, targets or scripts. */
async function checkReach(args: Args, jobs: readonly Job[], reach: JobReach): Promise<void> {
  const unknown = args.context_from?.filter((id) => !jobs.some((job) => job.id === id.trim())) ?? [];
  if (unknown.length > 0) throw new UserError(`context_from names jobs that do not exist: ${unknown.join(", ")}.`);
  if (args.script?.trim() && !reach.scripts())
    throw new UserError("Only the owner can use scripts, and only where the terminal is available.", {
      hint: "Omit the script.",
    });
  const deliver = joinTargets(args);
  if (deliver?.trim()) await reach.checkDeliver(deliver);
}

async function change(
  action: Exclude<Action, "list">,
  args: Args,
  options: CronjobToolOptions,
): Promise<{ job: Job; note?: string | undefined }> {
  const { reach } = options;
  const actions = await options.actions();
  const reference = args.job_id ?? "";
  if (action !== "create" && reference === "")
    throw new UserError(`${action} needs job_id.`, { hint: "See action list." });
  const jobs = (await actions.list()).filter(reach.sees);
  const id = action === "create" ? "" : findJob(jobs, reference).id;
  if (action === "create" || action === "update") await checkReach(args, jobs, reach);
  const note = action === "pause" || action === "remove" ? undefined : await options.tickerProblem();
  switch (action) {
    case "create":
      return { job: await actions.create(toJobInput(args), reach.origin), note };
    case "update":
      return { job: await actions.update(id, toJobInput(args), reach.tenant), note };
    case "pause":
      return { job: await actions.pause(id, args.reason) };
    case "resume":
      return { job: await actions.resume(id), note };
    case "remove":
      return { job: await actions.remove(id) };
    case "run":
      return { job: await actions.trigger(id), note };
  }
}

async function run(args: Args, context: ToolContext, options: CronjobToolOptions): Promise<ToolResult> {
  const named = args.action.trim().toLowerCase();
  const action = ACTIONS.find((name) => name === named) ?? ALIASES[named];
  if (!action) return toolError(`There is no action "${args.action}". Use one of: ${ACTIONS.join(", ")}.`);
  try {
    if (action === "list") {
      const jobs = (await (await options.actions()).list()).filter(options.reach.sees);
      const shown = args.include_disabled === false ? jobs.filter((job) => job.enabled) : jobs;
      return jsonResult({ success: true, count: shown.length, jobs: shown.map(jobEntry) });
    }
    const refusal = await checkGate(action, args, context, options);
    if (refusal !== undefined) return toolError(refusal, { success: false });
    const { job, note } = await change(action, args, options);
    const message = `${DONE[action]}: ${job.name} (${job.id}).`;
    const entry = jobEntry(job);
    return jsonResult({ success: true, message, ...entry, job: entry, ...(note ? { note } : {}) });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return toolError(`${error.message}${error.hint ? ` ${error.hint}` : ""}`, { success: false });
  }
}

export function cronjobTool(options: CronjobToolOptions): Tool {
  return defineTool({
    name: "cronjob",
    searchable: "always",
    toolset: "cronjob",
    storesArguments: true,
    notForSubagents: "a subagent must not schedule jobs",
    description:
      "Schedule work for later or at regular times, and manage scheduled jobs. Each run is a fresh conversation without this one's history; its answer is delivered to `deliver`.",
    parameters,
    overlap: "alone",
    mutates: true,
    preview: (args) => [args.action, args.job_id ?? args.schedule ?? ""].join(" ").trim(),
    run: (args, context) => run(args, context, options),
  });
}
