// Schedules: from what a person writes to the instants at which a job is due.
import { UserError } from "../core/failure.ts";
import type { Schedule } from "../core/job.ts";
import { type CronExpression, parseCron } from "./cron-expression.ts";
import { endOfGap, instantsFor, isoIn, offsetAt, parseIso, wallAt } from "./zone.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
/** A one-off that is later than this is missed. */
export const ONCE_GRACE_MS = 120_000;
const MAX_GRACE_MS = 7_200_000;

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(?:m|min|mins|minute|minutes)$/, 1],
  [/^(?:h|hr|hrs|hour|hours)$/, 60],
  [/^(?:d|day|days)$/, 1440],
];

const FORMS = `Accepted forms:
  30m, 2h, 1d              once, after that time
  every 30m, every 2h      again and again
  0 9 * * 1-5              cron: minute, hour, day, month, weekday, in numbers
  2027-01-15T09:00         once, at that time`;

/** Minutes of `30m`, `2 hours`, `1d`; undefined when it is no duration. */
function minutesOf(text: string): number | undefined {
  const match = /^(\d+)\s*([a-z]+)$/.exec(text.trim().toLowerCase());
  const unit = UNITS.find(([names]) => names.test(match?.[2] ?? ""));
  return match && unit ? Number(match[1]) * unit[1] : undefined;
}

function wrong(text: string, why: string): UserError {
  return new UserError(`"${text}" is not a schedule: ${why}.`, { hint: FORMS, exitCode: 2 });
}

function positive(text: string, minutes: number): number {
  if (minutes < 1) throw wrong(text, "the time must be at least one minute");
  // A hundred years; more would leave the range of dates.
  if (minutes > 52_560_000) throw wrong(text, "the time is longer than a hundred years");
  return minutes;
}

export interface ScheduleFrame {
  readonly now: number;
  /** Whose wall clock is meant. */
  readonly zone: string;
}

function looksLikeCron(fields: readonly string[]): boolean {
  return fields.length >= 5 && fields.slice(0, 5).every((field) => /^[\d*,/-]+$/.test(field));
}

/** Five fields of which one names a day or a month. */
function namesDays(fields: readonly string[]): boolean {
  return fields.length === 5 && fields.every((field) => /^(?:[\d*,/-]|[a-z]{3})+$/i.test(field));
}

function cronSchedule(text: string, frame: ScheduleFrame): Schedule {
  const expr = text.split(/\s+/).join(" ");
  let parsed: CronExpression;
  try {
    parsed = parseCron(expr);
  } catch (error) {
    throw wrong(text, error instanceof Error ? error.message : String(error));
  }
  if (parsed.next(wallAt(frame.now, frame.zone)) === undefined) throw wrong(text, "it never comes");
  return { kind: "cron", expr, display: expr, tz: frame.zone };
}

function onceAt(instant: number, display: string, frame: ScheduleFrame): Schedule {
  return { kind: "once", run_at: isoIn(instant, frame.zone), display };
}

/** Throws UserError with the accepted forms. */
export function parseSchedule(given: string, frame: ScheduleFrame): Schedule {
  const text = given.trim();
  const every = /^every\s+(.+)$/i.exec(text);
  if (every) {
    const minutes = minutesOf(every[1] ?? "");
    if (minutes === undefined) throw wrong(text, "after `every` comes a time such as 30m, 2h or 1d");
    return { kind: "interval", minutes: positive(text, minutes), display: `every ${shortTime(minutes)}` };
  }
  const fields = text.split(/\s+/);
  if (looksLikeCron(fields)) return cronSchedule(text, frame);
  if (namesDays(fields)) throw wrong(text, "days and months are written in numbers (0 or 7 is Sunday, 1 is Monday)");
  if (/^\d{4}-\d{2}-\d{2}/.test(text) || /^\S*\dT\d/.test(text)) {
    const instant = parseIso(text, frame.zone);
    if (instant === undefined) throw wrong(text, "it is no date that exists");
    if (instant < frame.now - ONCE_GRACE_MS) throw wrong(text, "it is in the past");
    return onceAt(instant, `once at ${isoIn(instant, frame.zone).slice(0, 16).replace("T", " ")}`, frame);
  }
  const minutes = minutesOf(text);
  if (minutes !== undefined) {
    return onceAt(frame.now + positive(text, minutes) * MINUTE, `once in ${shortTime(minutes)}`, frame);
  }
  throw wrong(text, "it has none of the accepted forms");
}

