// jobs.json: read without a lock, written under a lock, never overwritten when it cannot be parsed.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UserError } from "../core/failure.ts";
import type { Job } from "../core/job.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import { LockTimeout, withFileLock } from "../lib/file-lock.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import { readJob } from "./job-record.ts";
import { takeTickLock } from "./run/tick-lock.ts";
import { isoIn } from "./schedule/zone.ts";

/** Escapes raw control characters in strings, which some programs write. */
function escapeControls(text: string): string {
  let result = "";
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === '"') quoted = !quoted;
    if (quoted && character === "\\") {
      result += character + (text[++at] ?? "");
    } else if (quoted && character < " ") {
      result += `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
    } else result += character;
  }
  return result;
}

const NOT_WRITABLE: readonly unknown[] = ["EACCES", "EROFS", "EPERM", "ENOSPC", "EDQUOT"];

/** Converts errors of the lock and the disk to a UserError with a hint. */
function asUserError(error: unknown): unknown {
  if (error instanceof LockTimeout) return new UserError(`${error.message}.`, { hint: "Try again.", cause: error });
  const { code, path } = error as { code?: unknown; path?: string };
  if (!NOT_WRITABLE.includes(code)) return error;
  const reason = code === "ENOSPC" || code === "EDQUOT" ? "the disk is full" : "the folder is not writable";
  return new UserError(`The jobs cannot be changed: ${reason} (${String(code)}).`, {
    hint: `Free space or allow writing in: ${path === undefined ? "the cron folder of the home" : dirname(path)}`,
    cause: error,
  });
}

type Work<T> = (jobs: readonly Job[]) => Promise<{ readonly jobs?: readonly Job[] | undefined; readonly result: T }>;

interface JobFileContent {
  readonly jobs: readonly Job[];
  /** Entries that are not jobs, and fields beside the list. They are written back unchanged. */
  readonly foreign: readonly unknown[];
  readonly rest: { readonly [key: string]: unknown };
}

const EMPTY: JobFileContent = { jobs: [], foreign: [], rest: {} };

export class JobFile {
  readonly path: string;
  readonly #zone: () => string;
  /** The last change in the queue of this process. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(folder: string, zone: () => string) {
    this.path = join(folder, "jobs.json");
    this.#zone = zone;
  }

  async #read(): Promise<JobFileContent> {
    let text: string;
    try {
      text = await readFile(this.path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return EMPTY;
      throw error;
    }
    const clean = text.replace(/^\ufeff/, "");
    const parsed = parseJson(clean) ?? parseJson(escapeControls(clean));
    if (typeof parsed !== "object" || parsed === null || !Array.isArray((parsed as { jobs?: unknown }).jobs)) {
      throw new UserError(`${this.path} is damaged and was not changed: it is not a list of jobs in JSON.`, {
        hint: "Repair it by hand, or move it away to start with an empty list.",
      });
    }
    const { jobs: entries, ...rest } = parsed as { jobs: unknown[] };
    const jobs: Job[] = [];
    const foreign: unknown[] = [];
    for (const entry of entries) {
      const job = readJob(entry);
      if (job) jobs.push(job);
      else foreign.push(entry);
    }
    return { jobs, foreign, rest };
  }

  /** Does not change the file. */
  async list(): Promise<readonly Job[]> {
    return (await this.#read()).jobs;
  }

  /**
   * Runs `work` under the lock of the file; the `jobs` that it returns replace the list. Another process takes over a
   * lock that is older than a minute.
   */
  change<T>(work: Work<T>): Promise<T> {
    return this.#enqueue(() => this.#changeNow(work));
  }

  /**
   * Like `change`, but returns `held` and does nothing while Hermes Agent v0.14 runs jobs of the same home: it reads the
   * file before the runs and writes it after them.
   */
  changeBetweenTicks<T>(work: Work<T>): Promise<T | "held"> {
    return this.#enqueue(async () => {
      const release = await takeTickLock(join(dirname(this.path), ".tick.lock"));
      if (release === "held") return release;
      try {
        return await this.#changeNow(work);
      } finally {
        await release();
      }
    });
  }

  /** Queues the changes of this process, so that it does not wait for a lock that it holds itself. */
  #enqueue<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#queue
      .then(() => withFileLock(this.path, step, { timeoutMs: 15_000 }))
      .catch((error: unknown) => Promise.reject(asUserError(error)));
    this.#queue = done.catch(() => undefined);
    return done;
  }

  async #changeNow<T>(work: Work<T>): Promise<T> {
    const content = await this.#read();
    const { jobs, result } = await work(content.jobs);
    if (jobs && jobs !== content.jobs) {
      const updated_at = isoIn(Date.now(), this.#zone());
      const whole = { jobs: [...jobs, ...content.foreign], ...content.rest, updated_at };
      await atomicWrite(this.path, `${JSON.stringify(whole, null, 2)}\n`, 0o600);
    }
    return result;
  }

  /** Replaces one job. The new record; undefined when the job does not exist. */
  async edit(id: string, edit: (job: Job, all: readonly Job[]) => Job): Promise<Job | undefined> {
    return this.change(async (jobs) => {
      const job = jobs.find((entry) => entry.id === id);
      if (!job) return { result: undefined };
      const edited = edit(job, jobs);
      if (edited === job) return { result: job };
      return { jobs: jobs.map((entry) => (entry === job ? edited : entry)), result: edited };
    });
  }
}
