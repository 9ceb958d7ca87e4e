// What can be done with jobs: make, change, pause, resume, remove, start. Everything is checked before the file is touched.
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../core/failure.ts";
import type { Job, JobOrigin, Schedule } from "../core/job.ts";
import type { JobInput } from "../core/job-service.ts";
import { type JobChange, type JobChecks, prepareChange } from "./job-checks.ts";
import type { JobFile } from "./job-file.ts";
import { jobLabel } from "./job-record.ts";
import type { RemovedJob, RemovedJobs } from "./removed-jobs.ts";
import { firstRun } from "./schedule.ts";
import { isoIn } from "./zone.ts";

export interface JobActionParts {
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

/** By id, else by a unique name whatever its case. */
export function findJob(jobs: readonly Job[], reference: string): Job {
  const wanted = reference.trim().toLowerCase();
  const byId = jobs.find((job) => job.id.toLowerCase() === wanted);
  if (byId) return byId;
  const named = jobs.filter((job) => job.name.toLowerCase() === wanted);
  const [only] = named;
  if (named.length === 1 && only) return only;
  if (named.length === 0) throw notFound(reference);
  throw new UserError(`Several jobs are called "${reference}": ${named.map((job) => job.id).join(", ")}.`, {
    hint: "Use the id.",
    exitCode: 2,
  });
}

function zoneOf(schedule: Schedule, zone: string): string {
  return schedule.kind === "cron" ? (schedule.tz ?? zone) : zone;
}

const NEW_SCHEDULE = "Give it a new schedule: hermes cron edit ID --schedule WHEN";

function dueTime(schedule: Schedule, now: number, zone: string): string {
  let at: number | undefined;
  try {
    at = firstRun(schedule, now, zone);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UserError(`The schedule of this job cannot be used: ${why}.`, { hint: NEW_SCHEDULE });
  }
  if (at === undefined) throw new UserError("The time of this job has passed.", { hint: NEW_SCHEDULE });
  return isoIn(at, zoneOf(schedule, zone));
}

function usualTarget(origin: JobOrigin | null): string {
  return origin ? "origin" : "local";
}

function defaultTimes(schedule: Schedule): number | null {
  return schedule.kind === "once" ? 1 : null;
}

function refuseEmpty(job: Pick<Job, "prompt" | "skills" | "script">): void {
  if (job.prompt.trim() !== "" || job.skills.length > 0 || job.script !== null) return;
  throw new UserError("A job needs a prompt, a skill or a script.", { exitCode: 2 });
}

function nameFor(change: JobChange, job: Pick<Job, "prompt" | "skills" | "script">): string {
  return change.name || jobLabel(job.prompt) || job.skills[0] || job.script || "job";
}

/** The fields of a change that go into the record as they are. */
function plainFields(change: JobChange): Partial<Job> {
  const { name: _name, schedule: _schedule, times: _times, ...plain } = change;
  return { ...plain, ...(change.skills ? { skill: change.skills[0] ?? null } : {}) };
}

export class JobActions {
  readonly #parts: JobActionParts;

  constructor(parts: JobActionParts) {
    this.#parts = parts;
  }

  list(): Promise<readonly Job[]> {
    return this.#parts.file.list();
  }

  /** Among those that the asker may see. */
  async find(reference: string, sees: (job: Job) => boolean = () => true): Promise<Job> {
    return findJob((await this.list()).filter(sees), reference);
  }

  /** Throws UserError and changes nothing when something is wrong. */
  async create(options: JobInput, origin: JobOrigin | null = null): Promise<Job> {
    const { file, checks, now } = this.#parts;
    const deliver = options.deliver?.trim() || usualTarget(origin);
    const change = await prepareChange(
      { ...options, deliver },
      { checks, now: now(), origin, jobs: await this.list() },
    );
    const { schedule } = change;
    if (!schedule) throw new UserError("A job needs a schedule.", { hint: "For example: every 2h", exitCode: 2 });
    const zone = checks.zone();
    const content = { prompt: change.prompt ?? "", skills: change.skills ?? [], script: change.script ?? null };
    refuseEmpty(content);
    const job: Job = {
      ...EMPTY_JOB,
      ...content,
      ...plainFields(change),
      id: randomBytes(6).toString("hex"),
      name: nameFor(change, content),
      schedule,
      schedule_display: schedule.display,
      repeat: { times: change.times === undefined ? defaultTimes(schedule) : change.times, completed: 0 },
      created_at: isoIn(now(), zone),
      next_run_at: dueTime(schedule, now(), zone),
      origin,
    };
    const made = await file.change(async (jobs) => ({ jobs: [...jobs, job], result: job }));
    await this.#parts.removed.forget(made);
    return made;
  }

