// /v1/runs: runs that need no open connection. Events can be replayed, approvals are sent by POST.

import type { AgentEvent } from "../../core/event.ts";
import type { ApprovalChoice } from "../../core/human.ts";
import type { JsonObject } from "../../core/message.ts";
import { underSignals } from "../../lib/async/joined-signal.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { type ApiContext, type Body, newId } from "./api-context.ts";
import { ApiError, invalid } from "./api-error.ts";
import type { ClientInput } from "./content.ts";
import { RunHuman } from "./run-human.ts";
import type { SessionOptions } from "./sessions.ts";
import { chatUsage, isShown, runTurn, type TurnResult } from "./turn.ts";

const MAX_ACTIVE = 10;
const KEEP_MS = 3_600_000;
const MAX_EVENTS = 20_000;
/** Limit for all runs together: the runs that ended first are removed first. */
const MAX_KEPT_EVENTS = 100_000;
const STOP_MS = 5_000;

export type RunStatus =
  | "queued"
  | "running"
  | "waiting_for_approval"
  | "stopping"
  | "completed"
  | "failed"
  | "cancelled";

const CHOICES: { readonly [word: string]: ApprovalChoice } = {
  once: "once",
  approve: "once",
  approved: "once",
  allow: "once",
  session: "session",
  always: "always",
  deny: "deny",
};

export interface RunOptions extends Pick<SessionOptions, "client" | "sessionId" | "thread" | "userId"> {
  readonly client: ClientInput;
  readonly model: string;
}

/** One run and its events. */
export class Run {
  readonly id: string;
  readonly events: JsonObject[] = [];
  readonly human: RunHuman;
  readonly done: Promise<void>;
  readonly #api: ApiContext;
  readonly #options: RunOptions;
  readonly #controller = new AbortController();
  readonly #watchers = new Set<() => void>();
  readonly #createdAt: number;
  #updatedAt: number;
  #status: RunStatus = "queued";
  #sessionId: string | null = null;
  #result: Pick<TurnResult, "text" | "usage"> | undefined;
  #error: string | null = null;

