// The process tool: lists and controls the background processes that the terminal tool started.

import type { Gate } from "../../core/gate.ts";
import type { JsonObject } from "../../core/message.ts";
import { Type } from "../../core/tool/schema.ts";
import {
  defineTool,
  jsonResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  toolError,
} from "../../core/tool/tool.ts";
import type { ProcessRegistry, TrackedProcess } from "./process-registry.ts";

const ACTIONS = ["list", "poll", "log", "wait", "kill", "write", "submit", "close"] as const;
const DEFAULT_LINES = 200;

interface ProcessArgs {
  readonly action: (typeof ACTIONS)[number];
  readonly session_id?: string | undefined;
  readonly data?: string | undefined;
  readonly timeout?: number | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

function overview(process: TrackedProcess): JsonObject {
  return {
    session_id: process.id,
    command: process.command,
    cwd: process.cwd,
    pid: process.running?.pid ?? null,
    status: process.status,
    uptime_seconds: Math.round(((process.endedAt ?? Date.now()) - process.startedAt) / 1000),
    ...(process.exitCode === null ? {} : { exit_code: process.exitCode }),
    output_preview: process.output.slice(-1_000),
  };
}

function log(process: TrackedProcess, args: ProcessArgs): JsonObject {
  const lines = process.output.split("\n");
  const limit = args.limit ?? DEFAULT_LINES;
  const start = args.offset ? args.offset - 1 : Math.max(0, lines.length - limit);
  const page = lines.slice(start, start + limit);
  return {
    session_id: process.id,
    status: process.status,
    output: page.join("\n"),
    total_lines: lines.length,
    showing: `${start + 1}–${start + page.length}`,
    ...(process.droppedChars > 0 ? { note: `${process.droppedChars} characters of older output were dropped` } : {}),
  };
}

async function wait(
  process: TrackedProcess,
  args: ProcessArgs,
  context: ToolContext,
  maxMs: number,
): Promise<JsonObject> {
  const ms = Math.min((args.timeout ?? 60) * 1000, maxMs);
  const ended = await process.wait(ms, context.signal);
  const status = ended ? process.status : context.signal.aborted ? "interrupted" : "timeout";
  return {
    session_id: process.id,
    status,
    output: process.output.slice(-20_000),
    ...(process.exitCode === null ? {} : { exit_code: process.exitCode }),
  };
}

/** A shell or interpreter runs what it reads, so the gate checks input like a command. */
async function write(gate: Gate, process: TrackedProcess, data: string, context: ToolContext): Promise<ToolResult> {
  const { sessionId, human, tainted, signal, workspace } = context;
  const { command, input: before, pty, cwd, backend, contained } = process;
  const verdict = await gate.check(
    {
      kind: "input",
      command,
      before,
      text: data,
      pty,
      cwd,
      backend,
      contained,
      workspace: backend === "local" ? workspace : undefined,
    },
    { sessionId, toolName: "process", human, tainted, signal },
  );
  if (!verdict.allowed) return toolError(verdict.message, { status: verdict.status, rule: verdict.rule });
  if (!process.write(data)) return toolError(`${process.id} takes no input: ${process.status}`);
  return jsonResult({ status: "ok", bytes_written: Buffer.byteLength(data) });
}

/** Keeps the getters of the context: taint may change while the tool waits. */
function withOptions(context: ToolContext, options: ProcessOptions): ToolContext & ProcessOptions {
  return Object.assign(Object.create(context), options);
}

async function act(
  registry: ProcessRegistry,
  process: TrackedProcess,
  args: ProcessArgs,
  context: ToolContext & ProcessOptions,
): Promise<ToolResult> {
  if (process.exitCode !== null) process.endSeen = true;
  switch (args.action) {
    case "poll":
      return jsonResult(overview(process));
    case "log":
      return jsonResult(log(process, args));
    case "wait": {
      const answer = await wait(process, args, context, context.maxWaitMs);
      if (process.exitCode !== null) process.endSeen = true;
      return jsonResult(answer);
    }
    case "kill":
      process.endSeen = true;
      return jsonResult({
        session_id: process.id,
        status: (await registry.kill(process)) ? "killed" : "already_exited",
      });
    case "write":
      return write(context.gate, process, args.data ?? "", context);
    case "submit":
      return write(context.gate, process, `${args.data ?? ""}\n`, context);
    default:
      process.running?.closeStdin();
      return jsonResult({ status: "ok" });
  }
}

export interface ProcessOptions {
  readonly maxWaitMs: number;
  readonly gate: Gate;
}

export function processTool(registry: ProcessRegistry, options: ProcessOptions): Tool {
  return defineTool({
    name: "process",
    searchable: "always",
    toolset: "terminal",
    minWindow: "medium",
    description:
      "Control background processes: list, poll (status and last output), log (pages of output), wait, kill, write (raw input), submit (input and Enter), close (end of input).",
    parameters: Type.Object({
      action: Type.Union(ACTIONS.map((action) => Type.Literal(action))),
      session_id: Type.Optional(Type.String({ description: "The process; everything but list needs it" })),
      data: Type.Optional(Type.String({ description: "write, submit: the input" })),
      timeout: Type.Optional(Type.Integer({ minimum: 1, description: "wait: seconds (60)" })),
      offset: Type.Optional(Type.Integer({ minimum: 0, description: "log: first line; 0 for the end" })),
      limit: Type.Optional(Type.Integer({ minimum: 1, description: "log: lines (200)" })),
    }),
    overlap: "alone",
    repeatable: true,
    timeoutMs: options.maxWaitMs + 5_000,
    preview: (args) => `${args.action} ${args.session_id ?? ""}`.trim(),
    run: async (args, context) => {
      if (args.action === "list") {
        const processes = registry.list(context.conversationId).map(overview);
        return { ...jsonResult({ processes }), trust: "workspace", origin: "the output of a background process" };
      }
      if (!args.session_id)
        return toolError(`${args.action} needs session_id`, {
          running: registry.list(context.conversationId).map((process) => process.id),
        });
      const process = registry.get(args.session_id);
      if (!process || process.conversationId !== context.conversationId)
        return toolError(`no process ${args.session_id}`, {
          status: "not_found",
          running: registry.list(context.conversationId).map((known) => known.id),
        });
      const result = await act(registry, process, args, withOptions(context, options));
      // The command that started the process was classified when it started.
      return { ...result, trust: "workspace", origin: "the output of a background process" };
    },
  });
}
