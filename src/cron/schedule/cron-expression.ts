// Parses cron expressions and finds their wall-clock times. The only file that imports the cron library.
import { Cron } from "croner";
import { errorMessage } from "../../lib/error-message.ts";
import type { Wall } from "./zone.ts";

export interface CronExpression {
  /** The first matching wall-clock time after `wall`; undefined when there is none. */
  next(wall: Wall): Wall | undefined;
  /** True when the hours are listed (`9`, `8-18`) instead of `*`: then each time of day occurs once a day. */
  readonly namesHours: boolean;
}

/** `22-2` means 22, 23, 0, 1 and 2; `22-2/2` every other one of them. */
function expandWrappedRanges(field: string, least: number, most: number): string {
  return field
    .split(",")
    .map((part) => {
      const range = /^(\d+)-(\d+)(?:\/(\d+))?$/.exec(part);
      const [from = 0, to = 0, step = 1] = (range?.slice(1) ?? []).map((text) => Number(text ?? 1));
      if (!range || from <= to || to < least || from > (most === 6 ? 7 : most) || step < 1) return part;
      const size = most - least + 1;
      const values: number[] = [];
      for (let at = from; at <= to + size; at += step) values.push(at > most ? at - size : at);
      return values.join(",");
    })
    .join(",");
}

const BOUNDS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
  [0, 59],
] as const;

/**
 * Five fields: minute, hour, day, month, weekday; a sixth one at the end is the second. Throws a plain Error that says
 * what is wrong. The library computes in UTC; the caller converts time zones.
 */
export function parseCron(text: string): CronExpression {
  const fields = text.trim().split(/\s+/);
  if (fields.length < 5 || fields.length > 6) throw new Error(`it has ${fields.length} fields instead of 5 or 6`);
  const [minute = "", hour = "", day = "", month = "", weekday = "", second = "0"] = fields.map((field, index) =>
    expandWrappedRanges(field, BOUNDS[index]?.[0] ?? 0, BOUNDS[index]?.[1] ?? 59),
  );
  const pattern = [second, minute, hour, day, month, weekday].join(" ");
  let cron: Cron;
  try {
    cron = new Cron(pattern, { utcOffset: 0, mode: "6-part", sloppyRanges: true, paused: true });
  } catch (error) {
    throw new Error(errorMessage(error).replace(/^CronPattern: /, ""));
  }
  return {
    next: (wall) => cron.nextRun(new Date(wall))?.getTime(),
    namesHours: !hour.includes("*"),
  };
}
