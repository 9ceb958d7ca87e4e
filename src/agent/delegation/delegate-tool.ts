// The delegate_task tool: runs tasks in subagents and returns one result for each.

import type { Hooks } from "../../core/hook.ts";
import { absentHuman } from "../../core/human.ts";
import type { Memory } from "../../core/memory.ts";
import type { JsonObject } from "../../core/message.ts";
import type { SessionLog } from "../../core/store/session.ts";
import { Type } from "../../core/tool/schema.ts";
import type { Tool, ToolContext, ToolResult } from "../../core/tool/tool.ts";
import { defineTool, jsonResult, toolError } from "../../core/tool/tool.ts";
import { lessTrusted, OWN } from "../../core/trust.ts";
import { createSessionId } from "../message-log.ts";
import {
  type ChildReport,
  type ChildRole,
  type ChildTask,
  childDenial,
  DELEGATE_TASK,
  type OpenChild,
  runChild,
} from "./child-run.ts";
import { DelegationRecord } from "./delegation-record.ts";

/** `delegation:` of the config. */
export interface DelegationSettings {
  readonly maxConcurrentChildren: number;
  readonly maxSpawnDepth: number;
  readonly orchestratorEnabled: boolean;
  readonly childTimeoutMs: number;
  readonly maxIterations: number;
  readonly heartbeatMs: number;
}

export interface DelegationParts {
  readonly store: SessionLog;
  readonly hooks: Hooks;
  readonly memory: Memory;
  readonly settings: DelegationSettings;
  readonly openChild: OpenChild;
  /** The parent's model, for the result. */
  readonly model?: string | undefined;
}

interface Task {
  readonly goal: string;
  readonly context?: string | undefined;
  readonly toolsets?: readonly string[] | undefined;
  readonly role?: ChildRole | undefined;
}

const ROLE = Type.Optional(
  Type.Union([Type.Literal("leaf"), Type.Literal("orchestrator")], {
    description: "leaf (default) works alone; orchestrator may delegate further, where the depth limit allows",
  }),
);
const TOOLSETS = Type.Optional(
  Type.Array(Type.String(), { description: "Toolsets it may use; at most yours. Default: yours" }),
);
const CONTEXT = Type.Optional(
  Type.String({ description: "Everything it must know: it sees nothing of this conversation" }),
);

const PARAMETERS = Type.Object({
  goal: Type.Optional(Type.String({ description: "What one subagent shall achieve" })),
  context: CONTEXT,
  toolsets: TOOLSETS,
  role: ROLE,
  tasks: Type.Optional(
    Type.Array(Type.Object({ goal: Type.String(), context: CONTEXT, toolsets: TOOLSETS, role: ROLE }), {
      description: "Several independent tasks at once, instead of goal",
    }),
  ),
});

function childPrompt(task: Task, cwd: string): string {
  const lines = [
    "You are a subagent. You work alone on one task, no user can answer questions, and only your last message is returned.",
    "",
    `Task: ${task.goal}`,
  ];
  if (task.context !== undefined && task.context.trim() !== "") lines.push("", "Context:", task.context);
  lines.push("", `Working folder: ${cwd}`, "");
  lines.push("When you are done, report: what you did, what you found, which files you changed, what is still open.");
  return lines.join("\n");
}

function readTasks(args: JsonObject): Task[] {
  const tasks = args.tasks as readonly Task[] | undefined;
  if (tasks !== undefined && tasks.length > 0) return [...tasks];
  return typeof args.goal === "string" && args.goal.trim() !== "" ? [args as unknown as Task] : [];
}

function refuse(tasks: readonly Task[], settings: DelegationSettings, depth: number): ToolResult | undefined {
  if (tasks.length === 0) return toolError("Nothing to delegate: give a goal, or tasks with a goal each.");
  if (depth >= settings.maxSpawnDepth)
    return toolError(
      `Subagents of this depth are not allowed (delegation.max_spawn_depth is ${settings.maxSpawnDepth}).`,
    );
  if (tasks.length > settings.maxConcurrentChildren)
    return toolError(
      `${tasks.length} tasks at once are too many; at most ${settings.maxConcurrentChildren} (delegation.max_concurrent_children). Send them in several calls.`,
    );
  return undefined;
}

