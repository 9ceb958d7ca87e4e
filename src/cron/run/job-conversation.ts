// The conversation of a job: a new session without a user, one turn, with a limit on inactivity.
import { resolve } from "node:path";
import type { Conversation } from "../../core/conversation.ts";
import type { AgentEvent } from "../../core/event.ts";
import { formatFailure, UserError } from "../../core/failure.ts";
import { absentHuman, type Human } from "../../core/human.ts";
import type { Job } from "../../core/job.ts";
import { joinSignals } from "../../lib/async/joined-signal.ts";
import { stampIn } from "../schedule/zone.ts";
import { type JobHost, jobRole } from "./job-host.ts";

/** Toolsets with which a job could create further jobs, send its result twice, or wait for an answer. */
const EXCLUDED_TOOLSETS = ["cronjob", "messaging", "clarify"];
const DEFAULT_IDLE_SECONDS = 600;
const CHECK_MS = 5_000;

export interface JobAnswer {
  readonly text: string;
  readonly sessionId: string;
  /** Why the turn failed. */
  readonly failure?: string | undefined;
}

export interface JobMessage {
  readonly text: string;
  /** The text contains data from outside. */
  readonly tainted: boolean;
}

/** For `approvals.cron_mode: approve`. Requests from tainted text and to leave the container are still denied. */
const approvingHuman: Human = {
  ...absentHuman,
  present: true,
  approve: async (request) =>
    request.intent.includes("[tainted_") || request.intent.startsWith("permission ")
      ? { choice: "deny", unattended: true }
      : { choice: "once" },
};

function jobHuman({ config }: JobHost, job: Job): Human {
  if (jobRole(job) === "guest") return { ...absentHuman, guest: true };
  return config.approvals.cron_mode === "approve" ? approvingHuman : absentHuman;
}

/** `cron_<job>_<time>`, with a number when the id is taken. */
async function freeSessionId({ sessions, now, zone }: JobHost, job: Job): Promise<string> {
  const stamp = stampIn(now(), zone()).replaceAll("-", "");
  for (let number = 1; ; number++) {
    const id = `cron_${job.id}_${stamp}${number === 1 ? "" : `_${number}`}`;
    if ((await sessions.getSession(id)) === null) return id;
  }
}

/** Milliseconds; 0 for no limit. */
function idleLimit({ home }: JobHost): number {
  const text = home.env.HERMES_CRON_TIMEOUT?.trim() ?? "";
  const seconds = text === "" ? DEFAULT_IDLE_SECONDS : Number(text);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : DEFAULT_IDLE_SECONDS * 1000;
}

/** The last event of a turn and the time since then. A running tool counts as activity: it has its own time limit. */
class Activity {
  #at = Date.now();
  #last = "the start";
  #tools = 0;

  record(event: AgentEvent): void {
    this.#at = Date.now();
    if (event.type === "tool_started") {
      this.#tools += 1;
      this.#last = `the start of ${event.name}`;
    } else if (event.type === "tool_ended") {
      this.#tools -= 1;
      this.#last = `the end of ${event.name}`;
    } else if (event.type !== "notice") this.#last = event.type.replaceAll("_", " ");
  }

  idleMs(): number {
    return this.#tools > 0 ? 0 : Date.now() - this.#at;
  }

  get last(): string {
    return this.#last;
  }
}

function turnFailure(event: Extract<AgentEvent, { type: "ended" }>): string | undefined {
  const { failure } = event;
  if (failure) return formatFailure(failure);
  if (event.end === "budget") return "The job reached the limit of turns before it was done (agent.max_turns).";
  if (event.end === "interrupted") return "The run was interrupted.";
  return event.end === "failed" ? "The model call failed." : undefined;
}

async function runTurn(
  conversation: Conversation,
  message: JobMessage,
  limits: { readonly idleMs: number; readonly signal: AbortSignal },
): Promise<JobAnswer> {
  const activity = new Activity();
  const idle = new AbortController();
  const watch = setInterval(
    () => {
      if (activity.idleMs() > limits.idleMs) idle.abort();
    },
    Math.min(CHECK_MS, Math.max(50, limits.idleMs / 4)),
  );
  if (limits.idleMs === 0) clearInterval(watch);
  const { signal, release } = joinSignals([limits.signal, idle.signal]);
  let answer: JobAnswer = { text: "", sessionId: conversation.sessionId, failure: "The turn did not end." };
  try {
    for await (const event of conversation.send(message.text, { signal, tainted: message.tainted })) {
      activity.record(event);
      if (event.type !== "ended") continue;
      const failure = idle.signal.aborted
        ? `Nothing happened for ${Math.round(limits.idleMs / 1000)} s; the last thing was ${activity.last}.`
        : turnFailure(event);
      answer = { text: event.text, sessionId: event.sessionId, failure };
    }
  } finally {
    clearInterval(watch);
    release();
  }
  return answer;
}

/** Runs one turn in a new conversation. An expected error is returned as a failure. */
export async function converse(host: JobHost, job: Job, message: JobMessage, signal: AbortSignal): Promise<JobAnswer> {
  const { home, config, sessions } = host;
  const sessionId = await freeSessionId(host, job);
  const tenant = job.origin?.tenant || undefined;
  try {
    const { conversation } = await host.openConversation({
      human: jobHuman(host, job),
      source: "cron",
      platform: "cron",
      sessionId,
      jobId: job.id,
      userId: tenant,
      // The job of a guest has no more tools than the chat it was created in.
      withinPlatform: tenant && job.origin?.platform,
      cwd: job.workdir ?? resolve(home.cwd, config.terminal.cwd || "."),
      withoutToolsets: EXCLUDED_TOOLSETS,
      noMemory: true,
      noProjectFiles: !job.workdir,
      model: job.model || undefined,
      provider: job.provider || undefined,
      baseUrl: job.base_url || undefined,
      toolsets: job.enabled_toolsets ?? undefined,
    });
    try {
      return await runTurn(conversation, message, { idleMs: idleLimit(host), signal });
    } finally {
      const last = conversation.sessionId;
      await conversation.close();
      await sessions.endSession(last, "cron_complete");
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { text: "", sessionId, failure: formatFailure(error) };
  }
}
