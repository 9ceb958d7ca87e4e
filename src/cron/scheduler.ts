// The scheduler: finds what is due, claims it in the ledger before it starts, runs it, and brings every run to its end.
import { UserError } from "../core/failure.ts";
import type { Job, JobLedger, JobRun, RunOutcome } from "../core/job.ts";
import { type ClaimedRun, claimByHand, claimDue } from "./claim.ts";
import type { JobFile } from "./job-file.ts";
import type { Owners } from "./owner.ts";
import { gracePeriod } from "./schedule.ts";
import { settleRuns } from "./settle.ts";
import { Slots } from "./slots.ts";
import { StartGate } from "./start-gate.ts";

/** How a run went; the runner saved the document and delivered the result or the failure. */
export interface JobResult {
  readonly ok: boolean;
  readonly error?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly document?: string | undefined;
  readonly deliveryError?: string | undefined;
  /** Somebody was told about a failure. */
  readonly told: boolean;
}

/** The reason of a stop: nobody waits for the result any more. */
export class JobRemoved extends Error {
  constructor() {
    super("the job was removed while it ran");
  }
}

export interface SchedulerParts {
  readonly file: JobFile;
  readonly ledger: JobLedger;
  readonly owners: Owners;
  /** The zone for schedules that name none. */
  zone(): string;
  now(): number;
  /** Stops when the signal fires. */
  run(job: Job, run: ClaimedRun["run"], signal: AbortSignal): Promise<JobResult>;
  /** Tells the person about a run that went wrong; answers with what went wrong with that. */
  alert(run: JobRun, job: Job | undefined): Promise<string | undefined>;
  notice(text: string): void;
  /** Runs at the same time; 0 for no limit. */
  readonly maxParallel: number;
  readonly leaseMs?: number | undefined;
  readonly renewMs?: number | undefined;
}

export interface TickReport {
  readonly started: number;
  readonly missed: number;
  readonly abandoned: number;
  /** Hermes Agent v0.14 is at the jobs of this home: nothing was started. */
  readonly held: boolean;
}

const LEASE_MS = 45_000;
const RENEW_MS = 10_000;
const FOLLOW_MS = 300;
/** A process that lives keeps its runs this much longer: a laptop that slept has not renewed anything. */
const SLEEP_MS = 600_000;
/** Deliveries have keys, so an alert that is taken over while it is being sent arrives once all the same. */
const ALERT_LEASE_MS = 45_000;

