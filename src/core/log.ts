// Log entries: the contract of the log files and the format of a line, as in v0.14.

export const LOG_LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogEntry {
  readonly level: LogLevel;
  /** What wrote it: `gateway`, `agent`, `tools`, `cli`, `cron`, with more detail after a dot. */
  readonly component: string;
  readonly message: string;
  readonly sessionId?: string | undefined;
  /** Values for filters and programs; shown as `name=value`. */
  readonly fields?: { readonly [name: string]: string | number | boolean | null } | undefined;
}

export interface Log {
  /** Never throws and never waits. */
  write(entry: LogEntry): void;
  /** Resolves when everything written so far is in the files. */
  flush(): Promise<void>;
}

export function isAtLeast(level: LogLevel, minimum: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(minimum);
}

const two = (value: number, length = 2) => String(value).padStart(length, "0");

/** Local time, `2026-11-17 13:20:24,123`. */
function timestamp(at: Date): string {
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return `${day} ${time},${two(at.getMilliseconds(), 3)}`;
}

function fieldText(fields: LogEntry["fields"]): string {
  return Object.entries(fields ?? {})
    .map(
      ([name, value]) =>
        ` ${name}=${typeof value === "string" && /[\s"=]/.test(value) ? JSON.stringify(value) : value}`,
    )
    .join("");
}

/** Other control characters could change what a terminal shows. Lines after the first are indented. */
function safeText(text: string): string {
  return text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/[^\P{Cc}\n\t]/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`)
    .replaceAll("\n", "\n    ");
}

/** One entry as text without a line end. */
export function formatLogEntry(entry: LogEntry, at: Date): string {
  const session = entry.sessionId ? ` [${entry.sessionId}]` : "";
  const head = `${timestamp(at)} ${entry.level}${session} ${entry.component}:`;
  return `${head} ${safeText(entry.message + fieldText(entry.fields))}`;
}

export interface ParsedLogLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly level: LogLevel;
  readonly component: string;
  readonly sessionId: string | null;
  readonly message: string;
}

// Also the lines of v0.14, and those with an ISO time.
const LINE =
  /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:[,.](\d{1,6}))?(Z)? (\w+)(?: \[([^\]\s]+)\])? (?:([\w.:/-]+): )?([\s\S]*)$/;

/** Undefined for a line that does not begin an entry. */
export function parseLogLine(line: string): ParsedLogLine | undefined {
  const match = LINE.exec(line);
  if (!match) return undefined;
  const [, day, time, fraction = "0", utc = "", word = "", session, component = "", message = ""] = match;
  const level = LOG_LEVELS.find((known) => known === word.toUpperCase());
  const at = Date.parse(`${day}T${time}.${fraction.padEnd(3, "0").slice(0, 3)}${utc}`);
  if (!level || Number.isNaN(at)) return undefined;
  return { at, level, component, sessionId: session ?? null, message };
}
