// Runs one subagent until it is done, fails, times out or is interrupted, and reports what it achieved.
import type { Conversation, ConversationOptions } from "../../core/conversation.ts";
import type { AgentEvent } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import type { Cost, Usage } from "../../core/store/usage.ts";
import type { DenyTool, ToolContext } from "../../core/tool/tool.ts";
import { OWN, type Provenance } from "../../core/trust.ts";
import { Deadline } from "../../lib/async/deadline.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { ABORTED, untilAborted } from "../until-aborted.ts";

export const DELEGATE_TASK = "delegate_task";

export type ChildRole = "leaf" | "orchestrator";

/** Opens a subagent. `sessionId` is always given, so that the parent can record it before the start. */
export type OpenChild = (options: ChildOptions) => Promise<Conversation>;

export type ChildOptions = ConversationOptions & { readonly sessionId: string };

export interface ChildReport {
  readonly json: JsonObject;
  readonly summary: string;
  readonly status: string;
  readonly durationMs: number;
  readonly usage: Usage | undefined;
  readonly cost: Cost | undefined;
  readonly written: readonly string[];
  /** The least trusted text that the subagent has read. */
  readonly provenance: Provenance;
}

/** `denyTool` of a subagent. */
export function childDenial(role: ChildRole): DenyTool {
  return (name, tool) => {
    if (tool?.notForSubagents !== undefined) return `${name} is not available here: ${tool.notForSubagents}.`;
    if (name === DELEGATE_TASK && role !== "orchestrator")
      return `${name} is not available here: this subagent may not start others.`;
    return undefined;
  };
}

interface TraceItem {
  tool: string;
  args_bytes: number;
  result_bytes: number;
  status: string;
}

/** Collects from a child's events what it has achieved so far. */
class Watcher {
  readonly trace = new Map<string, TraceItem>();
  readonly written = new Set<string>();
  ended: Extract<AgentEvent, { type: "ended" }> | undefined;
  text = "";
  modelCalls = 0;
  usage: Usage | undefined;
  cost: Cost | undefined;
  provenance = OWN;
  onToolStarted: () => void = () => undefined;

  note(event: AgentEvent): void {
    if (event.type === "tool_started") this.#started(event);
    else if (event.type === "tool_ended") {
      const item = this.trace.get(event.callId);
      if (item !== undefined) item.status = event.failed ? "error" : "ok";
    } else if (event.type === "message") {
      const { message } = event;
      if (message.role === "assistant" && contentText(message.content).trim() !== "")
        this.text = contentText(message.content);
      const item = message.role === "tool" ? this.trace.get(message.tool_call_id) : undefined;
      if (item !== undefined) item.result_bytes = Buffer.byteLength(contentText(message.content));
    } else if (event.type === "usage") this.modelCalls += 1;
    else if (event.type === "ended") {
      this.ended = event;
      this.usage = event.usage;
      this.cost = event.cost;
    }
  }

  #started(event: Extract<AgentEvent, { type: "tool_started" }>): void {
    this.trace.set(event.callId, {
      tool: event.name,
      args_bytes: Buffer.byteLength(event.args),
      result_bytes: 0,
      status: "started",
    });
    this.onToolStarted();
    if (event.name !== "write_file" && event.name !== "patch") return;
    const path = /"path"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(event.args)?.[1];
    if (path !== undefined) this.written.add(JSON.parse(`"${path}"`) as string);
  }
}

export interface ChildTask {
  readonly index: number;
  readonly goal: string;
  readonly options: ChildOptions;
  readonly timeoutMs: number;
  readonly heartbeatMs: number;
  /** Set when the task may contain untrusted text: where it came from. */
  readonly taint: string | undefined;
}

const STOP_GRACE_MS = 2_000;

function describeEnd(watcher: Watcher, state: { timedOut: boolean; stopped: boolean; error: string | undefined }) {
  const { ended } = watcher;
  if (ended?.end === "done") return { status: "completed", exit: "completed" };
  if (ended?.end === "budget") return { status: "completed", exit: "max_iterations" };
  if (state.timedOut) return { status: "timeout", exit: "timeout" };
  if (state.stopped) return { status: "interrupted", exit: "interrupted" };
  return state.error === undefined ? { status: "failed", exit: "error" } : { status: "error", exit: "error" };
}

async function drive(open: OpenChild, task: ChildTask, signal: AbortSignal, watcher: Watcher): Promise<void> {
  const child = await open(task.options);
  try {
    for await (const event of child.send(task.goal, {
      signal,
      tainted: task.taint !== undefined,
      taintOrigin: task.taint,
    })) {
      watcher.note(event);
      watcher.provenance = child.provenance;
    }
  } finally {
    watcher.provenance = child.provenance;
    await child.close({ reason: "subagent_done" });
  }
}

/** Never throws; returns at most `STOP_GRACE_MS` after its deadline. */
export async function runChild(open: OpenChild, task: ChildTask, context: ToolContext): Promise<ChildReport> {
  const watcher = new Watcher();
  const deadline = new Deadline(task.timeoutMs);
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 100) / 10;
  const showProgress = () => {
    const last = [...watcher.trace.values()].at(-1)?.tool ?? "thinking";
    context.progress(`subagent ${task.index + 1}: ${seconds()} s, ${watcher.trace.size} tool calls, now ${last}`);
  };
  watcher.onToolStarted = showProgress;
  const heartbeat = setInterval(showProgress, task.heartbeatMs);
  const signal = AbortSignal.any([context.signal, deadline.signal]);
  let error: string | undefined;
  try {
    const done = await untilAborted(drive(open, task, signal, watcher), signal, STOP_GRACE_MS);
    if (done === ABORTED) error = "The subagent did not stop in time and was abandoned.";
  } catch (thrown) {
    error = errorMessage(thrown);
  } finally {
    clearInterval(heartbeat);
    deadline.stop();
  }
  const state = { timedOut: deadline.passed, stopped: context.signal.aborted, error };
  return report(watcher, task, { ...state, durationMs: performance.now() - startedAt });
}

function report(
  watcher: Watcher,
  task: ChildTask,
  state: { timedOut: boolean; stopped: boolean; error: string | undefined; durationMs: number },
): ChildReport {
  const { status, exit } = describeEnd(watcher, state);
  const summary = watcher.ended?.text || watcher.text;
  const problem = state.error ?? watcher.ended?.failure?.message;
  const json: JsonObject = {
    task_index: task.index,
    status,
    summary,
    api_calls: watcher.ended?.modelCalls ?? watcher.modelCalls,
    duration_seconds: Math.round(state.durationMs / 10) / 100,
    exit_reason: exit,
    tokens: { input: watcher.usage?.input ?? 0, output: watcher.usage?.output ?? 0 },
    tool_trace: [...watcher.trace.values()] as unknown as Json,
    session_id: task.options.sessionId,
    error: problem,
    note: state.timedOut ? "Stopped at its time limit; the summary is what it had by then." : undefined,
  };
  const { usage, cost } = watcher;
  return {
    json,
    summary,
    status,
    durationMs: state.durationMs,
    usage,
    cost,
    written: [...watcher.written],
    provenance: watcher.provenance,
  };
}
