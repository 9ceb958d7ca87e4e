// Parses schedules and computes the times at which a job is due.
import { UserError } from "../../core/failure.ts";
import type { Schedule } from "../../core/job.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { type CronExpression, parseCron } from "./cron-expression.ts";
import { endOfGap, instantsFor, isoIn, offsetAt, parseIso, wallAt } from "./zone.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
/** A one-off job that is later than this is missed. */
export const ONCE_GRACE_MS = 120_000;
const MAX_GRACE_MS = 7_200_000;

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(?:m|min|mins|minute|minutes)$/, 1],
  [/^(?:h|hr|hrs|hour|hours)$/, 60],
  [/^(?:d|day|days)$/, 1440],
];

const FORMS = `Accepted forms:
  30m, 2h, 1d              once, after that time
  every 30m, every 2h      repeatedly
  0 9 * * MON-FRI          cron: minute, hour, day, month, weekday
  @hourly @daily @weekly @monthly @yearly
  2027-01-15T09:00         once, at that time`;

/** Minutes of `30m`, `2 hours`, `1d`; undefined for anything else. */
function parseMinutes(text: string): number | undefined {
  const match = /^(\d+)\s*([a-z]+)$/.exec(text.trim().toLowerCase());
  const unit = UNITS.find(([names]) => names.test(match?.[2] ?? ""));
  return match && unit ? Number(match[1]) * unit[1] : undefined;
}

function invalid(text: string, why: string): UserError {
  return new UserError(`"${text}" is not a schedule: ${why}.`, { hint: FORMS, exitCode: 2 });
}

function checkMinutes(text: string, minutes: number): number {
  if (minutes < 1) throw invalid(text, "the time must be at least one minute");
  // More than a hundred years would exceed the range of dates.
  if (minutes > 52_560_000) throw invalid(text, "the time is longer than a hundred years");
  return minutes;
}

export interface ScheduleContext {
  readonly now: number;
  /** The time zone of the schedule. */
  readonly zone: string;
}

const SHORT_FORMS: { readonly [word: string]: string } = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

function looksLikeCron(fields: readonly string[]): boolean {
  return fields.length >= 5 && fields.slice(0, 5).every((field) => /^(?:[\d*,/-]|[a-z]{3})+$/i.test(field));
}

/** Names of months and weekdays become numbers, which v0.14 reads too. Sunday at the end of a range is 7. */
function inNumbers(fields: readonly string[]): string[] {
  const month = (name: string) => String(MONTHS.indexOf(name) + 1);
  const weekday = (name: string, before: string) =>
    name === "sun" && before === "-" ? "7" : String(WEEKDAYS.indexOf(name));
  return fields.map((field, index) => {
    const names = index === 3 ? MONTHS : index === 4 ? WEEKDAYS : [];
    return field.toLowerCase().replaceAll(/(-?)([a-z]+)/g, (found, before: string, name: string) => {
      if (!names.includes(name)) return found;
      return `${before}${index === 3 ? month(name) : weekday(name, before)}`;
    });
  });
}

function cronSchedule(text: string, context: ScheduleContext): Schedule {
  const fields = text.split(/\s+/);
  if (fields.length > 5)
    throw invalid(text, "it has more than five fields; jobs start on the minute, so there is no field for seconds");
  const expr = inNumbers(fields).join(" ");
  const word = /[a-z]+/.exec(expr)?.[0];
  if (word !== undefined) throw invalid(text, `"${word}" is not a month or weekday, or not in the field for it`);
  let parsed: CronExpression;
  try {
    parsed = parseCron(expr);
  } catch (error) {
    throw invalid(text, errorMessage(error));
  }
  if (parsed.next(wallAt(context.now, context.zone)) === undefined) throw invalid(text, "it never occurs");
  return { kind: "cron", expr, display: fields.join(" "), tz: context.zone };
}

function onceAt(instant: number, display: string, context: ScheduleContext): Schedule {
  return { kind: "once", run_at: isoIn(instant, context.zone), display };
}

