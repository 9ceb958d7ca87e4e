// Decides for one job which occurrence runs now, which ones were missed, and when the next one is due. Pure.
import type { Job, JobRun, MissedRuns } from "../../core/job.ts";
import { gracePeriod, nextAfter } from "./schedule.ts";
import { isoIn, parseIso } from "./zone.ts";

/** How many missed occurrences get their own row; older ones share one. */
const MAX_ROWS = 200;
const MAX_OCCURRENCES = 2000;
export const DEFAULT_CATCH_UP_LIMIT = 10;
export const MAX_CATCH_UP_LIMIT = 100;

export interface Plan {
  readonly missed: readonly MissedRuns[];
  readonly run?: { readonly occurrence: number; readonly trigger: JobRun["trigger"] };
  /** The job's next due time after this; null when there is none. */
  readonly next: number | null;
}

export interface PlanContext {
  readonly now: number;
  readonly zone: string;
  /** The start of the active run of this job. */
  readonly busySince?: number | undefined;
}

interface Due {
  /** Oldest first; the newest `MAX_OCCURRENCES` at most. */
  readonly occurrences: readonly number[];
  /** The occurrences before those, as one group. */
  readonly earlier?: { readonly from: number; readonly until: number; readonly count: number };
}

function occurrencesFrom(job: Job, from: number, context: PlanContext): number[] {
  const found: number[] = [];
  let at: number | undefined = from;
  while (at !== undefined && at <= context.now && found.length < MAX_OCCURRENCES) {
    found.push(at);
    at = nextAfter(job.schedule, at, { zone: context.zone, from });
  }
  return found;
}

/** Every occurrence from the stored due time until now. */
function dueOccurrences(job: Job, first: number, context: PlanContext): Due {
  const head = occurrencesFrom(job, first, context);
  const last = head.at(-1) ?? first;
  if (head.length < MAX_OCCURRENCES) return { occurrences: head };
  const period = Math.max(1000, (last - first) / (head.length - 1));
  const tailFrom = nextAfter(job.schedule, context.now - period * (MAX_OCCURRENCES / 4), {
    zone: context.zone,
    from: first,
  });
  const tail = tailFrom === undefined || tailFrom <= last ? [] : occurrencesFrom(job, tailFrom, context);
  const tailStart = tail[0];
  if (tailStart === undefined) return { occurrences: head };
  const until = tailStart - 1;
  return { occurrences: tail, earlier: { from: first, until, count: Math.round((until - first) / period) + 1 } };
}

/** Why an occurrence did not run, and whether the user should be alerted. */
type Explain = (occurrence: number) => { readonly reason: string; readonly alert: boolean };

/** Of several occurrences that were missed together, only the newest causes an alert, which names their number. */
function missedRows(due: Due, missed: readonly number[], explain: Explain): MissedRuns[] {
  const own = missed.slice(-MAX_ROWS);
  const shared = missed.slice(0, missed.length - own.length);
  const alerted = missed.findLast((occurrence) => explain(occurrence).alert);
  const before = (due.earlier?.count ?? 0) + missed.indexOf(alerted ?? 0);
  const more = before > 0 ? `; with those before it ${before + 1} runs were missed` : "";
  const rows: MissedRuns[] = own.map((occurrence) => ({
    occurrence,
    until: occurrence,
    count: 1,
    reason: `${explain(occurrence).reason}${occurrence === alerted ? more : ""}`,
    alert: occurrence === alerted,
  }));
  const from = due.earlier?.from ?? shared[0];
  if (from === undefined) return rows;
  const until = shared.at(-1) ?? due.earlier?.until ?? from;
  const count = shared.length + (due.earlier?.count ?? 0);
  return [{ occurrence: from, until, count, reason: explain(from).reason, alert: alerted === undefined }, ...rows];
}

function formatDelay(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} d`;
}

function splitByPolicy(job: Job, occurrences: readonly number[], context: PlanContext) {
  const isFresh = (at: number) => context.now - at <= gracePeriod(job.schedule, at, context.zone);
  const policy = job.catch_up ?? "skip";
  if (policy === "skip") {
    const newest = occurrences.at(-1);
    const kept = newest !== undefined && isFresh(newest) ? [newest] : [];
    return { kept, why: "" };
  }
  const limit = policy === "latest" ? 1 : Math.min(MAX_CATCH_UP_LIMIT, job.catch_up_limit ?? DEFAULT_CATCH_UP_LIMIT);
  const why = policy === "latest" ? "a later one is caught up instead" : `the catch-up limit is ${limit}`;
  return { kept: occurrences.slice(-Math.max(1, limit)), why };
}

function explainMissed(job: Job, at: number, about: { context: PlanContext; why: string }): ReturnType<Explain> {
  const { context, why } = about;
  const late = formatDelay(context.now - at);
  const busy = context.busySince;
  if (busy !== undefined && busy <= at) {
    const reason = `the run that began at ${isoIn(busy, context.zone)} was still active when its time had passed`;
    // One long run may cover many occurrences: only the first causes an alert.
    return { reason, alert: nextAfter(job.schedule, busy, { zone: context.zone, from: at }) === at };
  }
  if (context.now - at <= gracePeriod(job.schedule, at, context.zone))
    return { reason: "a newer occurrence was due at the same moment", alert: false };
  if (why !== "") return { reason: `missed by ${late}; ${why}`, alert: true };
  return { reason: `missed: no process ran jobs at that time (noticed ${late} later)`, alert: true };
}

/** Null when nothing is due. Throws a plain Error for an invalid schedule. */
export function planJob(job: Job, context: PlanContext): Plan | null {
  const first = job.next_run_at === null ? undefined : parseIso(job.next_run_at, context.zone);
  if (first === undefined || first > context.now) return null;
  const due = dueOccurrences(job, first, context);
  const { kept, why } = splitByPolicy(job, due.occurrences, context);
  const run = kept[0];
  const missed = due.occurrences.filter((at) => run === undefined || at < run);
  const rows = missedRows(due, missed, (at) => explainMissed(job, at, { context, why }));
  const busy = context.busySince;
  // While a run is active, an occurrence that may still start in time waits for its end.
  if (busy !== undefined)
    return rows.length === 0 ? null : { missed: rows, next: run ?? nextOccurrence(job, first, context) };
  if (run === undefined) return { missed: rows, next: nextOccurrence(job, first, context) };
  const fresh = context.now - run <= gracePeriod(job.schedule, run, context.zone);
  return {
    missed: rows,
    run: { occurrence: run, trigger: fresh ? "schedule" : "catch_up" },
    next: kept[1] ?? nextOccurrence(job, first, context),
  };
}

function nextOccurrence(job: Job, from: number, context: PlanContext): number | null {
  return nextAfter(job.schedule, context.now, { zone: context.zone, from }) ?? null;
}