function childTask(
  task: Task,
  index: number,
  settings: DelegationSettings,
  context: ToolContext,
): ChildTask & { readonly role: ChildRole } {
  const depth = context.depth + 1;
  const mayLead = settings.orchestratorEnabled && depth < settings.maxSpawnDepth;
  const role: ChildRole = task.role === "orchestrator" && mayLead ? "orchestrator" : "leaf";
  const options = {
    sessionId: createSessionId("subagent"),
    parentSessionId: context.sessionId,
    systemPrompt: childPrompt(task, context.cwd),
    toolsets: task.toolsets,
    depth,
    maxTurns: settings.maxIterations,
    human: context.human.guest ? { ...absentHuman, guest: true } : absentHuman,
    denyTool: childDenial(role),
  };
  const { childTimeoutMs: timeoutMs, heartbeatMs } = settings;
  return {
    index,
    goal: task.goal,
    role,
    options,
    timeoutMs,
    heartbeatMs,
    taint: context.tainted ? (context.origin ?? "untrusted text") : undefined,
  };
}

/** Files that the parent has read before a child wrote them. */
async function stalePaths(store: SessionLog, sessionId: string, written: readonly string[]): Promise<string[]> {
  if (written.length === 0) return [];
  const read = new Set<string>();
  for (const message of await store.getConversation(sessionId)) {
    if (message.role !== "assistant") continue;
    for (const call of message.tool_calls ?? []) {
      if (call.function.name !== "read_file") continue;
      const path = /"path"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(call.function.arguments)?.[1];
      if (path !== undefined) read.add(path);
    }
  }
  return written.filter((path) => read.has(path));
}

/** Records cost, memory and hooks of a finished child; returns its result. */
async function settle(
  parts: DelegationParts,
  report: ChildReport,
  task: ReturnType<typeof childTask>,
  context: ToolContext,
): Promise<JsonObject> {
  const { store, hooks, memory } = parts;
  if (report.usage !== undefined && report.cost !== undefined) {
    context.spent?.(report.usage, report.cost);
    if (report.cost.usd !== null && report.cost.usd > 0)
      await store.updateTokenCounts(context.sessionId, { estimatedCostUsd: report.cost.usd });
  }
  const { sessionId } = task.options;
  await memory.delegated(task.goal, report.summary, sessionId);
  await hooks.run("subagent_stop", {
    parent_session_id: context.sessionId,
    child_session_id: sessionId,
    child_role: task.role,
    child_summary: report.summary,
    child_status: report.status,
    duration_ms: Math.round(report.durationMs),
  });
  const stale = await stalePaths(store, context.sessionId, report.written);
  return {
    ...report.json,
    model: parts.model,
    ...(stale.length === 0
      ? {}
      : {
          stale_paths: stale,
          stale_note: "You had read these files before; read them again before you rely on them.",
        }),
  };
}

export function delegateTool(parts: DelegationParts): Tool {
  const { settings } = parts;
  const record = new DelegationRecord(parts.store);
  return defineTool({
    name: DELEGATE_TASK,
    searchable: "always",
    toolset: "delegation",
    storesArguments: true,
    description:
      "Hand self-contained work to subagents with a fresh context. They run at once, see nothing of this conversation, and return a summary each. Use it for research or changes that would fill your context; do small things yourself.",
    parameters: PARAMETERS,
    overlap: "alone",
    mutates: true,
    timeoutMs: Number.POSITIVE_INFINITY,
    preview: (args) => args.goal ?? `${args.tasks?.length ?? 0} tasks`,
    async run(args, context) {
      const tasks = readTasks(args as JsonObject);
      const refusal = refuse(tasks, settings, context.depth);
      if (refusal !== undefined) return refusal;
      const startedAt = performance.now();
      const children = tasks.map((task, index) => childTask(task, index, settings, context));
      const recorded = children.map(({ index, goal, options }) => ({ index, goal, sessionId: options.sessionId }));
      await record.begin(context.conversationId, context.callId, recorded);
      const reports = await Promise.all(children.map((child) => runChild(parts.openChild, child, context)));
      const results: JsonObject[] = [];
      for (const [index, report] of reports.entries()) {
        const child = children[index];
        if (child !== undefined) results.push(await settle(parts, report, child, context));
      }
      await record.end(context.conversationId, context.callId);
      const total = Math.round((performance.now() - startedAt) / 10) / 100;
      const failed = reports.every((report) => report.status !== "completed");
      const { trust, origin } = reports.map((report) => report.provenance).reduce(lessTrusted, OWN);
      const result = jsonResult({ results, total_duration_seconds: total }, { failed });
      return { ...result, trust, origin: origin && `${origin} (by a subagent)` };
    },
  });
}
