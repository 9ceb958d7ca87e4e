// What a person or a model asks of a job, checked field by field and turned into the values of the record.
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { UserError } from "../core/failure.ts";
import type { CatchUp, Deliverer, Job, JobOrigin, Schedule } from "../core/job.ts";
import type { JobInput } from "../core/job-service.ts";
import { oneLine } from "../lib/text/one-line.ts";
import { checkTargets, isLocalOnly, splitTargets } from "./delivery-target.ts";
import { MAX_CATCH_UP_LIMIT } from "./plan.ts";
import { parseSchedule } from "./schedule.ts";
import { findScript } from "./script.ts";
import { isZone } from "./zone.ts";

export interface JobChecks {
  /** The zone of a job that names none. */
  zone(): string;
  readonly scripts: string;
  deliverer(): Promise<Deliverer>;
  /** The rule that a prompt breaks; undefined when it is fine. */
  scan(text: string): string | undefined;
  /** Throws UserError for a toolset that nobody knows. */
  checkToolsets(names: readonly string[]): void;
  /** The provider of the main model: a model named alone is meant there. */
  mainProvider(): string | undefined;
}

/** Checked values; `null` clears. */
export interface JobChange extends Partial<Omit<Job, "schedule" | "repeat" | "name">> {
  readonly schedule?: Schedule;
  readonly name?: string;
  readonly times?: number | null;
}

export interface CheckFrame {
  readonly checks: JobChecks;
  readonly now: number;
  readonly origin: JobOrigin | null;
  readonly jobs: readonly Job[];
  /** The job that is changed. */
  readonly before?: Job;
}

const CATCH_UPS: readonly CatchUp[] = ["skip", "latest", "all"];

function bad(message: string, hint?: string): UserError {
  return new UserError(message, { exitCode: 2, ...(hint === undefined ? {} : { hint }) });
}

function scheduleOf(options: JobInput, frame: CheckFrame): Schedule | undefined {
  const { before, checks, now } = frame;
  const stored = before?.schedule.kind === "cron" ? before.schedule : undefined;
  const zone = options.timezone || stored?.tz || checks.zone();
  if (!isZone(zone))
    throw bad(`"${zone}" is not a time zone.`, "Use a name such as Europe/Berlin or America/New_York.");
  if (options.schedule?.trim()) return parseSchedule(options.schedule, { now, zone });
  if (!options.timezone || !before) return undefined;
  if (stored) return parseSchedule(stored.expr, { now, zone });
  throw bad(`The schedule "${before.schedule_display}" has no zone.`, "Only cron expressions keep one.");
}

async function checkWorkdir(path: string): Promise<void> {
  if (!isAbsolute(path)) throw bad(`The working directory "${path}" is not an absolute path.`);
  if (!(await stat(path).catch(() => undefined))?.isDirectory())
    throw bad(`The working directory ${path} does not exist.`);
}

function catchUpOf(options: JobInput): Partial<Job> {
  const { catch_up: policy, catch_up_limit: limit } = options;
  const found = CATCH_UPS.find((name) => name === policy);
  if (policy !== undefined && policy !== "" && !found)
    throw bad(`catch_up takes ${CATCH_UPS.join(", ")}, not "${policy}".`);
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1 || limit > MAX_CATCH_UP_LIMIT))
    throw bad(`The catch-up limit is a whole number from 1 to ${MAX_CATCH_UP_LIMIT}.`);
  return {
    ...(found ? { catch_up: found } : policy === "" ? { catch_up: "skip" } : {}),
    ...(limit === undefined ? {} : { catch_up_limit: limit }),
  };
}

function modelOf(options: JobInput, checks: JobChecks): Partial<Job> {
  const change: { model?: string | null; provider?: string | null; base_url?: string | null } = {};
  if (options.model !== undefined) change.model = options.model || null;
  if (options.provider !== undefined) change.provider = options.provider || null;
  if (options.base_url !== undefined) change.base_url = options.base_url || null;
  // `custom` alone names no server; a model alone is one of the main provider.
  if (change.provider === "custom") change.provider = null;
  if (change.model && options.provider === undefined) change.provider = checks.mainProvider() ?? null;
  return change;
}

function checkContext(ids: readonly string[], jobs: readonly Job[]): void {
  const unknown = ids.filter((id) => !jobs.some((job) => job.id === id));
  if (unknown.length > 0) throw bad(`context_from names jobs that do not exist: ${unknown.join(", ")}.`);
}

function listOf(values: readonly string[] | undefined): readonly string[] | undefined {
  return values?.map((value) => value.trim()).filter((value) => value !== "");
}

function orNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length > 0 ? list : null;
}

/** Throws UserError about the first thing that is wrong. */
export async function prepareChange(options: JobInput, frame: CheckFrame): Promise<JobChange> {
  const { checks, before } = frame;
  const rule = options.prompt === undefined ? undefined : checks.scan(options.prompt);
  if (rule !== undefined)
    throw bad(
      `The prompt has the marks of smuggled instructions (${rule}); nothing was saved.`,
      rule === "invisible_unicode" ? "Type it anew: it has characters that cannot be seen." : "Say it in other words.",
    );
  const schedule = scheduleOf(options, frame);
  if (options.repeat !== undefined && !Number.isInteger(options.repeat)) throw bad("repeat takes a whole number.");
  if (options.workdir) await checkWorkdir(options.workdir);
  if (options.script) await findScript(options.script, checks.scripts);
  const script = options.script === undefined ? (before?.script ?? null) : options.script || null;
  const noAgent = options.no_agent ?? before?.no_agent ?? false;
  if (noAgent && script === null) throw bad("A job without a model needs a script.");
  const skills = listOf(options.skills);
  const contextFrom = listOf(options.context_from);
  if (contextFrom) checkContext(contextFrom, frame.jobs);
  const toolsets = listOf(options.enabled_toolsets);
  if (toolsets) checks.checkToolsets(toolsets);
  const deliver = splitTargets(options.deliver ?? "").join(",") || undefined;
  if (deliver !== undefined && !isLocalOnly(deliver))
    await checkTargets({ deliver, origin: frame.origin }, await checks.deliverer());
  return {
    ...(schedule ? { schedule } : {}),
    ...(options.prompt === undefined ? {} : { prompt: options.prompt.trim() }),
    ...(oneLine(options.name ?? "") === "" ? {} : { name: oneLine(options.name ?? "") }),
    ...(options.repeat === undefined ? {} : { times: options.repeat > 0 ? options.repeat : null }),
    ...(deliver === undefined ? {} : { deliver }),
    ...(skills ? { skills } : {}),
    ...(options.script === undefined ? {} : { script }),
    ...(options.no_agent === undefined ? {} : { no_agent: options.no_agent }),
    ...(contextFrom ? { context_from: orNull(contextFrom) } : {}),
    ...(toolsets ? { enabled_toolsets: orNull(toolsets) } : {}),
    ...(options.workdir === undefined ? {} : { workdir: options.workdir || null }),
    ...modelOf(options, checks),
    ...catchUpOf(options),
  };
}
