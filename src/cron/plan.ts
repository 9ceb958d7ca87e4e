// What is due: for one job and one moment, which occurrence runs, which ones were missed, and what comes next. Pure.
import type { Job, JobRun, MissedRuns } from "../core/job.ts";
import { gracePeriod, nextAfter } from "./schedule.ts";
import { isoIn, parseIso } from "./zone.ts";

/** Missed occurrences that get a row of their own; older ones share one. */
const OWN_ROWS = 200;
const MAX_WALK = 2000;
export const DEFAULT_CATCH_UP_LIMIT = 10;
export const MAX_CATCH_UP_LIMIT = 100;

export interface Plan {
  readonly missed: readonly MissedRuns[];
  readonly run?: { readonly occurrence: number; readonly trigger: JobRun["trigger"] };
  /** The job's next due time after this; null when there is none. */
  readonly next: number | null;
}

export interface PlanFrame {
  readonly now: number;
  readonly zone: string;
  /** Since when a run of this job has been going on. */
  readonly busySince?: number | undefined;
}

interface Due {
  /** Oldest first; the newest `MAX_WALK` at most. */
  readonly occurrences: readonly number[];
  /** Occurrences before those, too many to name. */
  readonly earlier?: { readonly from: number; readonly until: number; readonly count: number };
}

function walk(job: Job, from: number, frame: PlanFrame): number[] {
  const found: number[] = [];
  let at: number | undefined = from;
  while (at !== undefined && at <= frame.now && found.length < MAX_WALK) {
    found.push(at);
    at = nextAfter(job.schedule, at, { zone: frame.zone, from });
  }
  return found;
}

/** Every occurrence from the stored due time until now. */
function dueOccurrences(job: Job, first: number, frame: PlanFrame): Due {
  const head = walk(job, first, frame);
  const last = head.at(-1) ?? first;
  if (head.length < MAX_WALK) return { occurrences: head };
  const period = Math.max(1000, (last - first) / (head.length - 1));
  const tailFrom = nextAfter(job.schedule, frame.now - period * (MAX_WALK / 4), { zone: frame.zone, from: first });
  const tail = tailFrom === undefined || tailFrom <= last ? [] : walk(job, tailFrom, frame);
  const tailStart = tail[0];
  if (tailStart === undefined) return { occurrences: head };
  const until = tailStart - 1;
  return { occurrences: tail, earlier: { from: first, until, count: Math.round((until - first) / period) + 1 } };
}

/** Why an occurrence did not run, and whether that is news. */
type Verdict = (occurrence: number) => { readonly reason: string; readonly news: boolean };

/** Of several occurrences that were missed together only the newest is told, for all of them. */
function missedRows(due: Due, missed: readonly number[], verdict: Verdict): MissedRuns[] {
  const own = missed.slice(-OWN_ROWS);
  const shared = missed.slice(0, missed.length - own.length);
  const told = missed.findLast((occurrence) => verdict(occurrence).news);
  const before = (due.earlier?.count ?? 0) + missed.indexOf(told ?? 0);
  const more = before > 0 ? `; with those before it ${before + 1} runs were missed` : "";
  const rows: MissedRuns[] = own.map((occurrence) => ({
    occurrence,
    until: occurrence,
    count: 1,
    reason: `${verdict(occurrence).reason}${occurrence === told ? more : ""}`,
    alert: occurrence === told,
  }));
  const from = due.earlier?.from ?? shared[0];
  if (from === undefined) return rows;
  const until = shared.at(-1) ?? due.earlier?.until ?? from;
  const count = shared.length + (due.earlier?.count ?? 0);
  return [{ occurrence: from, until, count, reason: verdict(from).reason, alert: told === undefined }, ...rows];
}

function lateness(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} d`;
}

function splitByPolicy(job: Job, occurrences: readonly number[], frame: PlanFrame) {
  const isFresh = (at: number) => frame.now - at <= gracePeriod(job.schedule, at, frame.zone);
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

function verdictOn(job: Job, at: number, about: { frame: PlanFrame; why: string }): ReturnType<Verdict> {
  const { frame, why } = about;
  const late = lateness(frame.now - at);
  const busy = frame.busySince;
  if (busy !== undefined && busy <= at) {
    const reason = `the run that began at ${isoIn(busy, frame.zone)} was still going on when its time had passed`;
    // One long run may cover many occurrences: the first is news.
    return { reason, news: nextAfter(job.schedule, busy, { zone: frame.zone, from: at }) === at };
  }
  if (frame.now - at <= gracePeriod(job.schedule, at, frame.zone))
    return { reason: "a newer occurrence was due at the same moment", news: false };
  if (why !== "") return { reason: `missed by ${late}; ${why}`, news: true };
  return { reason: `missed: nothing ran jobs at that time (noticed ${late} later)`, news: true };
}

/** Null when nothing is due. Throws a plain Error for a schedule that cannot be evaluated. */
export function planJob(job: Job, frame: PlanFrame): Plan | null {
  const first = job.next_run_at === null ? undefined : parseIso(job.next_run_at, frame.zone);
  if (first === undefined || first > frame.now) return null;
  const due = dueOccurrences(job, first, frame);
  const { kept, why } = splitByPolicy(job, due.occurrences, frame);
  const run = kept[0];
  const missed = due.occurrences.filter((at) => run === undefined || at < run);
  const rows = missedRows(due, missed, (at) => verdictOn(job, at, { frame, why }));
  const busy = frame.busySince;
  // While a run goes on, what may still start in time waits for its end.
  if (busy !== undefined) return rows.length === 0 ? null : { missed: rows, next: run ?? following(job, first, frame) };
  if (run === undefined) return { missed: rows, next: following(job, first, frame) };
  const fresh = frame.now - run <= gracePeriod(job.schedule, run, frame.zone);
  return {
    missed: rows,
    run: { occurrence: run, trigger: fresh ? "schedule" : "catch_up" },
    next: kept[1] ?? following(job, first, frame),
  };
}

function following(job: Job, from: number, frame: PlanFrame): number | null {
  return nextAfter(job.schedule, frame.now, { zone: frame.zone, from }) ?? null;
}
