// Checks the stored due time of a job against its schedule: after the clock was set back, it may be far too late.
import type { Job, JobLedger } from "../../core/job.ts";
import { nextAfter } from "./schedule.ts";
import { parseIso } from "./zone.ts";

const MINUTE = 60_000;
/** When the clock is set back by more than this, the occurrences that follow are new ones. */
const MAX_REPEAT_MS = 3 * 3_600_000;

export interface Clock {
  readonly now: number;
  readonly zone: string;
}

/** How far the clock may be set back before an occurrence that has run is run again. */
function repeatLimit(job: Job, at: number, zone: string): number {
  const next = nextAfter(job.schedule, at, { zone, from: at });
  return Math.min(MAX_REPEAT_MS, next === undefined ? MAX_REPEAT_MS : (next - at) / 2);
}

/** The next occurrence when the stored due time is later than that. Undefined otherwise, and for one-off jobs. */
function earlierOccurrence(job: Job, stored: number, { now, zone }: Clock): number | undefined {
  const { schedule } = job;
  if (schedule.kind === "cron") {
    const next = nextAfter(schedule, now, { zone, from: now });
    return next !== undefined && next < stored ? next : undefined;
  }
  if (schedule.kind !== "interval") return undefined;
  const step = schedule.minutes * MINUTE;
  // An interval counts from its last run, so a small change of the clock does not move a run.
  if (!(step >= 1) || stored <= now + step + Math.min(MAX_REPEAT_MS, step / 2)) return undefined;
  return stored - Math.floor((stored - now - 1) / step) * step;
}

/** True when the stored due time may be too late. False for values that cannot be parsed. */
export function isTooLate(job: Job, clock: Clock): boolean {
  try {
    const stored = job.next_run_at === null ? undefined : parseIso(job.next_run_at, clock.zone);
    return stored !== undefined && stored > clock.now && earlierOccurrence(job, stored, clock) !== undefined;
  } catch {
    return false;
  }
}

export interface CorrectedDue {
  readonly at: number;
  /** Occurrences after `now` have run already, before the clock was set back, and must be released to run again. */
  readonly release: boolean;
}

/**
 * The due time from the schedule, or undefined when the stored one is right. When the clock was set back by a little (up
 * to half the time between two occurrences, at most three hours), occurrences that have run are not run again.
 */
export async function correctedDue(job: Job, clock: Clock, ledger: JobLedger): Promise<CorrectedDue | undefined> {
  if (!isTooLate(job, clock)) return undefined;
  const stored = parseIso(job.next_run_at ?? "", clock.zone) ?? clock.now;
  const first = earlierOccurrence(job, stored, clock) ?? stored;
  const ahead = await ledger.ahead(job.id, clock.now);
  const newest = Math.max(...ahead.map((run) => run.claimedAt), Number.NEGATIVE_INFINITY);
  if (newest - clock.now > repeatLimit(job, first, clock.zone)) return { at: first, release: true };
  const done = new Set(ahead.map((run) => run.occurrence));
  let at: number | undefined = first;
  while (at !== undefined && at < stored && done.has(at))
    at = nextAfter(job.schedule, at, { zone: clock.zone, from: at });
  return at === undefined || at >= stored ? undefined : { at, release: false };
}
