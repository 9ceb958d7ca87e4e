// One run of a job from script to delivery. The conversation itself is handed in.
import { stat } from "node:fs/promises";
import type { Deliverer, DeliveryMessage, Job, JobRun } from "../core/job.ts";
import { assemblePrompt, type LoadedSkill } from "./assemble.ts";
import { isLocalOnly, resolveTargets } from "./delivery-target.ts";
import { type DocumentPlace, newestDocument, type RunText, writeDocument } from "./document.ts";
import { alertText, failureText, isSilent, wrapped } from "./message.ts";
import { JobRemoved, type JobResult } from "./scheduler.ts";
import { runScript, type ScriptParts, type ScriptResult } from "./script.ts";

export interface JobAnswer {
  readonly text: string;
  readonly sessionId: string;
  /** Why the turn did not end well. */
  readonly failure?: string | undefined;
}

export interface RunJobParts {
  /** cron/output. */
  readonly output: DocumentPlace;
  readonly script: ScriptParts;
  deliverer(): Promise<Deliverer>;
  /** The text without the markers of files that go along with it; what must not leave the machine stays. */
  takeFiles(text: string, job: Job): Promise<Pick<DeliveryMessage, "text" | "media" | "mediaWish">>;
  readonly wrap: boolean;
  now(): number;
  zone(): string;
  loadSkill(name: string, signal: AbortSignal): Promise<LoadedSkill>;
  /** The rule that a text breaks; undefined when it is fit to be sent to a model. */
  scan(text: string): string | undefined;
  /** One turn in a fresh conversation. Trouble is data. */
  converse(
    job: Job,
    message: { readonly text: string; readonly tainted: boolean },
    signal: AbortSignal,
  ): Promise<JobAnswer>;
  notice(text: string): void;
}

/** How a run ended, before anybody was told. */
interface Ending {
  /** Absent when there is nothing to deliver. */
  readonly message?: string | undefined;
  readonly error?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly text: Omit<RunText, "at" | "zone">;
}

async function runWithoutModel(job: Job, parts: RunJobParts, signal: AbortSignal): Promise<Ending> {
  if (!job.script) {
    const error = "The job is set to run without a model, but it has no script.";
    return { error, text: { status: "failed", error } };
  }
  const script = await runScript(job.script, parts.script, signal);
  if (!script.ok) return { error: script.error, text: { status: "failed", error: script.error } };
  const silent = script.output === "" || !script.wake || isSilent(script.output);
  return {
    ...(silent ? {} : { message: script.output }),
    text: { status: silent ? "ok (silent)" : "ok", response: script.output },
  };
}

async function gather(job: Job, parts: RunJobParts, run: { script?: ScriptResult | undefined; signal: AbortSignal }) {
  const context: { jobId: string; text: string }[] = [];
  for (const jobId of job.context_from ?? []) {
    const text = await newestDocument(parts.output.folder, jobId);
    if (text !== undefined) context.push({ jobId, text });
  }
  const skills: { name: string; loaded: LoadedSkill }[] = [];
  for (const name of job.skills) skills.push({ name, loaded: await parts.loadSkill(name, run.signal) });
  const prompt = assemblePrompt(job, { context, skills, ...(run.script ? { script: run.script } : {}) });
  return { prompt, tainted: context.length > 0 || run.script !== undefined };
}

/** Without its folder a job would work, and write, somewhere else. */
async function missingFolder({ workdir }: Job): Promise<string | undefined> {
  if (workdir === null || (await stat(workdir).catch(() => undefined))?.isDirectory()) return undefined;
  return `The working directory ${workdir} does not exist any more.`;
}

