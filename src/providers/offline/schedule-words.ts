// Parses phrases such as "every weekday at 9" into the schedules of jobs.

const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const UNIT = "(minute|min|hour|hr|day|week|m|h|d|w)s?";
const CLOCK = String.raw`(?:\s+at\s+(\d{1,2})(?::(\d{2}))?\s*(am|pm|o'clock)?)?`;
const DAY_PART: Record<string, number> = { morning: 9, noon: 12, afternoon: 15, evening: 18, night: 21 };

interface Found {
  readonly schedule: string;
  /** The request without the words of the schedule. */
  readonly rest: string;
}

function short(amount: string | undefined, unit: string | undefined): string {
  const word = (unit ?? "m").toLowerCase();
  const count = Number(amount ?? 1);
  return word.startsWith("w") ? `${count * 7}d` : `${count}${word[0] ?? "m"}`;
}

function clock(match: RegExpExecArray, at: number, standard: number): { hour: number; minute: number } {
  const given = match[at];
  if (given === undefined) return { hour: standard, minute: 0 };
  const half = match[at + 2]?.toLowerCase();
  const hour = Number(given) % 24;
  if (half === "pm" && hour < 12) return { hour: hour + 12, minute: Number(match[at + 1] ?? 0) };
  return { hour: half === "am" && hour === 12 ? 0 : hour, minute: Number(match[at + 1] ?? 0) };
}

type Rule = readonly [RegExp, (match: RegExpExecArray) => string];

const RULES: readonly Rule[] = [
  [
    new RegExp(String.raw`\bin\s+(\d+|an?)\s*${UNIT}\b`, "i"),
    (m) => short(/^an?$/i.test(m[1] ?? "") ? "1" : m[1], m[2]),
  ],
  [new RegExp(String.raw`\bevery\s+(\d+)\s*${UNIT}\b`, "i"), (m) => `every ${short(m[1], m[2])}`],
  [/\b(?:every\s+hour|hourly)\b/i, () => "every 1h"],
  [/\bevery\s+minute\b/i, () => "every 1m"],
  [
    new RegExp(String.raw`\b(?:every|each|on)\s+(${DAYS.join("|")})s?${CLOCK}`, "i"),
    (m) => {
      const { hour, minute } = clock(m, 2, 9);
      return `${minute} ${hour} * * ${DAYS.indexOf((m[1] ?? "").toLowerCase())}`;
    },
  ],
  [
    new RegExp(String.raw`\b(?:every|each|on)\s+(weekday|working day)s?${CLOCK}`, "i"),
    (m) => {
      const { hour, minute } = clock(m, 2, 9);
      return `${minute} ${hour} * * 1-5`;
    },
  ],
  [
    new RegExp(String.raw`\b(?:every|each)\s+(morning|noon|afternoon|evening|night)${CLOCK}`, "i"),
    (m) => {
      const { hour, minute } = clock(m, 2, DAY_PART[(m[1] ?? "").toLowerCase()] ?? 9);
      return `${minute} ${hour} * * *`;
    },
  ],
  [
    new RegExp(String.raw`\b(?:every\s+day|each\s+day|daily)${CLOCK}`, "i"),
    (m) => {
      const { hour, minute } = clock(m, 1, 9);
      return `${minute} ${hour} * * *`;
    },
  ],
  [/["'`]?((?:[\d*/,-]+\s+){4}[\d*/,-]+)["'`]?/, (m) => (m[1] ?? "").trim()],
];

/** The schedule in a request; undefined when it contains none. */
export function findSchedule(text: string): Found | undefined {
  for (const [pattern, make] of RULES) {
    const match = pattern.exec(text);
    if (!match) continue;
    const rest = `${text.slice(0, match.index)} ${text.slice(match.index + match[0].length)}`
      .replace(/\s+/g, " ")
      .trim();
    return { schedule: make(match), rest };
  }
  return undefined;
}
