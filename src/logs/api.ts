// The log files of a home: open one for writing, list them, read and follow them.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../core/config/config.ts";
import type { Home } from "../core/home.ts";
import type { Log } from "../core/log.ts";
import { openLog } from "./log-writer.ts";
import { followLog, type LogFilter, type LogRecord, readLog } from "./read-log.ts";

export type { LogFilter, LogRecord } from "./read-log.ts";

export function logFolder(home: Pick<Home, "path">): string {
  return join(home.path, "logs");
}

/** The log of this process with the limits of `logging.*`. */
export function openHomeLog(
  home: Pick<Home, "path">,
  config: Pick<Config, "logging">,
  options: { readonly name: "agent" | "gateway"; redact(text: string): string },
): Log {
  const { level, max_size_mb: megabytes, backup_count: keep } = config.logging;
  return openLog({ folder: logFolder(home), level, maxBytes: megabytes * 1_000_000, keep, ...options });
}

export interface LogFileInfo {
  /** `agent` for agent.log. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
}

/** The log files, newest first, without the rotated ones. */
export async function listLogs(home: Pick<Home, "path">): Promise<LogFileInfo[]> {
  const folder = logFolder(home);
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".log"));
  const infos = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const info = await stat(path).catch(() => null);
      return info && { name: name.slice(0, -4), path, bytes: info.size, changedAt: info.mtimeMs };
    }),
  );
  return infos.filter((info) => info !== null).sort((a, b) => b.changedAt - a.changedAt);
}

export function readLogFile(home: Pick<Home, "path">, name: string, filter: LogFilter, count: number) {
  return readLog(join(logFolder(home), `${name}.log`), filter, count);
}

export function followLogFile(
  home: Pick<Home, "path">,
  name: string,
  filter: LogFilter,
  signal: AbortSignal,
): AsyncGenerator<LogRecord> {
  return followLog(join(logFolder(home), `${name}.log`), filter, signal);
}

/** `90s`, `30m`, `2h`, `3d`, or a date with or without a time → milliseconds since the epoch; undefined for anything else. */
export function parseSince(text: string, now: number): number | undefined {
  const span = /^(\d+)\s*([smhdw])$/.exec(text.trim().toLowerCase());
  if (span) {
    const seconds = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }[span[2] ?? "s"] ?? 1;
    return now - Number(span[1]) * seconds * 1000;
  }
  if (!/^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)?$/.test(text.trim())) return undefined;
  // A date alone would be read as UTC.
  const at = Date.parse(text.trim().length === 10 ? `${text.trim()}T00:00` : text.trim().replace(" ", "T"));
  return Number.isNaN(at) ? undefined : at;
}