function shortTime(minutes: number): string {
  if (minutes % 1440 === 0) return `${minutes / 1440}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}

const PARSED = new Map<string, CronExpression>();

/** Throws a plain Error for an expression that does not parse: a file may hold anything. */
function expressionOf(expr: string): CronExpression {
  let parsed = PARSED.get(expr);
  if (!parsed) {
    parsed = parseCron(expr);
    if (PARSED.size > 500) PARSED.clear();
    PARSED.set(expr, parsed);
  }
  return parsed;
}

function sameDay(a: number, b: number): boolean {
  return Math.floor(a / DAY) === Math.floor(b / DAY);
}

/**
 * The instants of one time on the wall. Where hours are named, each time of day happens once: in a gap at the first
 * instant after it (of the same day), in an overlap at the first of the two. Where hours are stepped over, the clock
 * is followed: what the gap swallowed is left out, and the doubled hour runs twice.
 */
function timesOf(wall: number, namesHours: boolean, zone: string): number[] {
  const instants = instantsFor(wall, zone);
  if (!namesHours) return instants;
  if (instants.length > 0) return instants.slice(0, 1);
  const late = endOfGap(wall, zone);
  return sameDay(wallAt(late, zone), wall) ? [late] : [];
}

const CALM = new Map<string, number | null>();

/** The zone's offset, when its clock does not change within a day of the instant's day; remembered. */
function calmOffset(instant: number, zone: string): number | null {
  const day = Math.floor(instant / DAY);
  const key = `${day} ${zone}`;
  const known = CALM.get(key);
  if (known !== undefined) return known;
  const before = offsetAt((day - 1) * DAY, zone);
  const found = offsetAt((day + 2) * DAY, zone) === before ? before : null;
  if (CALM.size > 20_000) CALM.clear();
  CALM.set(key, found);
  return found;
}

function nextCron(expression: CronExpression, after: number, zone: string): number | undefined {
  const offset = calmOffset(after, zone);
  const wall = expression.next(offset === null ? wallAt(after, zone) : after + offset);
  if (wall === undefined) return undefined;
  // The wall's own day is within a day of the instant's, whatever the zone.
  const there = calmOffset(wall, zone);
  return offset === null || there === null ? nextNearChange(expression, after, zone) : wall - there;
}

/** Near a change of the clock times on the wall are not in order: a few more are looked at. */
function nextNearChange(expression: CronExpression, after: number, zone: string): number | undefined {
  const jump = Math.abs(offsetAt(after - DAY, zone) - offsetAt(after + DAY, zone));
  let best: number | undefined;
  let wall = expression.next(wallAt(after, zone) - jump - 1);
  for (let seen = 0; wall !== undefined && seen < 20_000; seen++) {
    const ahead = Math.max(offsetAt(wall - DAY, zone), offsetAt(wall, zone), offsetAt(wall + DAY, zone));
    if (best !== undefined && wall - ahead > best) break;
    for (const instant of timesOf(wall, expression.namesHours, zone)) {
      if (instant > after && (best === undefined || instant < best)) best = instant;
    }
    wall = expression.next(wall);
  }
  return best;
}

/** What a schedule needs to know besides itself. */
export interface Anchor {
  /** The zone for cron expressions that name none. */
  readonly zone: string;
  /** An earlier occurrence: intervals keep its phase. */
  readonly from: number;
}

/** The first instant after `after`; undefined when there is none. Throws a plain Error for a broken schedule. */
export function nextAfter(schedule: Schedule, after: number, anchor: Anchor): number | undefined {
  switch (schedule.kind) {
    case "once": {
      const at = parseIso(schedule.run_at, anchor.zone);
      if (at === undefined) throw new Error(`the time "${schedule.run_at}" cannot be read`);
      return at > after ? at : undefined;
    }
    case "interval": {
      const step = schedule.minutes * MINUTE;
      if (!(step >= 1)) throw new Error(`the interval of ${String(schedule.minutes)} minutes cannot be used`);
      return anchor.from > after ? anchor.from : anchor.from + (Math.floor((after - anchor.from) / step) + 1) * step;
    }
    case "cron":
      return nextCron(expressionOf(schedule.expr), after, schedule.tz ?? anchor.zone);
    default:
      throw new Error(`schedules of kind "${String((schedule as { kind?: unknown }).kind)}" are not known`);
  }
}

/** When a new or resumed job is due first. */
export function firstRun(schedule: Schedule, now: number, zone: string): number | undefined {
  if (schedule.kind === "once") return nextAfter(schedule, now - ONCE_GRACE_MS, { zone, from: now });
  return nextAfter(schedule, now, { zone, from: now });
}

/** How late an occurrence may start: half the time to the next one, at least two minutes and at most two hours. */
export function gracePeriod(schedule: Schedule, occurrence: number, zone: string): number {
  if (schedule.kind === "once") return ONCE_GRACE_MS;
  const next = nextAfter(schedule, occurrence, { zone, from: occurrence });
  const period = next === undefined ? 0 : next - occurrence;
  return Math.min(MAX_GRACE_MS, Math.max(ONCE_GRACE_MS, period / 2));
}
