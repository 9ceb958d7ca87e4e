// The scheduler: finds due jobs, claims each run in the ledger, starts it and records its end.
import { UserError } from "../../core/failure.ts";
import type { Job, JobLedger, JobRun, RunOutcome } from "../../core/job.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { JobFile } from "../job-file.ts";
import { gracePeriod } from "../schedule/schedule.ts";
import { type ClaimedRun, claimDue, claimManually } from "./claim.ts";
import type { Owners } from "./owner.ts";
import { settleRuns } from "./settle.ts";
import { Slots } from "./slots.ts";
import { StartGate } from "./start-gate.ts";

/** The result of a run whose document was saved and whose result or failure was delivered. */
export interface JobResult {
  readonly ok: boolean;
  readonly error?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly document?: string | undefined;
  readonly deliveryError?: string | undefined;
  /** A failure was reported to the user. */
  readonly reported: boolean;
}

/** The reason for stopping a run whose job was removed: its result is not needed any more. */
export class JobRemoved extends Error {
  constructor() {
    super("the job was removed while it ran");
  }
}

export interface SchedulerOptions {
  readonly file: JobFile;
  readonly ledger: JobLedger;
  readonly owners: Owners;
  /** The time zone for schedules that name none. */
  zone(): string;
  now(): number;
  /** Stops when the signal fires. */
  run(job: Job, run: ClaimedRun["run"], signal: AbortSignal): Promise<JobResult>;
  /** Alerts the user to a run that failed or was missed. The error of the delivery; undefined when there was none. */
  alert(run: JobRun, job: Job | undefined): Promise<string | undefined>;
  notice(text: string): void;
  /** How many runs may be active at the same time; 0 for no limit. */
  readonly maxParallel: number;
  readonly leaseMs?: number | undefined;
  readonly renewMs?: number | undefined;
}

export interface TickReport {
  readonly started: number;
  readonly missed: number;
  readonly abandoned: number;
  /** Hermes Agent v0.14 runs the jobs of this home at the moment: nothing was started. */
  readonly held: boolean;
}

