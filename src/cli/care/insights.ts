// `hermes insights`: sessions, messages, models and cost of the last days.
import { openModelsContext } from "../../app/open-models.ts";
import { inDollars, promptTokens } from "../../core/store/usage.ts";
import { renderTable } from "../../lib/terminal/columns.ts";
import { usageReport } from "../../providers/api/usage.ts";
import { type CliCommand, type CliContext, integerOption, JSON_OPTION, textOption } from "../command.ts";
import { withStore } from "../with-store.ts";

const DAY = 86_400;
const MOST_SESSIONS = 100_000;
const count = (value: number) => value.toLocaleString("en-US");

interface SourceRow {
  readonly source: string;
  readonly sessions: number;
  readonly messages: number;
  readonly tools: number;
}

function bar(value: number, most: number): string {
  return "█".repeat(most === 0 ? 0 : Math.max(value > 0 ? 1 : 0, Math.round((value / most) * 20)));
}

async function collect(context: CliContext, days: number, source: string | undefined) {
  const since = Date.now() / 1000 - days * DAY;
  const sessions = await withStore(context, (store) =>
    store.listSessions({ source, limit: MOST_SESSIONS, orderByLastActive: true }),
  );
  const recent = sessions.filter((session) => session.last_active >= since);
  const groups = new Map<string, SourceRow>();
  for (const session of recent) {
    const known = groups.get(session.source) ?? { source: session.source, sessions: 0, messages: 0, tools: 0 };
    groups.set(session.source, {
      source: session.source,
      sessions: known.sessions + 1,
      messages: known.messages + session.message_count,
      tools: known.tools + session.tool_call_count,
    });
  }
  const hours = Array.from({ length: 24 }, () => 0);
  for (const { started_at: at } of recent) {
    const hour = new Date(at * 1000).getHours();
    hours[hour] = (hours[hour] ?? 0) + 1;
  }
  return { sources: [...groups.values()].sort((a, b) => b.sessions - a.sessions), hours, sessions: recent.length };
}

async function run(context: CliContext): Promise<number> {
  const { terminal } = context;
  const days = integerOption(context, "days", { default: 30, min: 1, max: 3650 });
  const source = textOption(context, "source");
  const [found, usage] = await Promise.all([
    collect(context, days, source),
    usageReport(openModelsContext(context.home), { days, by: "model" }),
  ]);
  if (context.values.json) {
    terminal.out(
      JSON.stringify({ days, source: source ?? null, ...found, models: usage.groups, total: usage.total }, null, 2),
    );
    return 0;
  }
  if (found.sessions === 0 && usage.groups.length === 0) {
    terminal.out(`Nothing happened in the last ${days} days.`);
    return 0;
  }
  terminal.out(
    `Last ${days} days: ${count(found.sessions)} sessions, ${count(usage.total.calls)} model calls, ${inDollars(usage.total.usd)}\n`,
  );
  terminal.out(
    renderTable<SourceRow>(
      terminal,
      [
        { title: "Source", value: (row) => row.source },
        { title: "Sessions", align: "right", value: (row) => count(row.sessions) },
        { title: "Messages", align: "right", value: (row) => count(row.messages) },
        { title: "Tool calls", align: "right", value: (row) => count(row.tools) },
      ],
      found.sources,
    ),
  );
  const most = Math.max(0, ...usage.groups.map((group) => promptTokens(group.usage)));
  terminal.out(
    renderTable(
      terminal,
      [
        { title: "Model", flexible: true, minWidth: 12, value: (row) => row.key },
        { title: "Calls", align: "right", value: (row) => count(row.calls) },
        { title: "Prompt tokens", align: "right", value: (row) => count(promptTokens(row.usage)) },
        { title: "Cost", align: "right", value: (row) => inDollars(row.usd) },
        { title: "", flexible: true, minWidth: 4, value: (row) => bar(promptTokens(row.usage), most) },
      ],
      usage.groups,
    ),
  );
  const busiest = found.hours.indexOf(Math.max(...found.hours));
  if (found.sessions > 0)
    terminal.out(
      `Most sessions begin at ${String(busiest).padStart(2, "0")}:00. Details: hermes usage, hermes sessions stats`,
    );
  return 0;
}

export const insightsCommand: CliCommand = {
  name: "insights",
  summary: "Sessions, messages, models and cost of the last days",
  maxPositionals: 0,
  options: {
    days: { type: "string", value: "N", help: "How many days back (30)" },
    source: { type: "string", value: "TAG", help: "Only sessions from there: cli, telegram, cron …" },
    ...JSON_OPTION,
  },
  examples: ["hermes insights --days 7", "hermes insights --source telegram"],
  run,
};
