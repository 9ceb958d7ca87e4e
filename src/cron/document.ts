// The document of a run under cron/output, and the newest one of another job as context.
import { access, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Job } from "../core/job.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import { isoIn, stampIn } from "./zone.ts";

const MAX_CONTEXT_CHARS = 8000;

export interface RunText {
  readonly at: number;
  readonly zone: string;
  /** What the model was asked; absent for jobs without a model. */
  readonly prompt?: string;
  readonly response?: string;
  readonly error?: string;
  /** The injection scan stopped the run. */
  readonly blocked?: boolean;
  /** For jobs without a model: how it went in words. */
  readonly status?: string;
}

function documentText(job: Job, run: RunText): string {
  const flag = run.blocked ? " (BLOCKED)" : run.error === undefined ? "" : " (FAILED)";
  const lines = [
    `# Scheduled job: ${job.name}${flag}`,
    "",
    `**Job ID:** ${job.id}`,
    `**Run Time:** ${isoIn(run.at, run.zone)}`,
    `**Schedule:** ${job.schedule_display}`,
  ];
  if (job.no_agent) lines.push("**Mode:** no_agent (script)", `**Status:** ${run.status ?? "ok"}`);
  else lines.push("", "## Prompt", "", run.prompt ?? "(the run ended before the prompt was put together)");
  if (run.response !== undefined) lines.push("", "## Response", "", run.response === "" ? "(empty)" : run.response);
  if (run.error !== undefined) lines.push("", "## Error", "", "```", run.error, "```");
  return `${lines.join("\n")}\n`;
}

/** A path that is free: runs that are caught up may end within one second. */
async function freePath(stem: string): Promise<string> {
  for (let number = 1; ; number++) {
    const path = number === 1 ? `${stem}.md` : `${stem}_${number}.md`;
    const taken = await access(path).then(
      () => true,
      () => false,
    );
    if (!taken) return path;
  }
}

/** Writes `<folder>/<job>/<time>.md` and answers with its path. */
export async function writeDocument(folder: string, job: Job, run: RunText): Promise<string> {
  const path = await freePath(join(folder, job.id, stampIn(run.at, run.zone)));
  await atomicWrite(path, documentText(job, run), 0o600);
  return path;
}

/** The newest document of a job, cut; undefined when it has none. */
export async function newestDocument(folder: string, jobId: string): Promise<string | undefined> {
  if (!/^[0-9a-f]{1,64}$/i.test(jobId)) return undefined;
  const names = await readdir(join(folder, jobId)).catch(() => []);
  const newest = names
    .filter((name) => name.endsWith(".md"))
    .sort()
    .at(-1);
  if (newest === undefined) return undefined;
  const text = await readFile(join(folder, jobId, newest), "utf8");
  return text.length <= MAX_CONTEXT_CHARS ? text : `${text.slice(0, MAX_CONTEXT_CHARS)}\n… (cut)`;
}
