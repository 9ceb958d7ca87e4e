// Checks the input for a job field by field and converts it to the values of the record.
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { UserError } from "../core/failure.ts";
import type { CatchUp, Deliverer, Job, JobOrigin, Schedule } from "../core/job.ts";
import type { JobInput } from "../core/job-service.ts";
import { oneLine } from "../lib/text/one-line.ts";
import { checkTargets, isLocalOnly, splitTargets } from "./delivery-target.ts";
import { findScript } from "./run/script.ts";
import { MAX_CATCH_UP_LIMIT } from "./schedule/plan.ts";
import { parseSchedule } from "./schedule/schedule.ts";
import { isZone } from "./schedule/zone.ts";

export interface JobChecks {
  /** The time zone of a job that names none. */
  zone(): string;
  readonly scripts: string;
  deliverer(): Promise<Deliverer>;
  /** The rule that a prompt violates; undefined when it violates none. */
  scan(text: string): string | undefined;
  /** Throws UserError for an unknown toolset. */
  checkToolsets(names: readonly string[]): void;
  /** The provider of the main model; used for a model without a provider. */
  mainProvider(): string | undefined;
}

/** Checked values; `null` clears. */
export interface JobChange extends Partial<Omit<Job, "schedule" | "repeat" | "name">> {
  readonly schedule?: Schedule;
  readonly name?: string;
  readonly times?: number | null;
}

export interface CheckContext {
  readonly checks: JobChecks;
  readonly now: number;
  readonly origin: JobOrigin | null;
  readonly jobs: readonly Job[];
  /** The job that is changed. */
  readonly before?: Job;
}

const CATCH_UPS: readonly CatchUp[] = ["skip", "latest", "all"];

function invalid(message: string, hint?: string): UserError {
  return new UserError(message, { exitCode: 2, hint });
}

function parseInputSchedule(input: JobInput, context: CheckContext): Schedule | undefined {
  const { before, checks, now } = context;
  const stored = before?.schedule.kind === "cron" ? before.schedule : undefined;
  const zone = input.timezone || stored?.tz || checks.zone();
  if (!isZone(zone))
    throw invalid(`"${zone}" is not a time zone.`, "Use a name such as Europe/Berlin or America/New_York.");
  if (input.schedule?.trim()) return parseSchedule(input.schedule, { now, zone });
  if (!input.timezone || !before) return undefined;
  if (stored) return parseSchedule(stored.expr, { now, zone });
  throw invalid(`The schedule "${before.schedule_display}" has no zone.`, "Only cron expressions keep one.");
}

async function checkWorkdir(path: string): Promise<void> {
  if (!isAbsolute(path)) throw invalid(`The working directory "${path}" is not an absolute path.`);
  if (!(await stat(path).catch(() => undefined))?.isDirectory())
    throw invalid(`The working directory ${path} does not exist.`);
}

function parseCatchUp(input: JobInput): Partial<Job> {
  const { catch_up: policy, catch_up_limit: limit } = input;
  const found = CATCH_UPS.find((name) => name === policy);
  if (policy !== undefined && policy !== "" && !found)
    throw invalid(`catch_up takes ${CATCH_UPS.join(", ")}, not "${policy}".`);
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1 || limit > MAX_CATCH_UP_LIMIT))
    throw invalid(`The catch-up limit is a whole number from 1 to ${MAX_CATCH_UP_LIMIT}.`);
  return {
    ...(found ? { catch_up: found } : policy === "" ? { catch_up: "skip" } : {}),
    ...(input.at_least_once === undefined ? {} : { at_least_once: input.at_least_once }),
    ...(limit === undefined ? {} : { catch_up_limit: limit }),
  };
}

function parseModel(input: JobInput, checks: JobChecks): Partial<Job> {
  const change: { model?: string | null; provider?: string | null; base_url?: string | null } = {};
  if (input.model !== undefined) change.model = input.model || null;
  if (input.provider !== undefined) change.provider = input.provider || null;
  if (input.base_url !== undefined) change.base_url = input.base_url || null;
  // `custom` without an address names no server. A model without a provider belongs to the main provider.
  if (change.provider === "custom") change.provider = null;
  if (change.model && input.provider === undefined) change.provider = checks.mainProvider() ?? null;
  return change;
}

function checkContext(ids: readonly string[], jobs: readonly Job[]): void {
  const unknown = ids.filter((id) => !jobs.some((job) => job.id === id));
  if (unknown.length > 0) throw invalid(`context_from names jobs that do not exist: ${unknown.join(", ")}.`);
}

function trimList(values: readonly string[] | undefined): readonly string[] | undefined {
  return values?.map((value) => value.trim()).filter((value) => value !== "");
}

function orNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length > 0 ? list : null;
}

/** Throws UserError for the first invalid field. */
export async function prepareChange(input: JobInput, context: CheckContext): Promise<JobChange> {
  const { checks, before } = context;
  const rule = input.prompt === undefined ? undefined : checks.scan(input.prompt);
  if (rule !== undefined)
    throw invalid(
      `The prompt looks like a prompt injection (${rule}); nothing was saved.`,
      rule === "invisible_unicode" ? "Type it again: it contains invisible characters." : "Rephrase it.",
    );
  const schedule = parseInputSchedule(input, context);
  if (input.repeat !== undefined && !Number.isInteger(input.repeat)) throw invalid("repeat takes a whole number.");
  if (input.workdir) await checkWorkdir(input.workdir);
  if (input.script) await findScript(input.script, checks.scripts);
  const script = input.script === undefined ? (before?.script ?? null) : input.script || null;
  const noAgent = input.no_agent ?? before?.no_agent ?? false;
  if (noAgent && script === null) throw invalid("A job without a model needs a script.");
  const skills = trimList(input.skills);
  const contextFrom = trimList(input.context_from);
  if (contextFrom) checkContext(contextFrom, context.jobs);
  const toolsets = trimList(input.enabled_toolsets);
  if (toolsets) checks.checkToolsets(toolsets);
  const deliver = splitTargets(input.deliver ?? "").join(",") || undefined;
  if (deliver !== undefined && !isLocalOnly(deliver))
    await checkTargets({ deliver, origin: context.origin }, await checks.deliverer());
  return {
    ...(schedule ? { schedule } : {}),
    ...(input.prompt === undefined ? {} : { prompt: input.prompt.trim() }),
    ...(oneLine(input.name ?? "") === "" ? {} : { name: oneLine(input.name ?? "") }),
    ...(input.repeat === undefined ? {} : { times: input.repeat > 0 ? input.repeat : null }),
    ...(deliver === undefined ? {} : { deliver }),
    ...(skills ? { skills } : {}),
    ...(input.script === undefined ? {} : { script }),
    ...(input.no_agent === undefined ? {} : { no_agent: input.no_agent }),
    ...(contextFrom ? { context_from: orNull(contextFrom) } : {}),
    ...(toolsets ? { enabled_toolsets: orNull(toolsets) } : {}),
    ...(input.workdir === undefined ? {} : { workdir: input.workdir || null }),
    ...parseModel(input, checks),
    ...parseCatchUp(input),
  };
}