  /** A job that was removed lately and that this wish would bring back; an agent asks before it does so. */
  removedLike(options: JobInput): Promise<RemovedJob | undefined> {
    return this.#parts.removed.like(options);
  }

  /** What is not named stays; an empty text or list clears. A job that names nobody becomes that of the `tenant`. */
  async update(reference: string, options: JobInput, tenant?: string): Promise<Job> {
    const { file, checks, now } = this.#parts;
    const jobs = await this.list();
    const before = findJob(jobs, reference);
    const deliver =
      options.deliver === undefined ? {} : { deliver: options.deliver.trim() || usualTarget(before.origin) };
    const change = await prepareChange(
      { ...options, ...deliver },
      { checks, now: now(), origin: before.origin, jobs, before },
    );
    const zone = checks.zone();
    const updated = await file.edit(before.id, (job) => {
      const origin = tenant !== undefined && job.origin ? { tenant, ...job.origin } : job.origin;
      const merged: Job = { ...job, origin, ...plainFields(change), ...(change.name ? { name: change.name } : {}) };
      if (change.prompt !== undefined || change.skills || change.script !== undefined) refuseEmpty(merged);
      const times = change.times === undefined ? merged.repeat.times : change.times;
      const kept: Job = { ...merged, repeat: { ...merged.repeat, times, completed: countedFor(change, merged) } };
      return change.schedule ? rescheduled(kept, change, { now: now(), zone, schedule: change.schedule }) : kept;
    });
    if (!updated) throw notFound(reference);
    return updated;
  }

  async pause(reference: string, reason?: string): Promise<Job> {
    const at = isoIn(this.#parts.now(), this.#parts.checks.zone());
    return this.#edit(reference, (job) => ({
      ...job,
      enabled: false,
      state: "paused",
      paused_at: at,
      paused_reason: reason ?? null,
    }));
  }

  /** The next run is computed from now; what was due in the meantime is not made up for. */
  async resume(reference: string): Promise<Job> {
    const { now, checks } = this.#parts;
    return this.#edit(reference, (job) => {
      refuseDone(job);
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

  /** Due now: whoever ticks next runs it. */
  async trigger(reference: string): Promise<Job> {
    const at = isoIn(this.#parts.now(), this.#parts.checks.zone());
    return this.#edit(reference, (job) => {
      if (job.state === "running") throw new UserError(`The job "${job.name}" is running already.`);
      return { ...job, enabled: true, state: "scheduled", paused_at: null, paused_reason: null, next_run_at: at };
    });
  }

  /** The job and the documents of its runs; the ledger keeps its history. */
  async remove(reference: string): Promise<Job> {
    const job = await this.find(reference);
    await this.#parts.file.change(async (jobs) => ({
      jobs: jobs.filter((entry) => entry.id !== job.id),
      result: undefined,
    }));
    await this.#parts.removed.add(job);
    await rm(join(this.#parts.output, job.id), { recursive: true, force: true });
    return job;
  }

  async #edit(reference: string, edit: (job: Job) => Job): Promise<Job> {
    const { id } = await this.find(reference);
    const edited = await this.#parts.file.edit(id, edit);
    if (!edited) throw notFound(reference);
    return edited;
  }
}

/** Whoever asks for fewer runs than there were means runs from now on. */
function countedFor(change: JobChange, { repeat: { completed } }: Job): number {
  return change.times && completed >= change.times ? 0 : completed;
}

/** A job that has run as often as it should would run once more and end again. */
function refuseDone({ name, schedule, repeat: { times, completed } }: Job): void {
  if (schedule.kind === "once" || times === null || completed < times) return;
  throw new UserError(`The job "${name}" has run ${completed} of ${times} times.`, {
    hint: "Let it run more often (0 for ever), then resume it: hermes cron edit ID --repeat N",
  });
}

/** A new schedule wakes a job that had ended; a paused one stays paused. */
function rescheduled(
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
