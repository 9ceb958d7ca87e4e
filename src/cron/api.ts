// What `hermes cron` shows: jobs, their next runs, their history, and the processes that run them.
import { UserError } from "../core/failure.ts";
import type { Job, JobRun, TickerHeartbeat } from "../core/job.ts";
import type { JsonObject } from "../core/message.ts";
import type { Cron, JobRepository } from "./job-repository.ts";

export type { Cron, JobRepository };

const GATEWAY_START_MS = 30_000;

/** Sends a command to the running gateway; null when none runs. */
export type AskGateway = (command: `run-job ${string}`, timeoutMs: number) => Promise<JsonObject | null>;

/** Asks the running gateway to start the job, so that the run outlives this process. The id of the run; undefined without a gateway. */
export async function startInGateway(askGateway: AskGateway, id: string): Promise<number | undefined> {
  const answer = await askGateway(`run-job ${id}`, GATEWAY_START_MS);
  if (typeof answer?.problem === "string")
    throw new UserError(answer.problem, { hint: typeof answer.hint === "string" ? answer.hint : undefined });
  return typeof answer?.run === "number" ? answer.run : undefined;
}

export interface UpcomingRun {
  readonly job: Job;
  /** ISO, in the job's zone. */
  readonly at: string;
  /** Its time has passed, and no process has started it yet. */
  readonly overdue: boolean;
}

/** The next times; empty for an invalid schedule. */
function nextTimes(first: number, count: number, next: (at: number) => number | undefined): number[] {
  const times: number[] = [];
  try {
    for (let at: number | undefined = first; at !== undefined && times.length < count; at = next(at)) times.push(at);
  } catch {
    return [];
  }
  return times;
}

/** The next times of one job or of all, soonest first. Changes nothing. */
export async function upcomingRuns(
  repository: JobRepository,
  options: { readonly job?: string | undefined; readonly count: number },
): Promise<readonly UpcomingRun[]> {
  const [{ correctedDue }, { nextAfter }, { isoIn, parseIso }] = await Promise.all([
    import("./schedule/due-time.ts"),
    import("./schedule/schedule.ts"),
    import("./schedule/zone.ts"),
  ]);
  const all =
    options.job === undefined ? await repository.actions.list() : [await repository.actions.find(options.job)];
  const now = Date.now();
  const found: { job: Job; at: number }[] = [];
  for (const job of all) {
    const isActive = job.next_run_at !== null && job.enabled && job.state !== "error";
    const stored = isActive ? parseIso(job.next_run_at, repository.zone()) : undefined;
    const due = isActive ? await correctedDue(job, { now, zone: repository.zone() }, repository.ledger) : undefined;
    const first = due?.at ?? stored;
    if (first === undefined) continue;
    const left = job.repeat.times === null ? options.count : job.repeat.times - job.repeat.completed;
    // The times between an overdue run and now are missed, so the next one is after now.
    const next = (at: number) => nextAfter(job.schedule, Math.max(at, now), { zone: repository.zone(), from: first });
    for (const at of nextTimes(first, Math.min(options.count, left), next)) found.push({ job, at });
  }
  const jobZone = (job: Job) =>
    job.schedule.kind === "cron" ? (job.schedule.tz ?? repository.zone()) : repository.zone();
  return found
    .sort((a, b) => a.at - b.at)
    .slice(0, options.count)
    .map(({ job, at }) => ({ job, at: isoIn(at, jobZone(job)), overdue: at <= now }));
}

export interface CronStatus {
  readonly alive: boolean;
  /** Why no process runs jobs, and what to do. */
  readonly problem: string | null;
  readonly tickers: readonly (TickerHeartbeat & { readonly lives: "yes" | "no" | "unknown" })[];
  readonly jobs: number;
  readonly active: number;
  readonly running: readonly JobRun[];
  readonly next: UpcomingRun | null;
  /** Jobs whose stored due time is later than their schedule says; the next tick corrects it. */
  readonly tooLate: readonly Job[];
  /** Jobs that do not run until they are corrected. */
  readonly aside: readonly Job[];
  /** Failed runs and deliveries of the last seven days, newest first. */
  readonly failures: readonly JobRun[];
}

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const FAILED_STATES: readonly JobRun["state"][] = ["failed", "skipped", "abandoned"];

function hasFailed(run: JobRun): boolean {
  return FAILED_STATES.includes(run.state) || run.deliveryError !== null;
}

export async function cronStatus(repository: JobRepository): Promise<CronStatus> {
  const jobs = await repository.actions.list();
  const [next] = await upcomingRuns(repository, { count: 1 });
  const recent = await repository.ledger.history({ limit: 200 });
  const problem = await repository.tickerProblem();
  const heartbeats = await repository.ledger.listHeartbeats();
  const { correctedDue } = await import("./schedule/due-time.ts");
  const clock = { now: Date.now(), zone: repository.zone() };
  const tooLate: Job[] = [];
  for (const job of jobs)
    if (job.enabled && job.state !== "error" && (await correctedDue(job, clock, repository.ledger))) tooLate.push(job);
  return {
    alive: problem === undefined,
    problem: problem ?? null,
    tickers: heartbeats
      .map((sign) => ({ ...sign, lives: repository.owners.lives(sign.owner) }))
      // A container has a new host name after each start, so its old tickers stay "unknown": they are dropped after a day.
      .filter(({ lives, tickedAt }) => lives !== "unknown" || Date.now() - tickedAt < DAY_MS),
    jobs: jobs.length,
    active: jobs.filter((job) => job.enabled && job.state !== "error").length,
    running: await repository.ledger.open(),
    next: next ?? null,
    tooLate,
    aside: jobs.filter((job) => job.state === "error"),
    failures: recent.filter((run) => hasFailed(run) && run.claimedAt > Date.now() - WEEK_MS).slice(0, 10),
  };
}
