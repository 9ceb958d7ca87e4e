// Computes due times of schedules from a table of offsets, independently of the library that the program uses.

export const ZONES =
  `UTC America/New_York America/Chicago America/Denver America/Los_Angeles America/Anchorage America/Halifax
America/St_Johns America/Sao_Paulo America/Santiago America/Asuncion America/Havana America/Mexico_City America/Bogota
America/Nuuk Atlantic/Azores Europe/London Europe/Dublin Europe/Berlin Europe/Athens Europe/Chisinau Europe/Moscow
Africa/Cairo Africa/Casablanca Africa/Johannesburg Asia/Jerusalem Asia/Beirut Asia/Tehran Asia/Kolkata Asia/Kathmandu
Asia/Shanghai Asia/Tokyo Australia/Sydney Australia/Adelaide Australia/Lord_Howe Pacific/Auckland Pacific/Chatham
Pacific/Norfolk Pacific/Apia Antarctica/Troll`.split(/\s+/);

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
export const START = Date.UTC(2025, 11, 20);
export const END = Date.UTC(2027, 11, 20);

export interface Era {
  readonly from: number;
  readonly offset: number;
}

/** Offsets of a zone as a table, found by sampling every six hours and bisecting. */
export function findEras(zone: string): Era[] {
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  const offset = (at: number): number => {
    const name = format.formatToParts(at).find((part) => part.type === "timeZoneName")?.value ?? "GMT";
    const match = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(name);
    if (!match) throw new Error(name);
    return (match[1] === "-" ? -1 : 1) * (Number(match[2] ?? 0) * 60 + Number(match[3] ?? 0)) * MINUTE;
  };
  const eras = [{ from: Number.NEGATIVE_INFINITY, offset: offset(START - 3 * DAY) }];
  for (let at = START - 3 * DAY; at < END + 3 * DAY; at += 6 * HOUR) {
    const later = at + 6 * HOUR;
    if (offset(later) === offset(at)) continue;
    let [low, high] = [at, later];
    while (high - low > MINUTE) {
      const middle = low + Math.floor((high - low) / 2 / MINUTE) * MINUTE;
      if (offset(middle) === offset(at)) low = middle;
      else high = middle;
    }
    eras.push({ from: high, offset: offset(later) });
  }
  return eras;
}

export interface Wanted {
  readonly expr: string;
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly named: boolean;
  day(date: Date): boolean;
}

const range = (from: number, to: number, step = 1) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);

export const SCHEDULES: readonly Wanted[] = [
  { expr: "0 9 * * *", minutes: [0], hours: [9], named: true, day: () => true },
  { expr: "30 2 * * *", minutes: [30], hours: [2], named: true, day: () => true },
  { expr: "0 0 * * 0,6", minutes: [0], hours: [0], named: true, day: (d) => d.getUTCDay() % 6 === 0 },
  { expr: "15 1,2,3 * * 0", minutes: [15], hours: [1, 2, 3], named: true, day: (d) => d.getUTCDay() === 0 },
  {
    expr: "0 */3 * 3,4,10,11 *",
    minutes: [0],
    hours: range(0, 23, 3),
    named: false,
    day: (d) => [2, 3, 9, 10].includes(d.getUTCMonth()),
  },
  {
    expr: "*/20 * 28-31 3,10 *",
    minutes: [0, 20, 40],
    hours: range(0, 23),
    named: false,
    day: (d) => [2, 9].includes(d.getUTCMonth()) && d.getUTCDate() >= 28,
  },
  {
    expr: "45 1 1-7 3,10,11 0",
    minutes: [45],
    hours: [1],
    named: true,
    day: (d) => [2, 9, 10].includes(d.getUTCMonth()) && (d.getUTCDate() <= 7 || d.getUTCDay() === 0),
  },
];

/** All instants of one wall-clock time, from the table alone. */
function instants(wall: number, eras: readonly Era[], named: boolean): number[] {
  const found: number[] = [];
  for (const [index, era] of eras.entries()) {
    const at = wall - era.offset;
    if (at >= era.from && at < (eras[index + 1]?.from ?? Number.POSITIVE_INFINITY)) found.push(at);
  }
  if (!named) return found;
  if (found.length > 0) return [Math.min(...found)];
  // A skipped time: the clock change that skipped it, if the date still exists after it.
  for (const [index, era] of eras.entries()) {
    const before = eras[index - 1];
    if (!before || wall < era.from + before.offset || wall >= era.from + era.offset) continue;
    const shown = era.from + era.offset;
    return Math.floor(shown / DAY) === Math.floor(wall / DAY) ? [era.from] : [];
  }
  return [];
}

/** Every instant of the schedule after `START` until `END`. */
export function oracle(wanted: Wanted, eras: readonly Era[]): number[] {
  const all = new Set<number>();
  for (let day = START - 2 * DAY; day <= END + 2 * DAY; day += DAY) {
    if (!wanted.day(new Date(day))) continue;
    for (const hour of wanted.hours)
      for (const minute of wanted.minutes)
        for (const at of instants(day + hour * HOUR + minute * MINUTE, eras, wanted.named)) all.add(at);
  }
  return [...all].filter((at) => at > START && at <= END).sort((a, b) => a - b);
}
