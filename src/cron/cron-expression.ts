// A cron expression as the series of its wall-clock times. The only file that knows the cron library.
import { Cron } from "croner";
import type { Wall } from "./zone.ts";

export interface CronExpression {
  /** The first matching wall-clock time after `wall`; undefined when there is none. */
  next(wall: Wall): Wall | undefined;
  /** The hours are named (`9`, `8-18`), not stepped over (`*`): each time on the clock happens once a day. */
  readonly namesHours: boolean;
}

/** `22-2` means 22, 23, 0, 1 and 2; `22-2/2` every other one of them. */
function unrolled(field: string, least: number, most: number): string {
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
 * what is wrong. The library walks the calendar without a zone; zones are our own concern.
 */
export function parseCron(text: string): CronExpression {
  const fields = text.trim().split(/\s+/);
  if (fields.length < 5 || fields.length > 6) throw new Error(`it has ${fields.length} fields instead of 5 or 6`);
  const [minute = "", hour = "", day = "", month = "", weekday = "", second = "0"] = fields.map((field, index) =>
    unrolled(field, BOUNDS[index]?.[0] ?? 0, BOUNDS[index]?.[1] ?? 59),
  );
  const pattern = [second, minute, hour, day, month, weekday].join(" ");
  let cron: Cron;
  try {
    cron = new Cron(pattern, { utcOffset: 0, mode: "6-part", sloppyRanges: true, paused: true });
  } catch (error) {
    throw new Error(error instanceof Error ? error.message.replace(/^CronPattern: /, "") : String(error));
  }
  return {
    next: (wall) => cron.nextRun(new Date(wall))?.getTime(),
    namesHours: !hour.includes("*"),
  };
}
