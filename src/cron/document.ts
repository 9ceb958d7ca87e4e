// Documents of runs in cron/output, and the newest one of another job as context.
import { access, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Job } from "../core/job.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import { isoIn, stampIn } from "./schedule/zone.ts";

const MAX_CONTEXT_CHARS = 8000;
/** Names of documents that runs write; other files in the folder are not touched. */
const OWN_NAME = /^\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}(?:_\d+)?\.md$/;

export interface DocumentFolder {
  readonly path: string;
  /** How many documents of each job are kept; 0 for all. */
  readonly keep: number;
}

export interface RunText {
  readonly at: number;
  readonly zone: string;
  /** What the model was asked; absent for jobs without a model. */
  readonly prompt?: string | undefined;
  readonly response?: string | undefined;
  readonly error?: string | undefined;
  /** The injection scan stopped the run. */
  readonly blocked?: boolean | undefined;
  /** The result in words, for jobs without a model. */
  readonly status?: string | undefined;
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
  else lines.push("", "## Prompt", "", run.prompt ?? "(the run ended before the prompt was built)");
  if (run.response !== undefined) lines.push("", "## Response", "", run.response === "" ? "(empty)" : run.response);
  if (run.error !== undefined) lines.push("", "## Error", "", "```", run.error, "```");
  return `${lines.join("\n")}\n`;
}

/** A path that does not exist yet: several catch-up runs may end within one second. */
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

/** Names of a job's documents, newest last. */
async function documentNames(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.endsWith(".md")).sort();
}

/** Writes `<folder>/<job>/<time>.md`, deletes the oldest documents beyond the limit, and returns the path. */
export async function writeDocument(target: DocumentFolder, job: Job, run: RunText): Promise<string> {
  const folder = join(target.path, job.id);
  const path = await freePath(join(folder, stampIn(run.at, run.zone)));
  await atomicWrite(path, documentText(job, run), 0o600);
  if (target.keep > 0) {
    const own = (await documentNames(folder)).filter((name) => OWN_NAME.test(name));
    for (const name of own.slice(0, -target.keep)) await rm(join(folder, name), { force: true });
  }
  return path;
}

/** A long document without its prompt, which may contain whole skills. */
function withoutPrompt(text: string): string {
  const prompt = text.indexOf("\n## Prompt\n");
  const result = Math.max(text.lastIndexOf("\n## Response\n"), text.lastIndexOf("\n## Error\n"));
  return prompt >= 0 && result > prompt ? text.slice(0, prompt) + text.slice(result) : text;
}

/** The newest document of a job, truncated; undefined when it has none. */
export async function newestDocument(folder: string, jobId: string): Promise<string | undefined> {
  if (!/^[0-9a-f]{1,64}$/i.test(jobId)) return undefined;
  const newest = (await documentNames(join(folder, jobId))).at(-1);
  if (newest === undefined) return undefined;
  const whole = await readFile(join(folder, jobId, newest), "utf8");
  const text = whole.length <= MAX_CONTEXT_CHARS ? whole : withoutPrompt(whole);
  return text.length <= MAX_CONTEXT_CHARS ? text : `${text.slice(0, MAX_CONTEXT_CHARS)}\n… (cut)`;
}