export class Scheduler {
  readonly #parts: SchedulerParts;
  readonly #slots: Slots;
  readonly #gate = new StartGate();
  readonly #active = new Map<number, { readonly stop: AbortController; readonly work: Promise<void> }>();
  #begun = 0;
  #failed = 0;
  #recovering: Promise<number> | undefined;
  #counting: Promise<void> = Promise.resolve();
  #nextCount: Promise<void> | undefined;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
    this.#slots = new Slots(parts.maxParallel);
  }

  /** Runs that this process has begun and not ended. */
  get running(): number {
    return this.#active.size;
  }

  /** Runs of this process since it opened; with a catch-up one tick leads to several. */
  get tally(): { readonly begun: number; readonly failed: number } {
    return { begun: this.#begun, failed: this.#failed };
  }

  /** Starts what is due and returns; `idle` waits for the runs. */
  async tick(): Promise<TickReport> {
    const abandoned = await this.recover();
    const resumed = await this.#beginAgain();
    const { runs, missed, corrected = [], held = false } = await claimDue(this.#claiming());
    if (corrected.length > 0) this.#parts.notice(correctionText(corrected));
    for (const claimed of runs) this.#begin(claimed);
    if (missed > 0) await this.#settleAndTell();
    return { started: runs.length + resumed, missed, abandoned, held };
  }

  async idle(): Promise<void> {
    while (this.#active.size > 0) await Promise.all([...this.#active.values()].map(({ work }) => work));
  }

  /** Starts a job now, whatever its schedule says; answers with the run's number. */
  async startNow(id: string): Promise<number> {
    await this.recover();
    const claimed = await claimByHand(this.#claiming(), id);
    this.#begin(claimed);
    return claimed.run.id;
  }

  /** Runs a job now; resolves when it has ended. */
  async runNow(id: string): Promise<JobRun> {
    const run = await this.startNow(id);
    await this.#active.get(run)?.work;
    return this.#rowOf(id, run);
  }

  /** Waits for the end of a run that another process does; one whose process dies is ended here. */
  async follow(id: string, run: number, signal: AbortSignal): Promise<JobRun> {
    for (;;) {
      const row = await this.#rowOf(id, run);
      if (row.state !== "running" || signal.aborted) return row;
      await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS));
      await this.recover();
    }
  }

  async #rowOf(id: string, run: number): Promise<JobRun> {
    const row = (await this.#parts.ledger.history({ jobId: id, limit: 50 })).find((entry) => entry.id === run);
    if (!row) throw new UserError("The run is not in the ledger any more.");
    return row;
  }

  /** Ends runs whose owner is gone, counts what is not counted, tells what nobody was told. */
  recover(): Promise<number> {
    this.#recovering ??= this.#recover().finally(() => {
      this.#recovering = undefined;
    });
    return this.#recovering;
  }

  /** Interrupts the runs of this process; each still gets its end. */
  async stop(): Promise<void> {
    for (const { stop } of this.#active.values()) stop.abort(new Error("Hermes was shut down before the job was done"));
    await this.idle();
  }

  #claiming() {
    const { file, ledger, zone, now, owners } = this.#parts;
    return { file, ledger, zone, now, owner: owners.self, leaseMs: this.#parts.leaseMs ?? LEASE_MS };
  }

  async #recover(): Promise<number> {
    const { ledger, now } = this.#parts;
    let abandoned = 0;
    const lost = await this.#lostRuns();
    const jobs = lost.length > 0 ? await this.#parts.file.list() : [];
    for (const run of lost) {
      if (this.#mayBegin(run, jobs)) continue;
      const where = run.startedAt === null ? "before it had begun" : "before it had finished";
      const reason = `the process that ran it ended ${where}; it was not started again`;
      if (await ledger.abandon(run.id, now(), reason)) abandoned += 1;
    }
    await this.#settleAndTell();
    return abandoned;
  }

  async #lostRuns(): Promise<readonly JobRun[]> {
    const open = await this.#parts.ledger.open();
    return open.filter((run) => !this.#active.has(run.id) && this.#isLost(run.owner ?? "", run.leaseUntil));
  }

  /** The job, when a run that was claimed but not begun may begin now: the same rules as for one that nobody claimed. */
  #mayBegin(run: JobRun, jobs: readonly Job[]): Job | undefined {
    if (run.startedAt !== null || run.trigger === "manual") return undefined;
    const job = jobs.find((entry) => entry.id === run.jobId);
    if (!job?.enabled || job.state === "paused" || job.state === "error") return undefined;
    const { now, zone } = this.#parts;
    const inTime = now() - run.occurrence <= gracePeriod(job.schedule, run.occurrence, zone());
    return inTime || (job.catch_up ?? "skip") !== "skip" ? job : undefined;
  }

  /** Begins the runs that a lost process had claimed and, as its rows prove, not begun. */
  async #beginAgain(): Promise<number> {
    const { file, ledger, owners, now } = this.#parts;
    const lost = await this.#lostRuns();
    const jobs = lost.length > 0 ? await file.list() : [];
    let begun = 0;
    for (const run of lost) {
      const job = this.#mayBegin(run, jobs);
      const leaseUntil = now() + (this.#parts.leaseMs ?? LEASE_MS);
      if (!job || !(await ledger.takeOver(run, owners.self, leaseUntil))) continue;
      const { id, occurrence, trigger } = run;
      this.#begin({ job, run: { id, occurrence, trigger }, more: true });
      begun += 1;
    }
    return begun;
  }

  #isLost(owner: string, leaseUntil: number): boolean {
    const lives = this.#parts.owners.lives(owner);
    if (lives === "no") return true;
    return this.#parts.now() > leaseUntil + (lives === "yes" ? SLEEP_MS : 0);
  }

  #begin(claimed: ClaimedRun): void {
    this.#begun += 1;
    const stop = new AbortController();
    const work = this.#work(claimed, stop).finally(() => this.#active.delete(claimed.run.id));
    this.#active.set(claimed.run.id, { stop, work });
  }

  /** Never rejects: trouble with the ledger is noticed, and the row is ended by whoever recovers next. */
  async #work(claimed: ClaimedRun, stop: AbortController): Promise<void> {
    const parts = this.#parts;
    const renewal = setInterval(() => void this.#renew(claimed, stop), parts.renewMs ?? RENEW_MS);
    try {
      await this.#slots.use(() => this.#gate.use(() => this.#performAndRecord(claimed, stop.signal)));
      await this.#settleAndTell();
      if (claimed.more && !stop.signal.aborted) {
        const { runs, missed } = await claimDue(this.#claiming(), claimed.job.id);
        for (const next of runs) this.#begin(next);
        if (missed > 0) await this.#settleAndTell();
      }
    } catch (error) {
      parts.notice(`The job ${claimed.job.name} could not be recorded: ${wordsOf(error)}`);
    } finally {
      clearInterval(renewal);
    }
  }

  async #performAndRecord(claimed: ClaimedRun, signal: AbortSignal): Promise<void> {
    const { ledger, owners } = this.#parts;
    const outcome = await this.#perform(claimed, signal);
    if (outcome.state === "failed") this.#failed += 1;
    await ledger.finish(claimed.run.id, owners.self, outcome);
  }

  async #perform(claimed: ClaimedRun, signal: AbortSignal): Promise<RunOutcome> {
    const { ledger, owners, now, run } = this.#parts;
    let result: JobResult;
    try {
      signal.throwIfAborted();
      if (!(await ledger.started(claimed.run.id, owners.self, now())))
        throw new Error("the run was taken over by another process");
      result = await run(claimed.job, claimed.run, signal);
    } catch (error) {
      result = { ok: false, error: wordsOf(error), told: false };
    }
    const good = claimed.run.trigger === "catch_up" ? "caught_up" : "ran";
    return {
      state: result.ok ? good : "failed",
      now: now(),
      told: result.ok || result.told || signal.reason instanceof JobRemoved,
      ...(result.ok ? {} : { reason: result.error ?? "it failed without saying why" }),
      ...(result.sessionId === undefined ? {} : { sessionId: result.sessionId }),
      ...(result.document === undefined ? {} : { document: result.document }),
      ...(result.deliveryError === undefined ? {} : { deliveryError: result.deliveryError }),
    };
  }

  async #renew({ job, run }: ClaimedRun, stop: AbortController): Promise<void> {
    const { file, ledger, owners, now, leaseMs, notice } = this.#parts;
    try {
      const ours = await ledger.renew(run.id, owners.self, now() + (leaseMs ?? LEASE_MS));
      if (!this.#active.has(run.id)) return;
      if (!ours) stop.abort(new Error("the run was taken for abandoned and given up"));
      else if (await isGone(file, job.id)) stop.abort(new JobRemoved());
    } catch (error) {
      notice(`A running job could not be renewed: ${wordsOf(error)}`);
    }
  }

  /** Runs that end together are counted together: whoever comes while a count goes on shares the next one. */
  #settle(): Promise<void> {
    this.#nextCount ??= this.#counting
      .catch(() => undefined)
      .then(() => {
        this.#counting = this.#nextCount ?? Promise.resolve();
        this.#nextCount = undefined;
        return this.#count();
      });
    return this.#nextCount;
  }

  async #count(): Promise<void> {
    const { file, ledger, zone } = this.#parts;
    const ended = await ledger.unsettled();
    if (ended.length === 0) return;
    const counted = await file.changeBetweenTicks(async (jobs) => {
      const settled = settleRuns(jobs, ended, zone());
      const changed = settled.some((job, index) => job !== jobs[index]);
      return changed ? { jobs: settled, result: undefined } : { result: undefined };
    });
    // They stay uncounted until the next look.
    if (counted !== "held") await ledger.settle(ended.map((run) => run.id));
  }

  async #settleAndTell(): Promise<void> {
    const { file, ledger, now, alert, notice } = this.#parts;
    await this.#settle();
    const due = await ledger.takeAlerts(now(), ALERT_LEASE_MS);
    if (due.length === 0) return;
    const jobs = await file.list();
    for (const run of due) {
      try {
        const job = jobs.find((entry) => entry.id === run.jobId);
        await ledger.alertSent(run.id, await alert(run, job));
      } catch (error) {
        notice(`Nobody could be told about the job ${run.jobName}: ${wordsOf(error)}`);
      }
    }
  }
}

function correctionText(jobs: readonly Job[]): string {
  const names = jobs.slice(0, 5).map((job) => `${job.name} (${job.next_run_at})`);
  const more = jobs.length > 5 ? ` and ${jobs.length - 5} more` : "";
  return `The due times of ${jobs.length} scheduled jobs were further ahead than their schedules say, as after the clock was set back. They are due again at: ${names.join(", ")}${more}`;
}

/** A file that cannot be read at the moment says nothing about its jobs. */
async function isGone(file: JobFile, id: string): Promise<boolean> {
  const jobs = await file.list().catch(() => undefined);
  return jobs !== undefined && !jobs.some((job) => job.id === id);
}

function wordsOf(error: unknown): string {
  if (error instanceof UserError && error.hint) return `${error.message} ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}