/** Throws UserError with the accepted forms. */
export function parseSchedule(input: string, context: ScheduleContext): Schedule {
  const text = input.trim();
  const every = /^every\s+(.+)$/i.exec(text);
  if (every) {
    const minutes = parseMinutes(every[1] ?? "");
    if (minutes === undefined) throw invalid(text, "after `every` comes a time such as 30m, 2h or 1d");
    return { kind: "interval", minutes: checkMinutes(text, minutes), display: `every ${formatMinutes(minutes)}` };
  }
  const short = SHORT_FORMS[text.toLowerCase()];
  if (short !== undefined) return { ...cronSchedule(short, context), display: text.toLowerCase() };
  if (text.startsWith("@")) throw invalid(text, `after @ comes ${Object.keys(SHORT_FORMS).join(", ")}`);
  if (looksLikeCron(text.split(/\s+/))) return cronSchedule(text, context);
  if (/^\d{4}-\d{2}-\d{2}/.test(text) || /^\S*\dT\d/.test(text)) {
    const instant = parseIso(text, context.zone);
    if (instant === undefined) throw invalid(text, "the date does not exist");
    if (instant < context.now - ONCE_GRACE_MS) throw invalid(text, "it is in the past");
    return onceAt(instant, `once at ${isoIn(instant, context.zone).slice(0, 16).replace("T", " ")}`, context);
  }
  const minutes = parseMinutes(text);
  if (minutes !== undefined) {
    return onceAt(context.now + checkMinutes(text, minutes) * MINUTE, `once in ${formatMinutes(minutes)}`, context);
  }
  throw invalid(text, "the form is not known");
}

function formatMinutes(minutes: number): string {
  if (minutes % 1440 === 0) return `${minutes / 1440}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}

const EXPRESSIONS = new Map<string, CronExpression>();

/** Cached. Throws a plain Error for an invalid expression, which jobs.json may contain. */
function cachedExpression(expr: string): CronExpression {
  let parsed = EXPRESSIONS.get(expr);
  if (!parsed) {
    parsed = parseCron(expr);
    if (EXPRESSIONS.size > 500) EXPRESSIONS.clear();
    EXPRESSIONS.set(expr, parsed);
  }
  return parsed;
}

function sameDay(a: number, b: number): boolean {
  return Math.floor(a / DAY) === Math.floor(b / DAY);
}

/**
 * The instants of one wall-clock time. When the expression lists hours, each time of day occurs once: in a gap at the
 * first instant after it (on the same day), in an overlap at the first of the two. Otherwise a time in a gap does not
 * occur, and a time in an overlap occurs twice.
 */
function occurrencesAt(wall: number, namesHours: boolean, zone: string): number[] {
  const instants = instantsFor(wall, zone);
  if (!namesHours) return instants;
  if (instants.length > 0) return instants.slice(0, 1);
  const late = endOfGap(wall, zone);
  return sameDay(wallAt(late, zone), wall) ? [late] : [];
}

const OFFSETS = new Map<string, number | null>();

/** The offset of the zone; null when it changes within a day of the instant. Cached. */
function stableOffset(instant: number, zone: string): number | null {
  const day = Math.floor(instant / DAY);
  const key = `${day} ${zone}`;
  const known = OFFSETS.get(key);
  if (known !== undefined) return known;
  const before = offsetAt((day - 1) * DAY, zone);
  const found = offsetAt((day + 2) * DAY, zone) === before ? before : null;
  if (OFFSETS.size > 20_000) OFFSETS.clear();
  OFFSETS.set(key, found);
  return found;
}

function nextCron(expression: CronExpression, after: number, zone: string): number | undefined {
  const offset = stableOffset(after, zone);
  const wall = expression.next(offset === null ? wallAt(after, zone) : after + offset);
  if (wall === undefined) return undefined;
  // The wall-clock day is within a day of the instant in every zone.
  const nextOffset = stableOffset(wall, zone);
  return offset === null || nextOffset === null ? nextNearChange(expression, after, zone) : wall - nextOffset;
}

/** Near an offset change, wall-clock times are not in the order of their instants, so several are compared. */
function nextNearChange(expression: CronExpression, after: number, zone: string): number | undefined {
  const jump = Math.abs(offsetAt(after - DAY, zone) - offsetAt(after + DAY, zone));
  let best: number | undefined;
  let wall = expression.next(wallAt(after, zone) - jump - 1);
  for (let seen = 0; wall !== undefined && seen < 20_000; seen++) {
    const ahead = Math.max(offsetAt(wall - DAY, zone), offsetAt(wall, zone), offsetAt(wall + DAY, zone));
    if (best !== undefined && wall - ahead > best) break;
    for (const instant of occurrencesAt(wall, expression.namesHours, zone)) {
      if (instant > after && (best === undefined || instant < best)) best = instant;
    }
    wall = expression.next(wall);
  }
  return best;
}

export interface Anchor {
  /** The time zone for cron expressions that name none. */
  readonly zone: string;
  /** An earlier occurrence, from which intervals are counted. */
  readonly from: number;
}

/** The first instant after `after`; undefined when there is none. Throws a plain Error for an invalid schedule. */
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
      return nextCron(cachedExpression(schedule.expr), after, schedule.tz ?? anchor.zone);
    default:
      throw new Error(`schedules of kind "${String((schedule as { kind?: unknown }).kind)}" are not known`);
  }
}

/** The first due time of a new or resumed job. */
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