  constructor(api: ApiContext, options: RunOptions) {
    this.id = newId("run_", 32);
    this.#api = api;
    this.#options = options;
    this.#createdAt = api.now() / 1000;
    this.#updatedAt = this.#createdAt;
    this.human = new RunHuman({
      timeoutMs: api.approvalMs,
      onAsked: (request) => {
        this.#status = "waiting_for_approval";
        const { action, reason, choices, toolName } = request;
        this.#emit("approval.request", { command: action, description: reason, choices, tool: toolName });
        if (api.sessions.draining) void this.stop();
      },
      onAnswered: (_request, answer) => {
        if (this.#status === "waiting_for_approval" && this.human.pending === 0) this.#status = "running";
        this.#emit("approval.responded", { choice: answer.choice, unattended: "unattended" in answer });
      },
    });
    this.done = this.#work();
  }

  get active(): boolean {
    return !["completed", "failed", "cancelled"].includes(this.#status);
  }

  get updatedAt(): number {
    return this.#updatedAt;
  }

  get status(): RunStatus {
    return this.#status;
  }

  #emit(event: string, data: JsonObject = {}): void {
    this.#updatedAt = this.#api.now() / 1000;
    if (this.events.length < MAX_EVENTS || event.startsWith("run."))
      this.events.push({ event, run_id: this.id, timestamp: this.#updatedAt, ...data });
    for (const wake of [...this.#watchers]) wake();
  }

  /** Resolves when there may be more events. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#watchers.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      if (signal.aborted) return resolve();
      this.#watchers.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }

  async #work(): Promise<void> {
    try {
      const { client, sessionId, thread, userId } = this.#options;
      const session = await this.#api.sessions.open({
        client,
        human: this.human,
        prefix: "run-",
        sessionId,
        userId,
        thread: thread ?? null,
      });
      try {
        this.#sessionId = session.sessionId;
        if (this.#status === "queued") this.#status = "running";
        const ended = await underSignals([this.#controller.signal, this.#api.stopping], undefined, (signal) =>
          runTurn(session, signal, (event) => this.#show(event)),
        );
        this.#finish(ended);
      } finally {
        session.release();
      }
    } catch (error) {
      if (!(error instanceof ApiError)) this.#api.log("error", `run ${this.id}: ${String(error)}`);
      this.#fail(errorMessage(error));
    }
  }

  #show(event: AgentEvent): void {
    if (event.type === "delta" && event.kind === "text") this.#emit("message.delta", { delta: event.text });
    else if (event.type === "tool_started" && isShown(event.name))
      this.#emit("tool.started", { tool: event.name, tool_call_id: event.callId, preview: event.preview });
    else if (event.type === "tool_ended" && isShown(event.name))
      this.#emit("tool.completed", {
        tool: event.name,
        tool_call_id: event.callId,
        duration: Math.round(event.durationMs) / 1000,
        error: event.failed,
      });
    else if (event.type === "message" && event.message.role === "assistant" && event.message.reasoning)
      this.#emit("reasoning.available", { text: event.message.reasoning });
  }

  #finish(result: TurnResult): void {
    this.#result = { text: result.text, usage: result.usage };
    this.#sessionId = result.sessionId;
    if (result.end === "interrupted") {
      this.#status = "cancelled";
      this.#emit("run.cancelled", { output: result.text });
    } else if (result.end === "failed") this.#fail(result.problem ?? "The run failed.");
    else {
      this.#status = "completed";
      this.#emit("run.completed", { output: result.text, usage: chatUsage(result.usage) });
    }
  }

  #fail(message: string): void {
    this.#status = "failed";
    this.#error = message;
    this.#emit("run.failed", { error: message });
  }

  /** Asks the run to stop and waits a little for its end. */
  async stop(): Promise<void> {
    if (!this.active) return;
    this.#status = "stopping";
    this.#controller.abort();
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, STOP_MS).unref());
    await Promise.race([this.done, timeout]);
  }

  toJson(): JsonObject {
    return {
      object: "hermes.run",
      run_id: this.id,
      status: this.#status,
      created_at: this.#createdAt,
      updated_at: this.#updatedAt,
      session_id: this.#sessionId,
      model: this.#options.model,
      output: this.#result?.text ?? null,
      usage: this.#result ? chatUsage(this.#result.usage) : null,
      error: this.#error,
      last_event: (this.events.at(-1)?.event as string | undefined) ?? null,
      pending_approvals: this.human.pending,
    };
  }
}

export class Runs {
  readonly #api: ApiContext;
  readonly #runs = new Map<string, Run>();

  constructor(api: ApiContext) {
    this.#api = api;
  }

  get active(): number {
    return [...this.#runs.values()].filter((run) => run.active).length;
  }

  start(options: RunOptions): Run {
    this.#sweep();
    if (this.active >= MAX_ACTIVE)
      throw new ApiError(429, "too_many_runs", `${MAX_ACTIVE} runs are active; wait for one to end or stop one`);
    const run = new Run(this.#api, options);
    this.#runs.set(run.id, run);
    return run;
  }

  get(id: string): Run {
    this.#sweep();
    const run = this.#runs.get(id);
    if (!run) throw new ApiError(404, "run_not_found", `there is no run ${id}`);
    return run;
  }

  #sweep(): void {
    const oldest = this.#api.now() / 1000 - KEEP_MS / 1000;
    let kept = 0;
    for (const [id, run] of [...this.#runs].reverse()) {
      kept += run.events.length;
      if (!run.active && (run.updatedAt < oldest || kept > MAX_KEPT_EVENTS)) this.#runs.delete(id);
    }
  }

  /** A server that stops does not wait for approvals. */
  async stopWaiting(): Promise<void> {
    const waiting = [...this.#runs.values()].filter((run) => run.status === "waiting_for_approval");
    await Promise.all(waiting.map((run) => run.stop()));
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#runs.values()].map((run) => run.stop()));
  }
}

/** Answers the oldest open question of the run, or all of them. */
export function answerApproval(run: Run, body: Body): JsonObject {
  const choice = CHOICES[String(body.choice ?? "").toLowerCase()];
  if (!choice) throw invalid("invalid_choice", "choice must be once, session, always or deny", "choice");
  if (!run.active) throw new ApiError(409, "approval_not_active", "the run has ended");
  const resolved = run.human.answer(choice, body.all === true || body.resolve_all === true);
  if (resolved === 0) throw new ApiError(409, "approval_not_pending", "the run waits for no approval");
  return { run_id: run.id, choice, resolved };
}
