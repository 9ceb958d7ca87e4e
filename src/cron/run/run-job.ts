// One run of a job: its script, its conversation, the document of the result, the delivery.
import { stat } from "node:fs/promises";
import type { Job, JobRun } from "../../core/job.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { isLocalOnly } from "../delivery-target.ts";
import { type DocumentFolder, newestDocument, type RunText, writeDocument } from "../document.ts";
import { assemblePrompt, type LoadedSkill } from "./assemble.ts";
import { type DeliveryReport, deliver } from "./deliver.ts";
import { converse } from "./job-conversation.ts";
import type { JobHost } from "./job-host.ts";
import { alertText, failureText, isSilent } from "./message.ts";
import { JobRemoved, type JobResult } from "./scheduler.ts";
import { runScript, type ScriptResult, scriptsFolder } from "./script.ts";

/** The end of a run, before it is saved and delivered. */
interface RunEnding {
  /** Absent when there is nothing to deliver. */
  readonly message?: string | undefined;
  readonly error?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly text: Omit<RunText, "at" | "zone">;
}

function documentFolder({ output, config }: JobHost): DocumentFolder {
  return { path: output, keep: config.cron.keep_documents };
}

function runJobScript(host: JobHost, name: string, signal: AbortSignal): Promise<ScriptResult> {
  const { home, config } = host;
  const entries = Object.entries(home.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const options = {
    folder: scriptsFolder(home.path),
    env: { ...Object.fromEntries(entries), HERMES_CRON_SESSION: "1" },
    timeoutMs: config.cron.script_timeout_seconds * 1000,
    redact: (text: string) => host.redact(text),
  };
  return runScript(name, options, signal);
}

async function runWithoutModel(host: JobHost, job: Job, signal: AbortSignal): Promise<RunEnding> {
  if (!job.script) {
    const error = "The job is set to run without a model, but it has no script.";
    return { error, text: { status: "failed", error } };
  }
  const script = await runJobScript(host, job.script, signal);
  if (!script.ok) return { error: script.error, text: { status: "failed", error: script.error } };
  const silent = script.output === "" || !script.wake || isSilent(script.output);
  return {
    message: silent ? undefined : script.output,
    text: { status: silent ? "ok (silent)" : "ok", response: script.output },
  };
}

async function buildPrompt(host: JobHost, job: Job, run: { script?: ScriptResult | undefined; signal: AbortSignal }) {
  const context: { jobId: string; text: string }[] = [];
  for (const jobId of job.context_from ?? []) {
    const text = await newestDocument(host.output, jobId);
    if (text !== undefined) context.push({ jobId, text });
  }
  const skills: { name: string; loaded: LoadedSkill }[] = [];
  for (const name of job.skills) skills.push({ name, loaded: await host.loadSkill(name, run.signal) });
  const prompt = assemblePrompt(job, { context, skills, script: run.script });
  return { prompt, tainted: context.length > 0 || run.script !== undefined };
}

/** A job whose folder is missing must not run, and write, in another one. */
async function missingFolder({ workdir }: Job): Promise<string | undefined> {
  if (workdir === null || (await stat(workdir).catch(() => undefined))?.isDirectory()) return undefined;
  return `The working directory ${workdir} does not exist any more.`;
}

async function runWithModel(host: JobHost, job: Job, signal: AbortSignal): Promise<RunEnding> {
  const missing = await missingFolder(job);
  if (missing !== undefined) return { error: missing, text: { error: missing } };
  const script = job.script ? await runJobScript(host, job.script, signal) : undefined;
  signal.throwIfAborted();
  if (script?.ok && (script.output === "" || !script.wake)) {
    return { text: { response: "(the script had nothing to report; the model was not asked)" } };
  }
  const { prompt, tainted } = await buildPrompt(host, job, { script, signal });
  const rule = host.scan(prompt);
  if (rule !== undefined) {
    const error = `Blocked: the text for the model looks like a prompt injection (${rule}). The model was not asked.`;
    return { error, text: { prompt, error, blocked: true } };
  }
  const { sessionId, text, failure } = await converse(host, job, { text: prompt, tainted }, signal);
  const error = failure ?? (text.trim() === "" ? "The model ended without an answer." : undefined);
  if (error !== undefined) return { error, sessionId, text: { prompt, error, response: text } };
  return { message: isSilent(text) ? undefined : text, sessionId, text: { prompt, response: text } };
}

/** Runs the job. Errors are returned; a run that was stopped reports the reason of the stop. */
async function perform(host: JobHost, job: Job, signal: AbortSignal): Promise<RunEnding> {
  let ending: RunEnding;
  try {
    ending = await (job.no_agent ? runWithoutModel : runWithModel)(host, job, signal);
  } catch (thrown) {
    const error = errorMessage(thrown);
    ending = { error, text: { error, status: job.no_agent ? "failed" : undefined } };
  }
  if (!signal.aborted || ending.error === undefined || !(signal.reason instanceof Error)) return ending;
  const error = signal.reason.message;
  return { ...ending, error, text: { ...ending.text, error } };
}

/** Undefined when the document could not be saved but the result is delivered to a chat. Otherwise that error is thrown. */
async function saveDocument(host: JobHost, job: Job, ending: RunEnding): Promise<string | undefined> {
  try {
    return await writeDocument(documentFolder(host), job, { ...ending.text, at: host.now(), zone: host.zone() });
  } catch (error) {
    if (isLocalOnly(job.deliver)) throw error;
    host.notice(`The document of the job "${job.name}" could not be saved: ${errorMessage(error)}`);
    return undefined;
  }
}

/** Sends the result or the failure to the targets. What reaches no target is shown as a notice. */
async function deliverEnding(
  host: JobHost,
  job: Job,
  ending: RunEnding,
  run: { readonly id: number; readonly document: string | undefined },
): Promise<DeliveryReport> {
  const content = ending.error === undefined ? ending.message : failureText(job, ending.error);
  const message = { key: String(run.id), wrap: host.config.cron.wrap_response };
  const delivery: DeliveryReport =
    content === undefined
      ? { sent: 0 }
      : await deliver(host, job, { ...message, content }).catch((error: unknown) => ({
          sent: 0,
          error: errorMessage(error),
        }));
  if (ending.error !== undefined && delivery.sent === 0) host.notice(failureText(job, ending.error));
  else if (delivery.error !== undefined) {
    const where = run.document === undefined ? "" : ` It is in ${run.document}`;
    host.notice(`The result of the job "${job.name}" was not delivered (${delivery.error}).${where}`);
  }
  return delivery;
}

/** Runs the job, saves its document and delivers the result. */
export async function runJob(
  host: JobHost,
  job: Job,
  run: { readonly id: number },
  signal: AbortSignal,
): Promise<JobResult> {
  const ending = await perform(host, job, signal);
  if (signal.reason instanceof JobRemoved) return { ok: false, reported: true, error: signal.reason.message };
  const document = await saveDocument(host, job, ending);
  const delivery = await deliverEnding(host, job, ending, { id: run.id, document });
  return {
    ok: ending.error === undefined,
    reported: true,
    document,
    error: ending.error,
    sessionId: ending.sessionId,
    deliveryError: delivery.error,
  };
}

/** Reports a run that ended without a report. When no chat can be reached: as a document and a notice. */
export async function sendAlert(host: JobHost, run: JobRun, job: Job | undefined): Promise<string | undefined> {
  const text = alertText(run, job, host.zone());
  const message = { content: text, key: `${run.id}:alert`, wrap: false };
  const delivery: DeliveryReport = job ? await deliver(host, job, message) : { sent: 0 };
  if (delivery.sent > 0) return delivery.error;
  host.notice(text);
  if (job)
    await writeDocument(documentFolder(host), job, {
      at: host.now(),
      zone: host.zone(),
      error: text,
      status: run.state,
    });
  return delivery.error;
}
