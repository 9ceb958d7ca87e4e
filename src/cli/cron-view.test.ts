// Jobs and runs on terminals of all widths: lines fit, and names and reasons are not cut off.
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import type { Job, JobRun } from "../core/job.ts";
import { readJob } from "../cron/job-record.ts";
import { Terminal } from "../lib/terminal/terminal.ts";
import { paintedWidth } from "../lib/text/wrap-words.ts";
import { historyTable, jobDetails, jobTable } from "./cron-view.ts";

function terminal(columns: number): Terminal {
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns });
  return new Terminal({ stdin: new PassThrough(), stdout, stderr: new PassThrough() });
}

const job = readJob({
  id: "a1b2c3d4e5f6",
  name: "Morning briefing",
  prompt: "x",
  schedule: { kind: "cron", expr: "0 9 * * 1-5", display: "0 9 * * 1-5" },
  next_run_at: "2026-05-05T09:00:00+00:00",
  last_run_at: "2026-05-04T09:00:00+00:00",
  last_status: "ok",
  deliver: "telegram:-100777:17",
}) as Job;
const facts = ["a1b2c3d4e5f6", "Morning briefing", "0 9 * * 1-5", "2026-05-05 09:00", "telegram:-100777:17"];
const reason =
  "missed: no process ran jobs at that time (noticed 21 h later); with those before it 669 runs were missed";
const run = {
  ...{ id: 1, jobId: job.id, jobName: "Morning briefing", occurrence: 0, until: 0, count: 1, trigger: "schedule" },
  ...{ state: "skipped", startedAt: null, endedAt: null, reason, deliveryError: null },
} as unknown as JobRun;

it.each([60, 80, 130])("shows jobs in %i columns", (columns) => {
  const shown = jobTable(terminal(columns), [job, job]);
  for (const line of shown.split("\n")) expect(paintedWidth(line)).toBeLessThanOrEqual(columns);
  for (const fact of facts) expect(shown).toContain(fact);
});

it.each([60, 80, 200])("shows the whole reason of a run in %i columns", (columns) => {
  const shown = historyTable(terminal(columns), [run, { ...run, reason: null }], "UTC");
  for (const line of shown.split("\n")) expect(paintedWidth(line)).toBeLessThanOrEqual(columns);
  expect(shown.replaceAll(/\s+/g, " ")).toContain(reason);
});

it("shows what was set, and no defaults", () => {
  expect(jobDetails(job)).not.toMatch(/workdir|model|toolsets|catch up|repeat|state/);
  const full = { workdir: "/srv", model: "m", provider: "p", enabled_toolsets: ["web"], context_from: ["b"] };
  const shown = jobDetails({ ...job, ...full, repeat: { times: 3, completed: 1 }, catch_up: "all", catch_up_limit: 4 });
  for (const line of [
    "workdir   /srv",
    "model     p m",
    "toolsets  web",
    "context   b",
    "1 of 3 runs",
    "all, at most 4",
  ])
    expect(shown).toContain(line);
});
