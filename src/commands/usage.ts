// /usage and /insights: tokens and cost of this session and of the last days, with plots in the terminal.
import type { CommandAnswer, CommandContext } from "../core/chat/command.ts";
import type { SessionSummary } from "../core/store/session.ts";
import { inDollars, promptTokens, type UsageGroup } from "../core/store/usage.ts";
import { barChart, sparkline } from "../lib/terminal/charts.ts";
import { oneLine } from "../lib/text/one-line.ts";
import { type BuiltinCommand, columns, text } from "./builtin-command.ts";
import type { CommandDeps } from "./command-deps.ts";
import { age, count, plural, rows } from "./format.ts";

const DAY = 86_400;
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const TOP = 8;
const WIDEST = 90;

function midnight(): number {
  return new Date().setHours(0, 0, 0, 0) / 1000;
}

/** Costs with an assumed price are marked with `~`. */
function costText(group: Pick<UsageGroup, "usd" | "calls" | "unpriced" | "assumedUsd">): string {
  if (group.calls > 0 && group.unpriced === group.calls) return "price not known";
  return `${group.assumedUsd > 0 ? "~" : ""}${inDollars(group.usd)}`;
}

/** Bars by cost, or by tokens when nothing had a price. */
function chart(groups: readonly UsageGroup[], { width }: CommandContext): string {
  const priced = groups.some((group) => group.usd > 0);
  const shown = groups.slice(0, TOP).map((group) => {
    const tokens = promptTokens(group.usage) + group.usage.output;
    const label = group.key || "—";
    return { label, value: priced ? group.usd : tokens, text: `${count(tokens)} tokens  ${costText(group)}` };
  });
  if (width === undefined) return rows(shown.map((row) => [row.label, row.text.replace("  ", ", ")] as const));
  return barChart(shown, Math.min(width, WIDEST)).join("\n");
}

function total(groups: readonly UsageGroup[]): Pick<UsageGroup, "usd" | "calls" | "unpriced" | "assumedUsd"> {
  const sum = (pick: (group: UsageGroup) => number) => groups.reduce((all, group) => all + pick(group), 0);
  return {
    usd: sum((group) => group.usd),
    calls: sum((group) => group.calls),
    unpriced: sum((group) => group.unpriced),
    assumedUsd: sum((group) => group.assumedUsd),
  };
}

/** One value per day, oldest first, zero for days without a call. */
export function byDay(groups: readonly UsageGroup[], days: number, now: Date): readonly number[] {
  const known = new Map(
    groups.map((group) => [group.key, group.usd > 0 ? group.usd : promptTokens(group.usage) / 1e9]),
  );
  return Array.from({ length: days }, (_, index) => {
    const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - (days - 1 - index));
    const two = (value: number) => String(value).padStart(2, "0");
    return known.get(`${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`) ?? 0;
  });
}

async function sessionLines({ store, conversation, ledger }: CommandContext): Promise<readonly string[]> {
  const session = await store.getSession(conversation.sessionId);
  if (!session) return ["This session has no model call yet."];
  const chain = await store.ancestors(session.id);
  const groups = await ledger.report({ since: 0, by: "purpose", sessionIds: chain.length > 0 ? chain : [session.id] });
  const whole = total(groups);
  const prompt = session.input_tokens + session.cache_read_tokens + session.cache_write_tokens;
  const share = prompt === 0 ? 0 : Math.round((100 * session.cache_read_tokens) / prompt);
  return [
    `This session: ${plural(session.api_call_count, "call")}, ${count(prompt)} tokens in (${share}% cached), ${count(session.output_tokens)} out, ${costText(whole)}`,
    ...(groups.length > 1 ? [`  of it: ${groups.map((group) => `${group.key} ${costText(group)}`).join(", ")}`] : []),
  ];
}

function capLines(deps: CommandDeps, today: number): readonly string[] {
  const { daily_usd: daily, session_usd: session } = deps.settings.config.budget;
  return [
    ...(daily ? [`Today: ${inDollars(today)} of the daily cap of ${inDollars(daily)}`] : []),
    ...(session ? [`Cap per session: ${inDollars(session)}`] : []),
  ];
}

