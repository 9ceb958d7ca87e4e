// Converts between instants and the wall-clock times of a time zone.

/** A wall-clock time, as the milliseconds of the same time in UTC. */
export type Wall = number;

const FORMATS = new Map<string, Intl.DateTimeFormat>();
const DAY = 86_400_000;

function dateFormat(zone: string): Intl.DateTimeFormat {
  let format = FORMATS.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
    FORMATS.set(zone, format);
  }
  return format;
}

export function isZone(zone: string): boolean {
  try {
    dateFormat(zone);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The time zone of the machine. */
export function hostZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** `03/08/2026, 03:00:00` → wall time. */
const FORMATTED = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+):(\d+)$/;

export function wallAt(instant: number, zone: string): Wall {
  if (zone === "UTC") return instant;
  const whole = Math.floor(instant / 1000) * 1000;
  const parts = FORMATTED.exec(dateFormat(zone).format(whole));
  if (!parts) throw new Error(`the time in ${zone} cannot be parsed`);
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = parts.slice(1).map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second) + (instant - whole);
}

/** Milliseconds that the zone is ahead of UTC. */
export function offsetAt(instant: number, zone: string): number {
  return wallAt(instant, zone) - instant;
}

/** The instants of a wall-clock time, earliest first: none in a gap, two in an overlap. */
export function instantsFor(wall: Wall, zone: string): number[] {
  const offsets = new Set([offsetAt(wall - DAY, zone), offsetAt(wall + DAY, zone)]);
  return [...offsets]
    .map((offset) => wall - offset)
    .filter((instant) => wallAt(instant, zone) === wall)
    .sort((a, b) => a - b);
}

/** The first instant after the gap that contains `wall`. */
export function endOfGap(wall: Wall, zone: string): number {
  let before = wall - offsetAt(wall - DAY, zone) - DAY;
  let after = before + 2 * DAY;
  // Binary search for the first instant whose wall-clock time is after `wall`.
  while (after - before > 1000) {
    const middle = before + Math.floor((after - before) / 2000) * 1000;
    if (wallAt(middle, zone) > wall) after = middle;
    else before = middle;
  }
  return after;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

/** The instant in the zone: `2026-03-08T09:00:00-04:00`. */
export function isoIn(instant: number, zone: string): string {
  const offset = Math.round(offsetAt(instant, zone) / 60_000);
  const text = new Date(wallAt(instant, zone)).toISOString().replace(/\.000Z$|Z$/, "");
  const size = Math.abs(offset);
  return `${text}${offset < 0 ? "-" : "+"}${twoDigits(Math.floor(size / 60))}:${twoDigits(size % 60)}`;
}

/** The instant in the zone, for file names: `2026-03-08_09-00-00`. */
export function stampIn(instant: number, zone: string): string {
  return new Date(wallAt(instant, zone)).toISOString().slice(0, 19).replace("T", "_").replaceAll(":", "-");
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i;

function isRealDate(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** Parses a timestamp; without an offset it is a time in the zone. Undefined when it is not a valid one. */
export function parseIso(text: string, zone: string): number | undefined {
  const match = ISO.exec(text.trim());
  if (!match) return undefined;
  const parts = match.slice(1, 7).map((part) => Number(part ?? 0));
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  if (!isRealDate(year, month, day) || hour > 23 || minute > 59 || second > 59) return undefined;
  const wall = Date.UTC(year, month - 1, day, hour, minute, second) + Math.floor(Number(`0.${match[7] ?? "0"}`) * 1000);
  const offset = match[8];
  if (offset === undefined) return instantsFor(wall, zone)[0] ?? endOfGap(wall, zone);
  if (offset.toUpperCase() === "Z") return wall;
  const [hours = 0, minutes = 0] = [offset.slice(1, 3), offset.slice(-2)].map(Number);
  return wall - (offset.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
