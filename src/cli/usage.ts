// `hermes usage`: tokens and cost of model calls.

import { openModelsContext } from "../app/open-models.ts";
import { UserError } from "../core/failure.ts";
import { inDollars, promptTokens, type UsageGroup } from "../core/store/usage.ts";
import { renderTable } from "../lib/terminal/columns.ts";
import { type UsageGrouping, type UsageReport, usageReport } from "../providers/api/usage.ts";
import { type CliCommand, type CliContext, integerOption, JSON_OPTION, textOption } from "./command.ts";

const GROUPINGS: readonly UsageGrouping[] = ["model", "purpose", "session", "day"];

function grouping(context: CliContext): UsageGrouping {
  const asked = textOption(context, "by") ?? "model";
  const found = GROUPINGS.find((name) => name === asked);
  if (found) return found;
  throw new UserError(`--by takes ${GROUPINGS.join(", ")}, not "${asked}"`, { exitCode: 2 });
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

const ASSUMED_NOTE =
  "~ is an estimate: the price of the model is not known, and a high one was assumed. Set yours: hermes config set model.pricing.input …";

function cost(group: Pick<UsageGroup, "usd" | "calls" | "unpriced" | "assumedUsd">): string {
  const share = group.assumedUsd > 0 && group.assumedUsd < group.usd ? ` (~${inDollars(group.assumedUsd)} of it)` : "";
  if (group.unpriced === 0) return `${group.assumedUsd > 0 ? "~" : ""}${inDollars(group.usd)}${share}`;
  return group.unpriced === group.calls ? "not known" : `${inDollars(group.usd)} + ${count(group.unpriced)} not priced`;
}

function capLines(report: UsageReport): string[] {
  const { caps } = report;
  const lines =
    caps.dailyUsd === undefined
      ? []
      : [`Today: ${inDollars(report.today)} of the daily cap of ${inDollars(caps.dailyUsd)}`];
  if (caps.sessionUsd !== undefined) lines.push(`Cap per session: ${inDollars(caps.sessionUsd)}`);
  if (caps.jobUsd !== undefined) lines.push(`Cap per job run: ${inDollars(caps.jobUsd)}`);
  return lines;
}

function table(context: CliContext, report: UsageReport): string {
  const rows: UsageGroup[] = [...report.groups, { key: "total", ...report.total }];
  return renderTable<UsageGroup>(
    context.terminal,
    [
      {
        title: report.by[0]?.toUpperCase() + report.by.slice(1),
        flexible: true,
        minWidth: 12,
        value: (row) => row.key || "—",
      },
      { title: "Calls", align: "right", value: (row) => count(row.calls) },
      { title: "Prompt", align: "right", value: (row) => count(promptTokens(row.usage)) },
      { title: "Cached", align: "right", value: (row) => count(row.usage.cacheRead) },
      { title: "Output", align: "right", value: (row) => count(row.usage.output) },
      { title: "Cost", align: "right", value: (row) => cost(row) },
    ],
    rows,
  );
}

async function usage(context: CliContext): Promise<number> {
  const days = integerOption(context, "days", { default: 30, min: 1, max: 36_500 });
  const report = await usageReport(openModelsContext(context.home), { days, by: grouping(context) });
  if (context.values.json) context.terminal.out(JSON.stringify(report, null, 2));
  else if (report.groups.length === 0)
    context.terminal.out([`No model calls in the last ${days} days.`, ...capLines(report)].join("\n"));
  else {
    const note = report.total.assumedUsd > 0 ? [ASSUMED_NOTE] : [];
    context.terminal.out([table(context, report).trimEnd(), ...note, ...capLines(report)].join("\n"));
  }
  return 0;
}

export const usageCommand: CliCommand = {
  name: "usage",
  summary: "Tokens and cost of model calls",
  maxPositionals: 0,
  options: {
    days: { type: "string", value: "N", help: "How many days back, today included (30)" },
    by: { type: "string", value: "WHAT", help: "Group by model, purpose, session or day (model)" },
    ...JSON_OPTION,
  },
  examples: ["hermes usage --days 7 --by purpose", "hermes usage --by day --json"],
  run: usage,
};
