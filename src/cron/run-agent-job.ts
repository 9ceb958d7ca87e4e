// How a job runs in this program: a fresh conversation without a person, with a limit on silence.
import { resolve } from "node:path";
import type { App } from "../app/app.ts";
import type { Services } from "../app/services.ts";
import type { Conversation } from "../core/conversation.ts";
import type { AgentEvent } from "../core/event.ts";
import { formatFailure, UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import { type Human, nobody } from "../core/human.ts";
import type { Job } from "../core/job.ts";
import { takeMarkers } from "../core/outgoing-media.ts";
import type { Role } from "../core/role.ts";
import { sendableFile } from "../delivery/sendable-file.ts";
import { joinSignals } from "../lib/async/joined-signal.ts";
import { endGroup, spawnGroup } from "../lib/process/spawn-group.ts";
import { isProtected } from "../security/protected-files.ts";
import type { JobAnswer, RunJobParts } from "./run-job.ts";
import { type ProcessGroups, scriptsFolder } from "./script.ts";
import { stampIn } from "./zone.ts";

/** A job that could schedule jobs, send messages or ask would run away, send twice or hang. */
const WITHOUT = ["cronjob", "messaging", "clarify"];
const IDLE_SECONDS = 600;
const LOOK_MS = 5_000;

export interface RunFrame {
  readonly output: string;
  zone(): string;
  now(): number;
  scan(text: string): string | undefined;
}

/** `approvals.cron_mode: approve` says yes for the owner; text from outside still becomes nothing durable. */
const consenting: Human = {
  ...nobody,
  present: true,
  approve: async (request) =>
    request.intent.includes("[tainted_") ? { choice: "deny", unattended: true } : { choice: "once" },
};

/** Jobs that were made in a chat which is not the owner's alone work with a guest's rights. */
function roleOf(job: Job): Role {
  return job.origin?.tenant === undefined ? "owner" : "guest";
}

function personOf(services: Services, job: Job): Human {
  if (roleOf(job) === "guest") return { ...nobody, guest: true };
  return services.config.approvals.cron_mode === "approve" ? consenting : nobody;
}

const groups: ProcessGroups = {
  start: (command, { cwd, env }) =>
    spawnGroup('exec "$@"', { cwd, env, stdin: "ignore", args: command, separateErrors: true }),
  end: endGroup,
};

function plainEnv(services: Services): { [name: string]: string } {
  const entries = Object.entries(services.home.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return { ...Object.fromEntries(entries), HERMES_CRON_SESSION: "1" };
}

/** `cron_<job>_<time>`; a run within the same second gets a number. */
async function freeSessionId(app: App, job: Job, frame: RunFrame): Promise<string> {
  const stamp = stampIn(frame.now(), frame.zone()).replaceAll("-", "");
  for (let number = 1; ; number++) {
    const id = `cron_${job.id}_${stamp}${number === 1 ? "" : `_${number}`}`;
    if ((await app.store.getSession(id)) === null) return id;
  }
}

function idleLimit(services: Services): number {
  const text = services.home.env.HERMES_CRON_TIMEOUT?.trim() ?? "";
  const seconds = text === "" ? IDLE_SECONDS : Number(text);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : IDLE_SECONDS * 1000;
}

/** What a turn did last, and for how long it has been silent. A running tool has a limit of its own. */
class Activity {
  #at = Date.now();
  #last = "the start";
  #tools = 0;

  saw(event: AgentEvent): void {
    this.#at = Date.now();
    if (event.type === "tool_started") {
      this.#tools += 1;
      this.#last = `the start of ${event.name}`;
    } else if (event.type === "tool_ended") {
      this.#tools -= 1;
      this.#last = `the end of ${event.name}`;
    } else if (event.type !== "notice") this.#last = event.type.replaceAll("_", " ");
  }

  silentFor(): number {
    return this.#tools > 0 ? 0 : Date.now() - this.#at;
  }

  get last(): string {
    return this.#last;
  }
}

function failureOf(event: Extract<AgentEvent, { type: "ended" }>): string | undefined {
  const { failure } = event;
  if (failure) return formatFailure(failure);
  if (event.end === "budget") return "The job ran out of turns before it was done (agent.max_turns).";
  if (event.end === "interrupted") return "The run was interrupted.";
  return event.end === "failed" ? "The model call failed." : undefined;
}

async function oneTurn(
  conversation: Conversation,
  message: { text: string; tainted: boolean },
  limits: { silenceMs: number; signal: AbortSignal },
): Promise<JobAnswer> {
  const activity = new Activity();
  const silent = new AbortController();
  const watch = setInterval(
    () => {
      if (activity.silentFor() > limits.silenceMs) silent.abort();
    },
    Math.min(LOOK_MS, Math.max(50, limits.silenceMs / 4)),
  );
  if (limits.silenceMs === 0) clearInterval(watch);
  const { signal, release } = joinSignals([limits.signal, silent.signal]);
  let answer: JobAnswer = { text: "", sessionId: conversation.sessionId, failure: "The turn gave no end." };
  try {
    for await (const event of conversation.send(message.text, { signal, tainted: message.tainted })) {
      activity.saw(event);
      if (event.type !== "ended") continue;
      const failure = silent.signal.aborted
        ? `Nothing happened for ${Math.round(limits.silenceMs / 1000)} s; the last thing was ${activity.last}.`
        : failureOf(event);
      answer = { text: event.text, sessionId: event.sessionId, ...(failure === undefined ? {} : { failure }) };
    }
  } finally {
    clearInterval(watch);
    release();
  }
  return answer;
}

function startFolder(services: Services, job: Job): string {
  return job.workdir ?? resolve(services.home.cwd, services.config.terminal.cwd || ".");
}

async function converse(
  program: { readonly app: App; readonly services: Services; readonly frame: RunFrame },
  job: Job,
  message: { text: string; tainted: boolean },
  signal: AbortSignal,
): Promise<JobAnswer> {
  const { app, services, frame } = program;
  const sessionId = await freeSessionId(app, job, frame);
  try {
    const { conversation } = await app.openConversation({
      human: personOf(services, job),
      source: "cron",
      platform: "cron",
      sessionId,
      jobId: job.id,
      // Who is not the owner gets no further by a job than in the chat that it was made in.
      ...(job.origin?.tenant ? { userId: job.origin.tenant, withinPlatform: job.origin.platform } : {}),
      cwd: startFolder(services, job),
      withoutToolsets: WITHOUT,
      noMemory: true,
      ...(job.workdir ? {} : { noProjectFiles: true }),
      ...(job.model ? { model: job.model } : {}),
      ...(job.provider ? { provider: job.provider } : {}),
      ...(job.base_url ? { baseUrl: job.base_url } : {}),
      ...(job.enabled_toolsets ? { toolsets: job.enabled_toolsets } : {}),
    });
    try {
      return await oneTurn(conversation, message, { silenceMs: idleLimit(services), signal });
    } finally {
      const last = conversation.sessionId;
      await conversation.close();
      await app.store.endSession(last, "cron_complete");
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { text: "", sessionId, failure: formatFailure(error) };
  }
}

/** As in chats: a marker without a file stays in the text, and files with keys or passwords never leave. */
async function takeFiles(home: Home, job: Job, written: string): ReturnType<RunJobParts["takeFiles"]> {
  const { text, paths, options } = takeMarkers(written, sendableFile);
  const media: string[] = [];
  for (const path of paths) if (!(await isProtected(home, path, roleOf(job)))) media.push(path);
  const held = media.length < paths.length ? "\n\n[A protected file was not sent.]" : "";
  return { text: `${text}${held}`, media, mediaWish: options };
}

/** Everything that a run needs of this program. */
export function runJobParts(app: App, services: Services, frame: RunFrame): RunJobParts {
  return {
    output: { folder: frame.output, keep: services.config.cron.keep_documents },
    wrap: services.config.cron.wrap_response,
    now: frame.now,
    zone: frame.zone,
    scan: frame.scan,
    deliverer: () => services.cron.deliverer(),
    takeFiles: (text, job) => takeFiles(services.home, job, text),
    script: {
      folder: scriptsFolder(services.home.path),
      get env() {
        return plainEnv(services);
      },
      groups,
      timeoutMs: services.config.cron.script_timeout_seconds * 1000,
      redact: (text) => services.redactor.redact(text),
    },
    loadSkill: async (name, signal) => {
      const skills = await app.skills();
      const about = { conversationId: "", sessionId: "", human: nobody, signal, platform: "cron", local: false };
      const activation = await skills.activate(name, about);
      return activation.ok ? { ok: true, text: activation.text } : { ok: false, error: activation.error };
    },
    converse: (job, message, signal) => converse({ app, services, frame }, job, message, signal),
    notice: (text) => services.notice(text),
  };
}