async function usage(deps: CommandDeps, context: CommandContext): Promise<CommandAnswer> {
  const { ledger } = context;
  const today = midnight();
  const [models, days] = await Promise.all([
    ledger.report({ since: today, by: "model" }),
    ledger.report({ since: today - 6 * DAY, by: "day" }),
  ]);
  const week = total(days);
  const lines = [...(await sessionLines(context)), ""];
  if (models.length === 0) lines.push("No model call today yet.");
  else lines.push(`Today: ${plural(total(models).calls, "call")}, ${costText(total(models))}`, chart(models, context));
  const plot = context.width === undefined ? "" : `  ${sparkline(byDay(days, 7, new Date()))}`;
  lines.push(`Last 7 days: ${plural(week.calls, "call")}, ${costText(week)}${plot}`);
  const caps = capLines(deps, total(models).usd);
  return columns([...lines, ...caps, "More: /insights, hermes usage"].join("\n"));
}

function activity(sessions: readonly SessionSummary[], { width }: CommandContext): readonly string[] {
  const hours = Array.from({ length: 24 }, () => 0);
  const weekdays = Array.from({ length: 7 }, () => 0);
  for (const { started_at } of sessions) {
    const date = new Date(started_at * 1000);
    hours[date.getHours()] = (hours[date.getHours()] ?? 0) + 1;
    weekdays[date.getDay()] = (weekdays[date.getDay()] ?? 0) + 1;
  }
  const busiest = weekdays.indexOf(Math.max(...weekdays));
  const hour = hours.indexOf(Math.max(...hours));
  const words = `Most sessions begin on ${WEEKDAYS[busiest]} and at ${String(hour).padStart(2, "0")}:00.`;
  if (width === undefined) return [words];
  return [
    `By hour     ${sparkline(hours)}  (0 to 23)`,
    `By weekday  ${sparkline(weekdays)}  (${WEEKDAYS.join(" ")})`,
    words,
  ];
}

async function topSessions(groups: readonly UsageGroup[], { store }: CommandContext): Promise<readonly string[]> {
  const top = [...groups].sort((a, b) => b.usd - a.usd || promptTokens(b.usage) - promptTokens(a.usage)).slice(0, 5);
  return Promise.all(
    top.map(async (group) => {
      const title = group.key ? ((await store.getSession(group.key))?.title ?? group.key) : "no session";
      return `  ${costText(group)}  ${oneLine(title, 60)}`;
    }),
  );
}

async function insights(args: string, context: CommandContext): Promise<CommandAnswer> {
  const days = args === "" ? 30 : Number(args.replace(/^--days\s+/, "").replace(/d(?:ays)?$/, ""));
  if (!Number.isInteger(days) || days < 1 || days > 3650) return text("How many days? /insights 7");
  const since = midnight() - (days - 1) * DAY;
  const { ledger, store } = context;
  const [byModel, byPurpose, dayGroups, bySession, all] = await Promise.all([
    ledger.report({ since, by: "model" }),
    ledger.report({ since, by: "purpose" }),
    ledger.report({ since, by: "day" }),
    ledger.report({ since, by: "session" }),
    store.listSessions({ excludeSources: ["tool"], limit: 1000, orderByLastActive: true }),
  ]);
  const sessions = all.filter((session) => session.last_active >= since);
  const whole = total(byModel);
  if (whole.calls === 0 && sessions.length === 0) return text(`Nothing happened in the last ${days} days.`);
  const messages = sessions.reduce((sum, session) => sum + session.message_count, 0);
  const tools = sessions.reduce((sum, session) => sum + session.tool_call_count, 0);
  const newest = sessions[0];
  return columns(
    [
      `Last ${days} days: ${plural(sessions.length, "session")}, ${plural(messages, "message")}, ${plural(tools, "tool call")}, ${plural(whole.calls, "model call")}, ${costText(whole)}`,
      ...(newest ? [`Last active ${age(Date.now() / 1000 - newest.last_active)} ago`] : []),
      ...(context.width === undefined
        ? []
        : [`By day      ${sparkline(byDay(dayGroups, days, new Date()), Math.min(days, 60))}`]),
      ...(sessions.length > 0 ? activity(sessions, context) : []),
      ...(byModel.length > 0 ? ["", "Models", chart(byModel, context)] : []),
      ...(byPurpose.length > 1 ? ["", "Purposes", chart(byPurpose, context)] : []),
      ...(bySession.length > 0 ? ["", "Most expensive sessions", ...(await topSessions(bySession, context))] : []),
    ].join("\n"),
  );
}

export function usageCommands(deps: CommandDeps): readonly BuiltinCommand[] {
  return [
    {
      name: "usage",
      group: "Program",
      summary: "Tokens and cost of this session and of today",
      whileBusy: true,
      ownerOnly: false,
      run: (_, context) => usage(deps, context),
    },
    {
      name: "insights",
      group: "Program",
      args: "[days]",
      summary: "What was used in the last days",
      whileBusy: true,
      ownerOnly: false,
      run: insights,
    },
  ];
}
