// The due time of a job, checked against its schedule: after the clock was set back the stored one may lie far too late.
import type { Job, JobLedger } from "../core/job.ts";
import { nextAfter } from "./schedule.ts";
import { parseIso } from "./zone.ts";

const MINUTE = 60_000;
/** A clock that went back by more than this shows other times, not the same ones again. */
const MAX_REPEAT_MS = 3 * 3_600_000;

export interface DueFrame {
  readonly now: number;
  readonly zone: string;
}

/** How far back the clock may go before an occurrence that has run counts as one that comes again. */
function repeatLimit(job: Job, at: number, zone: string): number {
  const next = nextAfter(job.schedule, at, { zone, from: at });
  return Math.min(MAX_REPEAT_MS, next === undefined ? MAX_REPEAT_MS : (next - at) / 2);
}

/** The first occurrence from now on, when the stored due time lies behind it; one-off jobs keep their time. */
function expected(job: Job, stored: number, { now, zone }: DueFrame): number | undefined {
  const { schedule } = job;
  if (schedule.kind === "cron") {
    const next = nextAfter(schedule, now, { zone, from: now });
    return next !== undefined && next < stored ? next : undefined;
  }
  if (schedule.kind !== "interval") return undefined;
  const step = schedule.minutes * MINUTE;
  // The phase of an interval is that of its runs. A small step of the clock does not bring a run forward.
  if (!(step >= 1) || stored <= now + step + Math.min(MAX_REPEAT_MS, step / 2)) return undefined;
  return stored - Math.floor((stored - now - 1) / step) * step;
}

/** Pure and quick: does the stored due time need a look? False for what cannot be read. */
export function isTooLate(job: Job, frame: DueFrame): boolean {
  try {
    const stored = job.next_run_at === null ? undefined : parseIso(job.next_run_at, frame.zone);
    return stored !== undefined && stored > frame.now && expected(job, stored, frame) !== undefined;
  } catch {
    return false;
  }
}

export interface CorrectedDue {
  readonly at: number;
  /** Occurrences from `now` on that ran by the clock before it was set back, and that come again. */
  readonly release: boolean;
}

/**
 * The due time that the schedule gives, or undefined when the stored one is right. Occurrences that ran shortly before
 * a small step back (up to half the time between two, at most three hours) are not run again.
 */
export async function correctedDue(job: Job, frame: DueFrame, ledger: JobLedger): Promise<CorrectedDue | undefined> {
  if (!isTooLate(job, frame)) return undefined;
  const stored = parseIso(job.next_run_at ?? "", frame.zone) ?? frame.now;
  const first = expected(job, stored, frame) ?? stored;
  const ahead = await ledger.ahead(job.id, frame.now);
  const newest = Math.max(...ahead.map((run) => run.claimedAt), Number.NEGATIVE_INFINITY);
  if (newest - frame.now > repeatLimit(job, first, frame.zone)) return { at: first, release: true };
  const done = new Set(ahead.map((run) => run.occurrence));
  let at: number | undefined = first;
  while (at !== undefined && at < stored && done.has(at))
    at = nextAfter(job.schedule, at, { zone: frame.zone, from: at });
  return at === undefined || at >= stored ? undefined : { at, release: false };
}