async function runWithModel(job: Job, parts: RunJobParts, signal: AbortSignal): Promise<Ending> {
  const missing = await missingFolder(job);
  if (missing !== undefined) return { error: missing, text: { error: missing } };
  const script = job.script ? await runScript(job.script, parts.script, signal) : undefined;
  signal.throwIfAborted();
  if (script?.ok && (script.output === "" || !script.wake)) {
    return { text: { response: "(the script had nothing to report; the model was not asked)" } };
  }
  const { prompt, tainted } = await gather(job, parts, { signal, ...(script ? { script } : {}) });
  const rule = parts.scan(prompt);
  if (rule !== undefined) {
    const error = `Blocked: the text for the model has the marks of smuggled instructions (${rule}). The model was not asked.`;
    return { error, text: { prompt, error, blocked: true } };
  }
  const answer = await parts.converse(job, { text: prompt, tainted }, signal);
  const { sessionId, text } = answer;
  const error = answer.failure ?? (text.trim() === "" ? "The model ended without an answer." : undefined);
  if (error !== undefined) return { error, sessionId, text: { prompt, error, response: text } };
  return { ...(isSilent(text) ? {} : { message: text }), sessionId, text: { prompt, response: text } };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Sends to every target; answers with what went wrong, all of it in one line. */
async function deliver(
  job: Job,
  message: { readonly content: string; readonly key: string },
  parts: RunJobParts,
): Promise<{ sent: number; error?: string | undefined }> {
  if (isLocalOnly(job.deliver)) return { sent: 0 };
  const deliverer = await parts.deliverer();
  const { targets, errors } = await resolveTargets(job, deliverer);
  const { text, ...files } = await parts.takeFiles(message.content, job);
  const body = parts.wrap ? wrapped(job, text) : text;
  const failed = [...errors];
  for (const target of targets) {
    const sending = deliverer.send(target, { text: body, ...files, jobId: job.id, key: message.key });
    const problem = await sending.catch(wordsOf);
    if (problem !== undefined) failed.push(`${target.platform}: ${problem}`);
  }
  const sent = targets.length - (failed.length - errors.length);
  return { sent, ...(failed.length > 0 ? { error: failed.join("; ") } : {}) };
}

/** Undefined when it could not be saved: a full disk does not keep the result from a chat. Without one it is all there is. */
async function savedDocument(job: Job, ending: Ending, parts: RunJobParts): Promise<string | undefined> {
  try {
    return await writeDocument(parts.output, job, { ...ending.text, at: parts.now(), zone: parts.zone() });
  } catch (error) {
    if (isLocalOnly(job.deliver)) throw error;
    parts.notice(`The document of the job "${job.name}" could not be saved: ${wordsOf(error)}`);
    return undefined;
  }
}

/** Runs, saves the document, delivers. A failure is told to the job's targets, else as a notice. */
export async function runJob(
  job: Job,
  run: { readonly id: number },
  parts: RunJobParts,
  signal: AbortSignal,
): Promise<JobResult> {
  let ending: Ending;
  try {
    ending = await (job.no_agent ? runWithoutModel : runWithModel)(job, parts, signal);
  } catch (thrown) {
    const error = wordsOf(thrown);
    ending = { error, text: { error, ...(job.no_agent ? { status: "failed" } : {}) } };
  }
  // A run that was stopped from outside says why, whatever its parts made of it.
  if (signal.aborted && ending.error !== undefined && signal.reason instanceof Error) {
    const error = signal.reason.message;
    ending = { ...ending, error, text: { ...ending.text, error } };
  }
  if (signal.reason instanceof JobRemoved) return { ok: false, told: true, error: signal.reason.message };
  const document = await savedDocument(job, ending, parts);
  const content = ending.error === undefined ? ending.message : failureText(job, ending.error);
  const key = String(run.id);
  const undelivered = (error: unknown) => ({ sent: 0, error: wordsOf(error) });
  const delivery: { sent: number; error?: string | undefined } =
    content === undefined ? { sent: 0 } : await deliver(job, { content, key }, parts).catch(undelivered);
  if (ending.error !== undefined && delivery.sent === 0) parts.notice(failureText(job, ending.error));
  else if (delivery.error !== undefined)
    parts.notice(
      `The result of the job "${job.name}" was not delivered (${delivery.error}).${document === undefined ? "" : ` It is in ${document}`}`,
    );
  return {
    ok: ending.error === undefined,
    told: true,
    ...(document === undefined ? {} : { document }),
    ...(ending.error === undefined ? {} : { error: ending.error }),
    ...(ending.sessionId === undefined ? {} : { sessionId: ending.sessionId }),
    ...(delivery.error === undefined ? {} : { deliveryError: delivery.error }),
  };
}

/** Tells about a run that ended without telling anybody; where no chat can be reached, a document and a notice. */
export async function sendAlert(run: JobRun, job: Job | undefined, parts: RunJobParts): Promise<string | undefined> {
  const text = alertText(run, job, parts.zone());
  const alert = { content: text, key: `${run.id}:alert` };
  const delivery = job ? await deliver(job, alert, { ...parts, wrap: false }) : { sent: 0 };
  if (delivery.sent > 0) return delivery.error;
  parts.notice(text);
  if (job)
    await writeDocument(parts.output, job, { at: parts.now(), zone: parts.zone(), error: text, status: run.state });
  return delivery.error;
}
