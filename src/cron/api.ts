// What `hermes cron` does: jobs, their next times, their history, and the state of whoever runs them.
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import type { Job, JobRun, TickerSign } from "../core/job.ts";
import type { Cron, JobRepository } from "./job-repository.ts";

const GATEWAY_START_MS = 30_000;

/** Runs the work with the jobs open and closes the ledger whatever happens. Nothing here runs a job. */
export async function withJobs<T>(home: Home, work: (repository: JobRepository) => Promise<T>): Promise<T> {
  const [{ openJobRepository }, { openSettings }] = await Promise.all([
    import("../app/open-cron.ts"),
    import("../config/api.ts"),
  ]);
  const { config } = await openSettings(home).load();
  const deliverer = () => Promise.reject(new Error("nothing is delivered by looking"));
  const repository = await openJobRepository({ home, config, deliverer });
  try {
    return await work(repository);
  } finally {
    repository.close();
  }
}

/** Runs the work with a whole program behind the jobs: they can be checked against platforms, and run. */
export async function withCron<T>(
  home: Home,
  options: { onNotice(text: string): void },
  work: (cron: Cron) => Promise<T>,
): Promise<T> {
  const { openApp } = await import("../app/compose.ts");
  const app = await openApp(home, options);
  try {
    return await work(await app.cron());
  } finally {
    await app.close();
  }
}

/** Asks the running gateway to start the job: the run then outlives this program. Undefined when no gateway does it. */
export async function startInGateway(home: Home, id: string): Promise<number | undefined> {
  const { askGateway } = await import("../gateway-control/gateway-process.ts");
  const answer = await askGateway(home, `run-job ${id}`, GATEWAY_START_MS);
  if (typeof answer?.problem === "string")
    throw new UserError(answer.problem, typeof answer.hint === "string" ? { hint: answer.hint } : {});
  return typeof answer?.run === "number" ? answer.run : undefined;
}

export interface UpcomingRun {
  readonly job: Job;
  /** ISO, in the job's zone. */
  readonly at: string;
  /** Its time has passed, and nothing has looked at it yet. */
  readonly overdue: boolean;
}

/** Empty for a schedule that cannot be evaluated: such a job is put aside when its time comes. */
function series(first: number, count: number, next: (at: number) => number | undefined): number[] {
  const times: number[] = [];
  try {
    for (let at: number | undefined = first; at !== undefined && times.length < count; at = next(at)) times.push(at);
  } catch {
    return [];
  }
  return times;
}

/** The next times of one job or of all, soonest first. Looking changes nothing. */
export async function upcomingRuns(
  repository: JobRepository,
  options: { readonly job?: string | undefined; readonly count: number },
): Promise<readonly UpcomingRun[]> {
  const [{ correctedDue }, { nextAfter }, { isoIn, parseIso }] = await Promise.all([
    import("./due-time.ts"),
    import("./schedule.ts"),
    import("./zone.ts"),
  ]);
  const all =
    options.job === undefined ? await repository.actions.list() : [await repository.actions.find(options.job)];
  const now = Date.now();
  const found: { job: Job; at: number }[] = [];
  for (const job of all) {
    const live = job.next_run_at !== null && job.enabled && job.state !== "error";
    const stored = live ? parseIso(job.next_run_at, repository.zone()) : undefined;
    const due = live ? await correctedDue(job, { now, zone: repository.zone() }, repository.ledger) : undefined;
    const first = due?.at ?? stored;
    if (first === undefined) continue;
    const left = job.repeat.times === null ? options.count : job.repeat.times - job.repeat.completed;
    // After one that is overdue come those from now on: what lies between is missed.
    const next = (at: number) => nextAfter(job.schedule, Math.max(at, now), { zone: repository.zone(), from: first });
    for (const at of series(first, Math.min(options.count, left), next)) found.push({ job, at });
  }
  const zoneOf = (job: Job) =>
    job.schedule.kind === "cron" ? (job.schedule.tz ?? repository.zone()) : repository.zone();
  return found
    .sort((a, b) => a.at - b.at)
    .slice(0, options.count)
    .map(({ job, at }) => ({ job, at: isoIn(at, zoneOf(job)), overdue: at <= now }));
}

export interface CronStatus {
  readonly alive: boolean;
  /** What to do when nothing runs jobs. */
  readonly problem: string | null;
  readonly tickers: readonly (TickerSign & { readonly lives: "yes" | "no" | "unknown" })[];
  readonly jobs: number;
  readonly active: number;
  readonly running: readonly JobRun[];
  readonly next: UpcomingRun | null;
  /** Jobs whose stored due time is further ahead than their schedule says; the next tick corrects it. */
  readonly tooLate: readonly Job[];
  /** Jobs that cannot go on until somebody changes them. */
  readonly aside: readonly Job[];
  /** Runs of the last seven days that went wrong, newest first. */
  readonly failures: readonly JobRun[];
}

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const BAD: readonly JobRun["state"][] = ["failed", "skipped", "abandoned"];

function wentWrong(run: JobRun): boolean {
  return BAD.includes(run.state) || run.deliveryError !== null;
}

export async function cronStatus(repository: JobRepository): Promise<CronStatus> {
  const jobs = await repository.actions.list();
  const [next] = await upcomingRuns(repository, { count: 1 });
  const recent = await repository.ledger.history({ limit: 200 });
  const problem = await repository.tickerProblem();
  const signs = await repository.ledger.signs();
  const { correctedDue } = await import("./due-time.ts");
  const frame = { now: Date.now(), zone: repository.zone() };
  const tooLate: Job[] = [];
  for (const job of jobs)
    if (job.enabled && job.state !== "error" && (await correctedDue(job, frame, repository.ledger))) tooLate.push(job);
  return {
    alive: problem === undefined,
    problem: problem ?? null,
    tickers: signs
      .map((sign) => ({ ...sign, lives: repository.owners.lives(sign.owner) }))
      // A container has another name after each start: what was silent for a day is gone, not unknown.
      .filter(({ lives, tickedAt }) => lives !== "unknown" || Date.now() - tickedAt < DAY_MS),
    jobs: jobs.length,
    active: jobs.filter((job) => job.enabled && job.state !== "error").length,
    running: await repository.ledger.open(),
    next: next ?? null,
    tooLate,
    aside: jobs.filter((job) => job.state === "error"),
    failures: recent.filter((run) => wentWrong(run) && run.claimedAt > Date.now() - WEEK_MS).slice(0, 10),
  };
}
