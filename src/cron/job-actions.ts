// Creates, changes, pauses, resumes, removes and triggers jobs. Input is checked before the file is changed.
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../core/failure.ts";
import type { Job, JobOrigin, Schedule } from "../core/job.ts";
import type { JobInput } from "../core/job-service.ts";
import { errorMessage } from "../lib/error-message.ts";
import { type JobChange, type JobChecks, prepareChange } from "./job-checks.ts";
import type { JobFile } from "./job-file.ts";
import { jobLabel } from "./job-record.ts";
import type { RemovedJob, RemovedJobs } from "./removed-jobs.ts";
import { firstRun } from "./schedule/schedule.ts";
import { isoIn } from "./schedule/zone.ts";

export interface JobActionsDeps {
  readonly file: JobFile;
  readonly removed: RemovedJobs;
  readonly checks: JobChecks;
  /** cron/output. */
  readonly output: string;
  now(): number;
}

function notFound(reference: string): UserError {
  return new UserError(`There is no job "${reference}".`, { hint: "See: hermes cron list --all", exitCode: 2 });
}

/** Finds a job by id, or by a unique name regardless of case. */
export function findJob(jobs: readonly Job[], reference: string): Job {
  const wanted = reference.trim().toLowerCase();
  const byId = jobs.find((job) => job.id.toLowerCase() === wanted);
  if (byId) return byId;
  const named = jobs.filter((job) => job.name.toLowerCase() === wanted);
  const [only] = named;
  if (named.length === 1 && only) return only;
  if (named.length === 0) throw notFound(reference);
  throw new UserError(`Several jobs have the name "${reference}": ${named.map((job) => job.id).join(", ")}.`, {
    hint: "Use the id.",
    exitCode: 2,
  });
}

function scheduleZone(schedule: Schedule, zone: string): string {
  return schedule.kind === "cron" ? (schedule.tz ?? zone) : zone;
}

const NEW_SCHEDULE = "Give it a new schedule: hermes cron edit ID --schedule WHEN";

function dueTime(schedule: Schedule, now: number, zone: string): string {
  let at: number | undefined;
  try {
    at = firstRun(schedule, now, zone);
  } catch (error) {
    throw new UserError(`The schedule of this job cannot be used: ${errorMessage(error)}.`, { hint: NEW_SCHEDULE });
  }
  if (at === undefined) throw new UserError("The time of this job has passed.", { hint: NEW_SCHEDULE });
  return isoIn(at, scheduleZone(schedule, zone));
}

function defaultTarget(origin: JobOrigin | null): string {
  return origin ? "origin" : "local";
}

function defaultTimes(schedule: Schedule): number | null {
  return schedule.kind === "once" ? 1 : null;
}

function requireContent(job: Pick<Job, "prompt" | "skills" | "script">): void {
  if (job.prompt.trim() !== "" || job.skills.length > 0 || job.script !== null) return;
  throw new UserError("A job needs a prompt, a skill or a script.", { exitCode: 2 });
}

function jobName(change: JobChange, job: Pick<Job, "prompt" | "skills" | "script">): string {
  return change.name || jobLabel(job.prompt) || job.skills[0] || job.script || "job";
}

/** The fields of a change that are stored without conversion. */
function plainFields(change: JobChange): Partial<Job> {
  const { name: _name, schedule: _schedule, times: _times, ...plain } = change;
  return { ...plain, ...(change.skills ? { skill: change.skills[0] ?? null } : {}) };
}

export class JobActions {
  readonly #deps: JobActionsDeps;

  constructor(deps: JobActionsDeps) {
    this.#deps = deps;
  }

  list(): Promise<readonly Job[]> {
    return this.#deps.file.list();
  }

  /** Searches the jobs that `isVisible` accepts. */
  async find(reference: string, isVisible: (job: Job) => boolean = () => true): Promise<Job> {
    return findJob((await this.list()).filter(isVisible), reference);
  }

  /** Throws UserError and changes nothing when the input is invalid. */
  async create(input: JobInput, origin: JobOrigin | null = null): Promise<Job> {
    const { file, checks, now } = this.#deps;
    const deliver = input.deliver?.trim() || defaultTarget(origin);
    const change = await prepareChange({ ...input, deliver }, { checks, now: now(), origin, jobs: await this.list() });
    const { schedule } = change;
    if (!schedule) throw new UserError("A job needs a schedule.", { hint: "For example: every 2h", exitCode: 2 });
    const zone = checks.zone();
    const content = { prompt: change.prompt ?? "", skills: change.skills ?? [], script: change.script ?? null };
    requireContent(content);
    const job: Job = {
      ...EMPTY_JOB,
      ...content,
      ...plainFields(change),
      id: randomBytes(6).toString("hex"),
      name: jobName(change, content),
      schedule,
      schedule_display: schedule.display,
      repeat: { times: change.times === undefined ? defaultTimes(schedule) : change.times, completed: 0 },
      created_at: isoIn(now(), zone),
      next_run_at: dueTime(schedule, now(), zone),
      origin,
    };
    const created = await file.change(async (jobs) => ({ jobs: [...jobs, job], result: job }));
    await this.#deps.removed.forget(created);
    return created;
  }

  /** A recently removed job that is similar to this input; an agent asks the user before it creates such a job. */
  removedLike(input: JobInput): Promise<RemovedJob | undefined> {
    return this.#deps.removed.findSimilar(input);
  }

