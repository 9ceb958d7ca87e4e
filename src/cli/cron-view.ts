// Formats jobs and their runs for the terminal.

import type { Job, JobRun } from "../core/job.ts";
import type { CronStatus, UpcomingRun } from "../cron/api.ts";
import { type Column, renderTable } from "../lib/terminal/columns.ts";
import type { Terminal } from "../lib/terminal/terminal.ts";
import { oneLine } from "../lib/text/one-line.ts";
import { paintedWidth } from "../lib/text/wrap-words.ts";

/** `2026-03-08 09:00`, from an ISO time in any zone. */
function short(iso: string | null): string {
  return iso === null ? "—" : iso.slice(0, 16).replace("T", " ");
}

function inZone(ms: number, zone: string): string {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
  return format.format(ms);
}

function lastRun(job: Job): string {
  if (job.last_run_at === null) return job.state === "error" ? "error" : "—";
  const note = job.last_delivery_error ? " (delivery failed)" : "";
  return `${job.last_status === "error" ? "failed" : "ok"} ${short(job.last_run_at)}${note}`;
}

/** Id and name on one line, the details below; for terminals too narrow for the table. */
function jobLines(terminal: Terminal, job: Job): string {
  const due = job.enabled && job.next_run_at !== null ? `next ${short(job.next_run_at)}` : "";
  const last = job.last_run_at === null ? "" : `last ${lastRun(job)}`;
  const facts = [job.schedule_display, job.state, due, last, `to ${job.deliver}`].filter((fact) => fact !== "");
  return `${job.id}  ${oneLine(job.name)}\n${terminal.wrapped(`  ${oneLine(facts.join(" · "))}`)}`;
}

export function jobTable(terminal: Terminal, jobs: readonly Job[]): string {
  const table = wideJobTable(terminal, jobs);
  return widestLine(table) <= terminal.columns ? table : `${jobs.map((job) => jobLines(terminal, job)).join("\n")}\n`;
}

function wideJobTable(terminal: Terminal, jobs: readonly Job[]): string {
  return renderTable<Job>(
    terminal,
    [
      { title: "Id", value: (job) => job.id },
      { title: "Name", flexible: true, minWidth: 10, value: (job) => job.name },
      { title: "Schedule", value: (job) => job.schedule_display },
      { title: "State", value: (job) => job.state },
      { title: "Next", value: (job) => short(job.enabled ? job.next_run_at : null) },
      { title: "Last", value: lastRun },
      { title: "Deliver", value: (job) => job.deliver },
    ],
    jobs,
    false,
  );
}

function repeatText({ schedule, repeat: { times, completed } }: Job): string {
  const usual = schedule.kind === "once" ? 1 : null;
  return times === usual || times === null ? "" : `${completed} of ${times} runs done`;
}

function catchUpText({ catch_up: policy = "skip", catch_up_limit: limit }: Job): string {
  if (policy === "skip") return "";
  return policy === "all" && limit !== undefined ? `all, at most ${limit}` : policy;
}

/** The settings of a job; defaults are left out. */
export function jobDetails(job: Job): string {
  const zone = job.schedule.kind === "cron" && job.schedule.tz ? ` (${job.schedule.tz})` : "";
  const rows = [
    ["id", job.id],
    ["name", job.name],
    ["schedule", `${job.schedule_display}${zone}`],
    ["state", job.state === "scheduled" ? "" : job.state],
    ["next run", job.next_run_at ?? "—"],
    ["repeat", repeatText(job)],
    ["interrupted", job.at_least_once ? "run again (at least once)" : ""],
    ["deliver", job.deliver],
    ["skills", job.skills.join(", ")],
    ["script", `${job.script ?? ""}${job.no_agent ? " (without the model)" : ""}`],
    ["context", job.context_from?.join(", ") ?? ""],
    ["workdir", job.workdir ?? ""],
    ["model", [job.provider, job.model, job.base_url].filter((part) => part !== null).join(" ")],
    ["toolsets", job.enabled_toolsets?.join(", ") ?? ""],
    ["catch up", catchUpText(job)],
  ].filter(([, value]) => value !== "");
  return rows.map(([name, value]) => `  ${name?.padEnd(9)} ${value}`).join("\n");
}

function runReason(run: JobRun): string {
  return oneLine(run.reason ?? run.deliveryError ?? "");
}

function widestLine(text: string): number {
  return Math.max(...text.split("\n").map(paintedWidth));
}

