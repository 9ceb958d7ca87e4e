// Runs one tool call: policy, hooks, arguments, deadline, interrupt, redaction. It always returns a result.
import type { Content, Json, JsonObject } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import { pauseWhileAsking } from "../../core/pause-while-asking.ts";
import type { Tool, ToolContext, ToolResult } from "../../core/tool/tool.ts";
import { gateContext, toolError } from "../../core/tool/tool.ts";
import { Deadline } from "../../lib/async/deadline.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { oneLine } from "../../lib/text/one-line.ts";
import { resultTrust } from "../outside-text.ts";
import { redactArguments, redactContent } from "../redact-message.ts";
import type { Turn } from "../turn-state.ts";
import { ABORTED, untilAborted, valueOrFallback } from "../until-aborted.ts";
import { argumentProblems } from "./check-arguments.ts";
import { coerceArguments } from "./coerce-arguments.ts";
import type { PreparedCall } from "./prepare-calls.ts";
import type { ToolLocation } from "./resolved-tools.ts";
import { interruptedResult, looksFailed, thrownResult, timedOutResult } from "./tool-errors.ts";

const DEFAULT_TIMEOUT_MS = 600_000;
const DEFAULT_ABANDON_MS = 250;
const PREVIEW_CHARS = 120;
const NO_ANSWERS: readonly Json[] = [];

export interface FinishedCall {
  readonly prepared: PreparedCall;
  readonly content: Content;
  readonly failed: boolean;
  readonly interrupted: boolean;
  readonly tool?: Tool | undefined;
}

function previewCall(tool: Tool | undefined, args: JsonObject): string {
  if (tool?.preview !== undefined) {
    try {
      return oneLine(tool.preview(args as never), PREVIEW_CHARS);
    } catch {
      // The arguments are not checked yet.
      return oneLine(JSON.stringify(args), PREVIEW_CHARS);
    }
  }
  const first = Object.values(args).find((value) => typeof value === "string");
  return oneLine(typeof first === "string" ? first : JSON.stringify(args), PREVIEW_CHARS);
}

function contextFor(turn: Turn, prepared: PreparedCall, deadline: Deadline): ToolContext {
  const { log, settings, human, redactor, outside, ownTexts, propose } = turn.state;
  const place = { sessionId: log.sessionId, workspace: settings.workspace ?? settings.cwd, userId: settings.userId };
  const proposeAs: ToolContext["proposeAs"] =
    propose && ((tool, args) => (change) => propose({ ...change, tool, args, ...place }));
  const callId = prepared.call.id;
  const { name } = prepared;
  return {
    sessionId: log.sessionId,
    conversationId: log.conversationId,
    callId,
    cwd: settings.cwd,
    workspace: settings.workspace,
    signal: AbortSignal.any([turn.signal, deadline.signal]),
    human: pauseWhileAsking(human, deadline, (action, reason) =>
      turn.emit({ type: "approval_needed", callId, action, reason }),
    ),
    progress: (text) => {
      if (!turn.signal.aborted)
        turn.emit({ type: "tool_progress", callId, name, text: redactor?.redact(text) ?? text });
    },
    get tainted() {
      return turn.tainted;
    },
    get origin() {
      return outside.origin;
    },
    userTexts: () => ownTexts.all,
    proposeAs,
    propose: proposeAs?.(name, prepared.args),
    depth: settings.depth ?? 0,
    spent: (usage, cost) => turn.totals.add(usage, cost),
  };
}

/** Writes of an external memory provider are durable, so the gate is asked as for the built-in notes. */
async function callMemory(turn: Turn, prepared: PreparedCall, context: ToolContext): Promise<ToolResult> {
  const { name } = prepared;
  const { memory, gate } = turn.state;
  if (gate && memory.writes?.(name, prepared.args)) {
    const summary = `${name} ${JSON.stringify(prepared.args)}`.slice(0, 300);
    const intent = { kind: "durable", what: "memory", summary } as const;
    const verdict = await gate.check(intent, gateContext(name, context));
    if (!verdict.allowed) return toolError(verdict.message, { status: verdict.status });
  }
  return { content: await memory.callTool(name, prepared.args) };
}

async function callEngine(turn: Turn, { name, args }: PreparedCall): Promise<ToolResult> {
  const { engine, log } = turn.state;
  const answer = engine.handleToolCall?.(name, args, { sessionId: log.sessionId, messages: log.messages });
  return answer === undefined ? toolError(`${name} is not available.`) : { content: await answer };
}

async function callTool(tool: Tool, prepared: PreparedCall, context: ToolContext): Promise<ToolResult> {
  const args = coerceArguments(prepared.args, tool.parameters as unknown as JsonObject);
  const problems = await argumentProblems(tool.parameters, args);
  if (problems !== undefined) return toolError(`The arguments of ${tool.name} do not fit: ${problems}.`);
  return tool.run(args as never, context);
}

async function dispatch(
  turn: Turn,
  location: ToolLocation,
  prepared: PreparedCall,
  context: ToolContext,
): Promise<ToolResult> {
  switch (location.kind) {
    case "tool":
      return callTool(location.tool, prepared, context);
    case "engine":
      return callEngine(turn, prepared);
    case "memory":
      return callMemory(turn, prepared, context);
    case "unknown":
      return toolError(`There is no tool named "${prepared.name}".`);
    case "denied":
    case "unavailable":
      return toolError(location.reason);
  }
}