const LEASE_MS = 45_000;
const RENEW_MS = 10_000;
const POLL_MS = 300;
/** A process that is alive keeps its runs this much longer: a laptop cannot renew leases while it sleeps. */
const ALIVE_GRACE_MS = 600_000;
/** How long a run that a crash interrupted may be run again. */
const REPEAT_MS = 86_400_000;
/** Deliveries have keys, so an alert that two processes send arrives once. */
const ALERT_LEASE_MS = 45_000;

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #slots: Slots;
  readonly #gate = new StartGate();
  readonly #active = new Map<number, { readonly stop: AbortController; readonly work: Promise<void> }>();
  #begun = 0;
  #failed = 0;
  #recovering: Promise<number> | undefined;
  #settling: Promise<void> = Promise.resolve();
  #nextSettle: Promise<void> | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#slots = new Slots(options.maxParallel);
  }

  /** The number of active runs of this process. */
  get running(): number {
    return this.#active.size;
  }

  /** The number of runs since this process started; with catch-up, one tick can start several. */
  get tally(): { readonly begun: number; readonly failed: number } {
    return { begun: this.#begun, failed: this.#failed };
  }

  /** Starts the due jobs and returns; `idle` waits for their end. */
  async tick(): Promise<TickReport> {
    const abandoned = await this.recover();
    const resumed = await this.#resumeClaimed();
    const { runs, missed, corrected = [], held = false } = await claimDue(this.#claimOptions());
    if (corrected.length > 0) this.#options.notice(correctionText(corrected));
    for (const claimed of runs) this.#start(claimed);
    if (missed > 0) await this.#settleAndAlert();
    return { started: runs.length + resumed, missed, abandoned, held };
  }

  async idle(): Promise<void> {
    while (this.#active.size > 0) await Promise.all([...this.#active.values()].map(({ work }) => work));
  }

  /** Starts a job now, regardless of its schedule. The id of the run. */
  async startNow(id: string): Promise<number> {
    await this.recover();
    const claimed = await claimManually(this.#claimOptions(), id);
    this.#start(claimed);
    return claimed.run.id;
  }

  /** Runs a job now; resolves when it has ended. */
  async runNow(id: string): Promise<JobRun> {
    const run = await this.startNow(id);
    await this.#active.get(run)?.work;
    return this.#findRun(id, run);
  }

  /** Waits for the end of a run in another process. When that process dies, the run is ended here. */
  async follow(id: string, run: number, signal: AbortSignal): Promise<JobRun> {
    for (;;) {
      const row = await this.#findRun(id, run);
      if (row.state !== "running" || signal.aborted) return row;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      await this.recover();
    }
  }

  async #findRun(id: string, run: number): Promise<JobRun> {
    const row = (await this.#options.ledger.history({ jobId: id, limit: 50 })).find((entry) => entry.id === run);
    if (!row) throw new UserError("The run is not in the ledger any more.");
    return row;
  }

  /** Ends runs whose process is gone, updates jobs.json with the ended runs, and sends the alerts that are due. */
  recover(): Promise<number> {
    this.#recovering ??= this.#recover().finally(() => {
      this.#recovering = undefined;
    });
    return this.#recovering;
  }

  /** Interrupts the runs of this process and waits until each has its end in the ledger. */
  async stop(): Promise<void> {
    for (const { stop } of this.#active.values()) stop.abort(new Error("Hermes was shut down before the job was done"));
    await this.idle();
  }

  #claimOptions() {
    const { file, ledger, zone, now, owners } = this.#options;
    return { file, ledger, zone, now, owner: owners.self, leaseMs: this.#options.leaseMs ?? LEASE_MS };
  }

  async #recover(): Promise<number> {
    const { ledger, now } = this.#options;
    let abandoned = 0;
    const lost = await this.#lostRuns();
    const jobs = lost.length > 0 ? await this.#options.file.list() : [];
    for (const run of lost) {
      if (this.#startableJob(run, jobs)) continue;
      const where = run.startedAt === null ? "before it had begun" : "before it had finished";
      const reason = `the process that ran it ended ${where}; it was not started again`;
      if (await ledger.abandon(run.id, now(), reason)) abandoned += 1;
    }
    await this.#settleAndAlert();
    return abandoned;
  }

  async #lostRuns(): Promise<readonly JobRun[]> {
    const open = await this.#options.ledger.open();
    return open.filter((run) => !this.#active.has(run.id) && this.#isLost(run.owner ?? "", run.leaseUntil));
  }

  /**
   * The job of a lost run that may start now: one that was claimed but not started, by the rules of unclaimed runs; and a
   * started one whose job asks for at least one complete run, for a day, so that a job that ends the process does not
   * do so for ever.
   */
  #startableJob(run: JobRun, jobs: readonly Job[]): Job | undefined {
    const job = jobs.find((entry) => entry.id === run.jobId);
    if (!job?.enabled || job.state === "paused" || job.state === "error") return undefined;
    const { now, zone } = this.#options;
    if (run.startedAt !== null) return job.at_least_once && now() - run.occurrence < REPEAT_MS ? job : undefined;
    if (run.trigger === "manual") return undefined;
    const inTime = now() - run.occurrence <= gracePeriod(job.schedule, run.occurrence, zone());
    return inTime || (job.catch_up ?? "skip") !== "skip" ? job : undefined;
  }

  /** Starts the runs that a lost process had claimed but not started, or must finish. */
  async #resumeClaimed(): Promise<number> {
    const { file, ledger, owners, now } = this.#options;
    const lost = await this.#lostRuns();
    const jobs = lost.length > 0 ? await file.list() : [];
    let started = 0;
    for (const run of lost) {
      const job = this.#startableJob(run, jobs);
      const leaseUntil = now() + (this.#options.leaseMs ?? LEASE_MS);
      if (!job || !(await ledger.takeOver(run, owners.self, leaseUntil))) continue;
      const { id, occurrence, trigger } = run;
      this.#start({ job, run: { id, occurrence, trigger }, more: true });
      started += 1;
    }
    return started;
  }

  #isLost(owner: string, leaseUntil: number): boolean {
    const lives = this.#options.owners.lives(owner);
    if (lives === "no") return true;
    return this.#options.now() > leaseUntil + (lives === "yes" ? ALIVE_GRACE_MS : 0);
  }

  #start(claimed: ClaimedRun): void {
    this.#begun += 1;
    const stop = new AbortController();
    const work = this.#work(claimed, stop).finally(() => this.#active.delete(claimed.run.id));
    this.#active.set(claimed.run.id, { stop, work });
  }

  /** Never rejects: an error of the ledger becomes a notice, and the next recovery ends the row. */
  async #work(claimed: ClaimedRun, stop: AbortController): Promise<void> {
    const { renewMs, notice } = this.#options;
    const renewal = setInterval(() => void this.#renew(claimed, stop), renewMs ?? RENEW_MS);
    try {
      await this.#slots.use(() => this.#gate.use(() => this.#performAndRecord(claimed, stop.signal)));
      await this.#settleAndAlert();
      if (claimed.more && !stop.signal.aborted) {
        const { runs, missed } = await claimDue(this.#claimOptions(), claimed.job.id);
        for (const next of runs) this.#start(next);
        if (missed > 0) await this.#settleAndAlert();
      }
    } catch (error) {
      notice(`The job ${claimed.job.name} could not be recorded: ${describeError(error)}`);
    } finally {
      clearInterval(renewal);
    }
  }

  async #performAndRecord(claimed: ClaimedRun, signal: AbortSignal): Promise<void> {
    const { ledger, owners } = this.#options;
    const outcome = await this.#perform(claimed, signal);
    if (outcome.state === "failed") this.#failed += 1;
    await ledger.finish(claimed.run.id, owners.self, outcome);
  }

  async #perform(claimed: ClaimedRun, signal: AbortSignal): Promise<RunOutcome> {
    const { ledger, owners, now, run } = this.#options;
    let result: JobResult;
    try {
      signal.throwIfAborted();
      if (!(await ledger.started(claimed.run.id, owners.self, now())))
        throw new Error("the run was taken over by another process");
      result = await run(claimed.job, claimed.run, signal);
    } catch (error) {
      result = { ok: false, error: describeError(error), reported: false };
    }
    const good = claimed.run.trigger === "catch_up" ? "caught_up" : "ran";
    return {
      state: result.ok ? good : "failed",
      now: now(),
      reported: result.ok || result.reported || signal.reason instanceof JobRemoved,
      reason: result.ok ? undefined : (result.error ?? "it failed without an error message"),
      sessionId: result.sessionId,
      document: result.document,
      deliveryError: result.deliveryError,
    };
  }

  async #renew({ job, run }: ClaimedRun, stop: AbortController): Promise<void> {
    const { file, ledger, owners, now, leaseMs, notice } = this.#options;
    try {
      const owned = await ledger.renew(run.id, owners.self, now() + (leaseMs ?? LEASE_MS));
      if (!this.#active.has(run.id)) return;
      if (!owned) stop.abort(new Error("another process ended the run as abandoned"));
      else if (await isRemoved(file, job.id)) stop.abort(new JobRemoved());
    } catch (error) {
      notice(`A running job could not be renewed: ${describeError(error)}`);
    }
  }

  /** Updates jobs.json with the ended runs. Calls during an update share the next one. */
  #settle(): Promise<void> {
    this.#nextSettle ??= this.#settling
      .catch(() => undefined)
      .then(() => {
        this.#settling = this.#nextSettle ?? Promise.resolve();
        this.#nextSettle = undefined;
        return this.#updateJobs();
      });
    return this.#nextSettle;
  }

  async #updateJobs(): Promise<void> {
    const { file, ledger, zone } = this.#options;
    const ended = await ledger.unsettled();
    if (ended.length === 0) return;
    const outcome = await file.changeBetweenTicks(async (jobs) => {
      const settled = settleRuns(jobs, ended, zone());
      const changed = settled.some((job, index) => job !== jobs[index]);
      return changed ? { jobs: settled, result: undefined } : { result: undefined };
    });
    // While v0.14 holds the file, the runs stay unsettled until the next call.
    if (outcome !== "held") await ledger.settle(ended.map((run) => run.id));
  }

  async #settleAndAlert(): Promise<void> {
    const { file, ledger, now, alert, notice } = this.#options;
    await this.#settle();
    const due = await ledger.takeAlerts(now(), ALERT_LEASE_MS);
    if (due.length === 0) return;
    const jobs = await file.list();
    for (const run of due) {
      try {
        const job = jobs.find((entry) => entry.id === run.jobId);
        await ledger.alertSent(run.id, await alert(run, job));
      } catch (error) {
        notice(`The alert about the job ${run.jobName} could not be sent: ${describeError(error)}`);
      }
    }
  }
}

function correctionText(jobs: readonly Job[]): string {
  const names = jobs.slice(0, 5).map((job) => `${job.name} (${job.next_run_at})`);
  const more = jobs.length > 5 ? ` and ${jobs.length - 5} more` : "";
  return `The due times of ${jobs.length} scheduled jobs were later than their schedules say, for example because the clock was set back. They are now due at: ${names.join(", ")}${more}`;
}

/** False when the file cannot be read at the moment. */
async function isRemoved(file: JobFile, id: string): Promise<boolean> {
  const jobs = await file.list().catch(() => undefined);
  return jobs !== undefined && !jobs.some((job) => job.id === id);
}

function describeError(error: unknown): string {
  if (error instanceof UserError && error.hint) return `${error.message} ${error.hint}`;
  return errorMessage(error);
}