  /** Absent fields stay; an empty text or list clears. A job without a tenant is assigned to `tenant`. */
  async update(reference: string, input: JobInput, tenant?: string): Promise<Job> {
    const { file, checks, now } = this.#deps;
    const jobs = await this.list();
    const before = findJob(jobs, reference);
    const deliver =
      input.deliver === undefined ? {} : { deliver: input.deliver.trim() || defaultTarget(before.origin) };
    const change = await prepareChange(
      { ...input, ...deliver },
      { checks, now: now(), origin: before.origin, jobs, before },
    );
    const zone = checks.zone();
    const updated = await file.edit(before.id, (job) => {
      const origin = tenant !== undefined && job.origin ? { tenant, ...job.origin } : job.origin;
      const merged: Job = { ...job, origin, ...plainFields(change), ...(change.name ? { name: change.name } : {}) };
      if (change.prompt !== undefined || change.skills || change.script !== undefined) requireContent(merged);
      const times = change.times === undefined ? merged.repeat.times : change.times;
      const next: Job = { ...merged, repeat: { ...merged.repeat, times, completed: completedRuns(change, merged) } };
      return change.schedule ? reschedule(next, change, { now: now(), zone, schedule: change.schedule }) : next;
    });
    if (!updated) throw notFound(reference);
    return updated;
  }

  async pause(reference: string, reason?: string): Promise<Job> {
    const at = isoIn(this.#deps.now(), this.#deps.checks.zone());
    return this.#edit(reference, (job) => ({
      ...job,
      enabled: false,
      state: "paused",
      paused_at: at,
      paused_reason: reason ?? null,
    }));
  }

  /** The next run is computed from now; runs that were due in the meantime are skipped. */
  async resume(reference: string): Promise<Job> {
    const { now, checks } = this.#deps;
    return this.#edit(reference, (job) => {
      requireRunsLeft(job);
      return {
        ...job,
        enabled: true,
        state: "scheduled",
        paused_at: null,
        paused_reason: null,
        next_run_at: dueTime(job.schedule, now(), checks.zone()),
      };
    });
  }

  /** Makes the job due now: the next tick runs it. */
  async trigger(reference: string): Promise<Job> {
    const at = isoIn(this.#deps.now(), this.#deps.checks.zone());
    return this.#edit(reference, (job) => {
      if (job.state === "running") throw new UserError(`The job "${job.name}" is already running.`);
      return { ...job, enabled: true, state: "scheduled", paused_at: null, paused_reason: null, next_run_at: at };
    });
  }

  /** Removes the job and the documents of its runs; the history stays in the ledger. */
  async remove(reference: string): Promise<Job> {
    const job = await this.find(reference);
    await this.#deps.file.change(async (jobs) => ({
      jobs: jobs.filter((entry) => entry.id !== job.id),
      result: undefined,
    }));
    await this.#deps.removed.add(job);
    await rm(join(this.#deps.output, job.id), { recursive: true, force: true });
    return job;
  }

  async #edit(reference: string, edit: (job: Job) => Job): Promise<Job> {
    const { id } = await this.find(reference);
    const edited = await this.#deps.file.edit(id, edit);
    if (!edited) throw notFound(reference);
    return edited;
  }
}

/** When the new limit is not above the number of past runs, it counts from now on. */
function completedRuns(change: JobChange, { repeat: { completed } }: Job): number {
  return change.times && completed >= change.times ? 0 : completed;
}

/** Throws for a job that has reached its number of runs: resumed, it would end after one more run. */
function requireRunsLeft({ name, schedule, repeat: { times, completed } }: Job): void {
  if (schedule.kind === "once" || times === null || completed < times) return;
  throw new UserError(`The job "${name}" has run ${completed} of ${times} times.`, {
    hint: "Allow more runs (0 for no limit), then resume it: hermes cron edit ID --repeat N",
  });
}

/** A new schedule reactivates a job that has ended; a paused job stays paused. */
function reschedule(
  job: Job,
  change: JobChange,
  frame: { readonly now: number; readonly zone: string; readonly schedule: Schedule },
): Job {
  const { schedule, now, zone } = frame;
  const paused = job.state === "paused";
  const ended = job.state === "completed" || job.state === "error";
  const another = (schedule.kind === "once") !== (job.schedule.kind === "once");
  const times = change.times === undefined && another ? defaultTimes(schedule) : job.repeat.times;
  return {
    ...job,
    schedule,
    schedule_display: schedule.display,
    next_run_at: dueTime(schedule, now, zone),
    repeat: { ...job.repeat, times, completed: ended || another ? 0 : job.repeat.completed },
    ...(paused ? {} : { enabled: true, state: job.state === "running" ? "running" : "scheduled" }),
    ...(ended ? { last_error: null } : {}),
  };
}

const EMPTY_JOB = {
  skill: null,
  model: null,
  provider: null,
  base_url: null,
  no_agent: false,
  context_from: null,
  enabled: true,
  state: "scheduled",
  paused_at: null,
  paused_reason: null,
  last_run_at: null,
  last_status: null,
  last_error: null,
  last_delivery_error: null,
  deliver: "local",
  enabled_toolsets: null,
  workdir: null,
} as const;