async function runWithDeadline(turn: Turn, location: ToolLocation, prepared: PreparedCall): Promise<ToolResult> {
  const { settings } = turn.state;
  const { name } = prepared;
  const limit = (location.kind === "tool" ? location.tool.timeoutMs : undefined) ?? settings.toolTimeoutMs;
  const timeoutMs = limit ?? DEFAULT_TIMEOUT_MS;
  const deadline = new Deadline(timeoutMs);
  try {
    const context = contextFor(turn, prepared, deadline);
    const work = dispatch(turn, location, prepared, context);
    const result = await untilAborted(work, context.signal, settings.abandonMs ?? DEFAULT_ABANDON_MS);
    if (result !== ABORTED) return result;
    return turn.signal.aborted ? interruptedResult() : timedOutResult(name, timeoutMs);
  } catch (error) {
    if (turn.signal.aborted) return interruptedResult();
    return deadline.passed ? timedOutResult(name, timeoutMs) : thrownResult(error);
  } finally {
    deadline.stop();
  }
}

function hookArgs(turn: Turn, prepared: PreparedCall): JsonObject {
  const { log } = turn.state;
  return {
    tool_name: prepared.name,
    args: prepared.args,
    session_id: log.sessionId,
    task_id: log.conversationId,
    tool_call_id: prepared.call.id,
  };
}

/** The message of the first hook that answers `{ action: "block", message }`. */
async function blockedByHook(turn: Turn, prepared: PreparedCall): Promise<string | undefined> {
  const { hooks } = turn.state;
  if (!hooks.listens("pre_tool_call")) return undefined;
  const run = hooks.run("pre_tool_call", hookArgs(turn, prepared));
  for (const answer of await valueOrFallback(run, turn.signal, NO_ANSWERS)) {
    if (isRecord(answer) && answer.action === "block") return String(answer.message ?? "A hook blocked this call.");
  }
  return undefined;
}

async function afterHooks(turn: Turn, prepared: PreparedCall, content: Content, durationMs: number): Promise<Content> {
  const { hooks } = turn.state;
  if (!hooks.listens("post_tool_call") && !hooks.listens("transform_tool_result")) return content;
  const duration_ms = Math.round(durationMs);
  const args = { ...hookArgs(turn, prepared), result: contentText(content), duration_ms };
  if (hooks.listens("post_tool_call"))
    await valueOrFallback(hooks.run("post_tool_call", args), turn.signal, NO_ANSWERS);
  const answers = await valueOrFallback(hooks.run("transform_tool_result", args), turn.signal, NO_ANSWERS);
  return answers.find((answer) => typeof answer === "string") ?? content;
}

async function produce(turn: Turn, location: ToolLocation, prepared: PreparedCall): Promise<ToolResult> {
  if (turn.signal.aborted) return interruptedResult();
  if (prepared.refusal !== undefined) return { content: prepared.refusal, failed: true };
  const block = await blockedByHook(turn, prepared);
  if (block !== undefined) return toolError(block);
  return runWithDeadline(turn, location, prepared);
}

/** Never throws. Emits `tool_started` and `tool_ended` around the call. */
export async function runCall(turn: Turn, prepared: PreparedCall): Promise<FinishedCall> {
  const { redactor, tools, outside } = turn.state;
  const { name, call } = prepared;
  const { id: callId, function: called } = call;
  const location = tools.locate(name);
  const tool = location.kind === "tool" ? location.tool : undefined;
  const given = name === called.name ? called.arguments : JSON.stringify(prepared.args);
  const args = redactor === undefined ? given : redactArguments(given, redactor);
  const preview = previewCall(tool, prepared.args);
  turn.emit({ type: "tool_started", callId, name, preview: redactor?.redact(preview) ?? preview, args });
  const startedAt = performance.now();
  const result = await produce(turn, location, prepared);
  const durationMs = performance.now() - startedAt;
  outside.addResult(callId, resultTrust(name, result));
  const clean = redactor === undefined ? result.content : redactContent(result.content, redactor, true);
  const interrupted = turn.signal.aborted && result.failed === true;
  const shown = interrupted ? clean : await afterHooks(turn, prepared, clean, durationMs);
  const content = result.spill === undefined ? shown : withSpillNote(shown, result.spill);
  const failed = result.failed ?? looksFailed(contentText(content));
  turn.emit({
    type: "tool_ended",
    callId,
    name,
    failed,
    durationMs,
    preview: oneLine(contentText(content), PREVIEW_CHARS),
    diff: result.diff === undefined ? undefined : (redactor?.redact(result.diff, { code: true }) ?? result.diff),
  });
  return { prepared, content, failed, interrupted, tool };
}

function withSpillNote(content: Content, spill: NonNullable<ToolResult["spill"]>): Content {
  const text = contentText(content);
  if (text.includes(spill.path)) return content;
  const note = `[Full output: ${spill.bytes} bytes in ${spill.lines} lines, saved to ${spill.path}. Read any part with read_file (path, offset, limit).]`;
  return `${note}\n${text}`;
}
