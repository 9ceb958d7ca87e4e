// The log of a process: its own file, and `errors.log` for warnings and errors of all processes.
import { join } from "node:path";
import { formatLogEntry, isAtLeast, type Log, type LogEntry, type LogLevel } from "../core/log.ts";
import { LogFile } from "./log-file.ts";

export interface LogOptions {
  /** The folder `logs` of the home. */
  readonly folder: string;
  /** `agent` writes agent.log, `gateway` gateway.log. */
  readonly name: "agent" | "gateway";
  readonly level: LogLevel;
  readonly maxBytes: number;
  readonly keep: number;
  /** Removes secrets. */
  redact(text: string): string;
  readonly now?: (() => Date) | undefined;
}

export function openLog(options: LogOptions): Log {
  const limits = { maxBytes: options.maxBytes, keep: options.keep };
  const main = new LogFile(join(options.folder, `${options.name}.log`), limits);
  const errors = new LogFile(join(options.folder, "errors.log"), limits);
  return {
    write: (entry: LogEntry) => {
      if (!isAtLeast(entry.level, options.level)) return;
      const line = options.redact(formatLogEntry(entry, options.now?.() ?? new Date()));
      main.write(line);
      if (isAtLeast(entry.level, "WARNING")) errors.write(line);
    },
    flush: async () => {
      await Promise.all([main.flush(), errors.flush()]);
    },
  };
}
