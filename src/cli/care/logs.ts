// `hermes logs`: shows and follows the log files.
import { UserError } from "../../core/failure.ts";
import { LOG_LEVELS, type LogLevel } from "../../core/log.ts";
import { nearest } from "../../lib/nearest.ts";
import { formatBytes, relativeTime, renderTable } from "../../lib/terminal/columns.ts";
import {
  followLogFile,
  type LogFilter,
  type LogRecord,
  listLogs,
  logFolder,
  parseSince,
  readLogFile,
} from "../../logs/api.ts";
import { type CliCommand, type CliContext, integerOption, JSON_OPTION, textOption } from "../command.ts";

const STYLES = { DEBUG: "dim", INFO: undefined, WARNING: "yellow", ERROR: "red", CRITICAL: "red" } as const;
const KNOWN = ["agent", "errors", "gateway"];

function levelOption(context: CliContext): LogLevel | undefined {
  const text = textOption(context, "level")?.toUpperCase();
  if (text === undefined) return undefined;
  const level = LOG_LEVELS.find((known) => known === text || (text === "WARN" && known === "WARNING"));
  if (level) return level;
  throw new UserError(`--level takes ${LOG_LEVELS.join(", ").toLowerCase()}, not "${text.toLowerCase()}"`, {
    exitCode: 2,
  });
}

function sinceOption(context: CliContext): number | undefined {
  const text = textOption(context, "since");
  if (text === undefined) return undefined;
  const at = parseSince(text, Date.now());
  if (at !== undefined) return at;
  throw new UserError(`--since takes a time span or a date, not "${text}"`, {
    hint: "For example: --since 30m, --since 2h, --since 2026-11-17, --since '2026-11-17 09:30'",
    exitCode: 2,
  });
}

function show(context: CliContext, record: LogRecord): void {
  const { terminal } = context;
  if (context.values.json) {
    terminal.out(JSON.stringify(record.parsed ?? { message: record.text }));
    return;
  }
  const style = record.parsed ? STYLES[record.parsed.level] : undefined;
  const text = terminal.forOut(record.text);
  terminal.out(style ? terminal.style(style, text) : text);
}

async function list(context: CliContext): Promise<number> {
  const logs = await listLogs(context.home);
  const { terminal } = context;
  if (context.values.json) terminal.out(JSON.stringify(logs, null, 2));
  else if (logs.length === 0) terminal.out(`There are no logs yet in ${logFolder(context.home)}.`);
  else
    terminal.out(
      renderTable(
        terminal,
        [
          { title: "Log", value: (log) => log.name },
          { title: "Size", align: "right", value: (log) => formatBytes(log.bytes) },
          { title: "Changed", value: (log) => relativeTime(log.changedAt / 1000) },
          { title: "File", flexible: true, minWidth: 12, value: (log) => log.path },
        ],
        logs,
      ),
    );
  return 0;
}

async function follow(context: CliContext, name: string, filter: LogFilter): Promise<number> {
  const stop = new AbortController();
  const end = () => stop.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);
  context.terminal.streams.stdout.once("error", end);
  for await (const record of followLogFile(context.home, name, filter, stop.signal)) show(context, record);
  return 0;
}

async function requireLog(context: CliContext, name: string): Promise<boolean> {
  const names = (await listLogs(context.home)).map((log) => log.name);
  if (names.includes(name)) return true;
  if (KNOWN.includes(name)) return false;
  const guess = nearest(name, [...new Set([...names, ...KNOWN, "list"])]);
  throw new UserError(`there is no log "${name}"${guess ? `; did you mean "${guess}"?` : ""}`, {
    hint: "See: hermes logs list",
  });
}

async function run(context: CliContext): Promise<number> {
  const [name = "agent"] = context.positionals;
  if (name === "list") return list(context);
  const filter: LogFilter = {
    level: levelOption(context),
    component: textOption(context, "component"),
    sessionId: textOption(context, "session"),
    since: sinceOption(context),
  };
  const count = integerOption(context, "lines", { default: filter.since === undefined ? 50 : 10_000, min: 1 });
  const exists = await requireLog(context, name);
  const records = exists ? await readLogFile(context.home, name, filter, count) : [];
  for (const record of records) show(context, record);
  if (context.values.follow) return follow(context, name, filter);
  if (records.length === 0 && !context.values.json)
    context.terminal.err(exists ? "No entry matches." : `Nothing has been written to ${name}.log yet.`);
  return 0;
}

export const logsCommand: CliCommand = {
  name: "logs",
  args: "[agent|errors|gateway|list]",
  summary: "Show the log files, and follow them",
  maxPositionals: 1,
  options: {
    lines: { type: "string", short: "n", value: "N", help: "How many entries (50; all with --since)" },
    follow: { type: "boolean", short: "f", help: "Wait for new entries; Ctrl-C ends it" },
    level: { type: "string", value: "LEVEL", help: "This level and above: debug, info, warning, error" },
    component: { type: "string", value: "NAME", help: "Only gateway, agent, tools, cli or cron" },
    session: { type: "string", value: "ID", help: "Only this session" },
    since: { type: "string", value: "TIME", help: "Since 30m, 2h, 3d ago, or a date" },
    ...JSON_OPTION,
  },
  examples: ["hermes logs", "hermes logs errors --since 1d", "hermes logs gateway -f --level warning"],
  run,
};