/** Reasons get a column when all of them fit, else a separate line each, so that none is cut off. */
export function historyTable(terminal: Terminal, runs: readonly JobRun[], zone: string): string {
  const took = (run: JobRun) =>
    run.startedAt === null || run.endedAt === null ? "" : `${((run.endedAt - run.startedAt) / 1000).toFixed(1)} s`;
  const columns: readonly Column<JobRun>[] = [
    { title: "Due", value: (run) => inZone(run.occurrence, zone) },
    { title: "Job", flexible: true, minWidth: 10, value: (run) => run.jobName },
    { title: "By", value: (run) => run.trigger.replace("_", " ") },
    { title: "End", value: (run) => `${run.state}${run.count > 1 ? ` ×${run.count}` : ""}` },
    { title: "Took", align: "right", value: took },
  ];
  const table = renderTable(terminal, [...columns, { title: "Why", value: runReason }], runs, false);
  if (widestLine(table) <= terminal.columns) return table;
  const [header, ...lines] = renderTable(terminal, columns, runs).trimEnd().split("\n");
  const withReasons = lines.map((line, index) => {
    const run = runs[index];
    const why = run ? runReason(run) : "";
    return why === "" ? line : `${line}\n${terminal.wrapped(`  ${why}`)}`;
  });
  return `${[header, ...withReasons].join("\n")}\n`;
}

export function upcomingTable(terminal: Terminal, rows: readonly UpcomingRun[]): string {
  return renderTable<UpcomingRun>(
    terminal,
    [
      { title: "When", value: (row) => `${row.at}${row.overdue ? " (overdue)" : ""}` },
      { title: "Job", flexible: true, value: (row) => row.job.name },
      { title: "Id", value: (row) => row.job.id },
    ],
    rows,
  );
}

/** The result of `hermes cron run`. */
export function receipt(run: JobRun, zone: string): string {
  const lines = [
    `Run ${run.id} of ${run.jobName}: ${run.state}${run.endedAt === null ? "" : ` at ${inZone(run.endedAt, zone)}`}`,
    run.reason ?? "",
    run.document === null ? "" : `Document: ${run.document}`,
    run.sessionId === null ? "" : `Session: ${run.sessionId}`,
    run.deliveryError === null ? "" : `Not delivered: ${run.deliveryError}`,
  ];
  return lines.filter((line) => line !== "").join("\n");
}

/** Green only when every active job can run. */
function stateLine(terminal: Terminal, { alive, problem, jobs, active, tooLate, aside, next }: CronStatus): string {
  if (!alive) return terminal.wrapped(terminal.style("red", problem ?? "No process runs jobs."));
  const runs = "A process runs jobs";
  if (jobs === 0) return `${runs}; none is scheduled yet.`;
  if (active === 0) return terminal.style("yellow", `${runs}, but no job is active: nothing will run.`);
  if (next === null) return terminal.style("yellow", `${runs}, but no job is due at any time: nothing will run.`);
  const held = tooLate.length + aside.length;
  if (held > 0) return terminal.style("yellow", `Jobs are run, except ${held} of them: see below.`);
  return terminal.style("green", "Jobs are run.");
}

export function statusText(terminal: Terminal, status: CronStatus, zone: string): string {
  const tickers = status.tickers.filter((sign) => sign.lives !== "no");
  const lines = [
    stateLine(terminal, status),
    ...tickers.map(
      (sign) =>
        `  ${sign.owner.split(":").slice(0, 2).join(" pid ")}, last tick ${inZone(sign.tickedAt, zone)}${sign.failure ? `; error: ${sign.failure}` : ""}`,
    ),
    `${status.active} of ${status.jobs} jobs are active.`,
    status.next ? `Next: ${status.next.job.name} at ${status.next.at}${status.next.overdue ? " (overdue)" : ""}` : "",
    ...status.tooLate.map((job) =>
      terminal.style(
        "yellow",
        `Due too late: ${job.name} (${job.id}) is stored for ${job.next_run_at}, later than its schedule says (was the clock set back?). The next tick corrects it.`,
      ),
    ),
    ...status.aside.map((job) =>
      terminal.style("yellow", `Stopped by an error: ${job.name} (${job.id}): ${job.last_error ?? ""}`),
    ),
    ...status.running.map((run) => `Running: ${run.jobName}, since ${inZone(run.startedAt ?? run.claimedAt, zone)}`),
  ].filter((line) => line !== "");
  if (status.failures.length === 0) return lines.join("\n");
  return `${lines.join("\n")}\nFailures in the last seven days:\n${historyTable(terminal, status.failures, zone)}`;
}
