// Runs one subagent to its one end: done, failed, timed out or interrupted, always with what it had so far.
import type { AgentEvent } from "../../core/event.ts";
import type { Human } from "../../core/human.ts";
import type { Json, JsonObject } from "../../core/message.ts";
import { textOf } from "../../core/message.ts";
import type { Tool, ToolContext } from "../../core/tool.ts";
import type { Cost, Usage } from "../../core/usage.ts";
import { Deadline } from "../tools/deadline.ts";
import { ABORTED, untilAborted } from "../until-aborted.ts";

export type ChildRole = "leaf" | "orchestrator";

/** Everything the factory needs to open a subagent. */
export interface ChildSpec {
  readonly sessionId: string;
  readonly parentSessionId: string;
  readonly goal: string;
  /** Stands in for the whole system prompt: no identity, no project files, no memory. */
  readonly systemPrompt: string;
  /** Undefined: the parent's. */
  readonly toolsets: readonly string[] | undefined;
  readonly role: ChildRole;
  readonly depth: number;
  readonly maxTurns: number;
  readonly human: Human;
  /** For `AgentSettings.denyTool`: enforced at every dispatch. */
  denyTool(name: string, tool: Tool | undefined): string | undefined;
}

/** A subagent as the runner sees it. */
export interface ChildConversation {
  send(input: string, options: { signal: AbortSignal; tainted?: boolean | undefined }): AsyncIterable<AgentEvent>;
  /** Where text from outside came from that it has read. */
  readonly outsideOrigin?: string | undefined;
  close(options?: { reason?: string | undefined }): Promise<void>;
}

export type OpenChild = (spec: ChildSpec) => Promise<ChildConversation>;

export interface ChildReport {
  readonly json: JsonObject;
  readonly summary: string;
  readonly status: string;
  readonly durationMs: number;
  readonly usage: Usage | undefined;
  readonly cost: Cost | undefined;
  readonly written: readonly string[];
  /** Where text from outside came from that the subagent has read. */
  readonly origin?: string | undefined;
}

/** Blocked in every subagent: asking the person, speaking to others, and anything that outlives the task. */
const BLOCKED = new Map([
  ["clarify", "a subagent has nobody to ask"],
  ["memory", "a subagent must not change what is remembered"],
  ["send_message", "a subagent must not write to other people"],
  ["execute_code", "a subagent must not run free code"],
  ["skill_manage", "a subagent must not change skills"],
  ["cronjob", "a subagent must not schedule jobs"],
]);

export function childDenial(role: ChildRole): ChildSpec["denyTool"] {
  return (name) => {
    const reason = BLOCKED.get(name);
    if (reason !== undefined) return `${name} is not available here: ${reason}.`;
    if (name === "delegate_task" && role !== "orchestrator")
      return "delegate_task is not available here: this subagent may not start others.";
    return undefined;
  };
}

interface TraceItem {
  tool: string;
  args_bytes: number;
  result_bytes: number;
  status: string;
}

/** Listens to a child's events and knows at any moment what it has achieved. */
class Watcher {
  readonly trace = new Map<string, TraceItem>();
  readonly written = new Set<string>();
  ended: Extract<AgentEvent, { type: "ended" }> | undefined;
  text = "";
  modelCalls = 0;
  usage: Usage | undefined;
  cost: Cost | undefined;
  model = "";
  origin: string | undefined;

  note(event: AgentEvent): void {
    if (event.type === "tool_started") this.#started(event);
    else if (event.type === "tool_ended") {
      const item = this.trace.get(event.callId);
      if (item !== undefined) item.status = event.failed ? "error" : "ok";
    } else if (event.type === "message") {
      const { message } = event;
      if (message.role === "assistant" && textOf(message.content).trim() !== "") this.text = textOf(message.content);
      const item = message.role === "tool" ? this.trace.get(message.tool_call_id) : undefined;
      if (item !== undefined) item.result_bytes = Buffer.byteLength(textOf(message.content));
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
    if (event.name !== "write_file" && event.name !== "patch") return;
    const path = /"path"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(event.args)?.[1];
    if (path !== undefined) this.written.add(JSON.parse(`"${path}"`) as string);
  }
}

export interface ChildTask {
  readonly index: number;
  readonly spec: ChildSpec;
  readonly timeoutMs: number;
  readonly heartbeatMs: number;
  /** Its task may hold text from outside. */
  readonly tainted: boolean;
}

const STOP_GRACE_MS = 2_000;

function endOf(watcher: Watcher, state: { timedOut: boolean; stopped: boolean; error: string | undefined }) {
  const { ended } = watcher;
  if (ended?.end === "done") return { status: "completed", exit: "completed" };
  if (ended?.end === "budget") return { status: "completed", exit: "max_iterations" };
  if (state.timedOut) return { status: "timeout", exit: "timeout" };
  if (state.stopped) return { status: "interrupted", exit: "interrupted" };
  return state.error === undefined ? { status: "failed", exit: "error" } : { status: "error", exit: "error" };
}

async function drive(open: OpenChild, task: ChildTask, signal: AbortSignal, watcher: Watcher): Promise<void> {
  const child = await open(task.spec);
  try {
    for await (const event of child.send(task.spec.goal, { signal, tainted: task.tainted })) {
      watcher.note(event);
      watcher.origin = child.outsideOrigin;
    }
  } finally {
    watcher.origin = child.outsideOrigin;
    await child.close({ reason: "subagent_done" });
  }
}

/** Never throws and never outlives its deadline by more than a moment. */
export async function runChild(open: OpenChild, task: ChildTask, context: ToolContext): Promise<ChildReport> {
  const watcher = new Watcher();
  const deadline = new Deadline(task.timeoutMs);
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 100) / 10;
  const heartbeat = setInterval(() => {
    const last = [...watcher.trace.values()].at(-1)?.tool ?? "thinking";
    context.progress(`subagent ${task.index + 1}: ${seconds()} s, ${watcher.trace.size} tool calls, now ${last}`);
  }, task.heartbeatMs);
  const signal = AbortSignal.any([context.signal, deadline.signal]);
  let error: string | undefined;
  try {
    const done = await untilAborted(drive(open, task, signal, watcher), signal, STOP_GRACE_MS);
    if (done === ABORTED) error = "The subagent did not stop in time and was left behind.";
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown);
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
  const { status, exit } = endOf(watcher, state);
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
    session_id: task.spec.sessionId,
    ...(problem === undefined ? {} : { error: problem }),
    ...(state.timedOut ? { note: "Stopped at its time limit; the summary is what it had by then." } : {}),
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
    ...(watcher.origin === undefined ? {} : { origin: watcher.origin }),
  };
}
