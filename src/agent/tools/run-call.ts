// Runs one tool call: policy, hooks, arguments, deadline, interrupt, redaction. Whatever happens, there is a result.
import type { AgentEvent } from "../../core/event.ts";
import type { Content, Json, JsonObject, Message } from "../../core/message.ts";
import { textOf } from "../../core/message.ts";
import type { Tool, ToolContext, ToolResult } from "../../core/tool.ts";
import { gateContext, toolError } from "../../core/tool.ts";
import type { Cost, Usage } from "../../core/usage.ts";
import { isForeign } from "../outside-text.ts";
import type { ConversationParts } from "../parts.ts";
import { redactArguments } from "../redact-message.ts";
import { ABORTED, orElse, untilAborted } from "../until-aborted.ts";
import { argumentProblems } from "./check-arguments.ts";
import { coerceArguments } from "./coerce-arguments.ts";
import { Deadline, pausingHuman } from "./deadline.ts";
import type { PreparedCall } from "./prepare-calls.ts";
import type { ResolvedTools, ToolLocation } from "./resolved-tools.ts";
import { interruptedResult, looksFailed, thrownResult, timedOutResult } from "./tool-errors.ts";

const DEFAULT_TIMEOUT_MS = 600_000;
const DEFAULT_ABANDON_MS = 250;
const PREVIEW_CHARS = 120;

/** What calls of one turn share. */
export interface CallScope {
  readonly parts: ConversationParts;
  readonly tools: ResolvedTools;
  readonly conversationId: string;
  readonly sessionId: string;
  readonly signal: AbortSignal;
  /** Live: true from the moment that some result of this turn was untrusted. */
  tainted: boolean;
  /** Where that text came from. */
  readonly origin?: string | undefined;
  /** Remembers for the rest of the conversation that it holds such text. */
  readOutside?(origin: string): Promise<void>;
  emit(event: AgentEvent): void;
  messages(): readonly Message[];
  spent(usage: Usage, cost: Cost): void;
}

export interface FinishedCall {
  readonly prepared: PreparedCall;
  readonly content: Content;
  readonly failed: boolean;
  readonly interrupted: boolean;
  readonly tool?: Tool | undefined;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > PREVIEW_CHARS ? `${line.slice(0, PREVIEW_CHARS - 1)}…` : line;
}

function previewOf(tool: Tool | undefined, args: JsonObject): string {
  if (tool?.preview !== undefined) {
    try {
      return shorten(tool.preview(args as never));
    } catch {
      // The preview ran on unchecked arguments; the plain form below serves.
      return shorten(JSON.stringify(args));
    }
  }
  const first = Object.values(args).find((value) => typeof value === "string");
  return shorten(typeof first === "string" ? first : JSON.stringify(args));
}

function contextFor(scope: CallScope, prepared: PreparedCall, deadline: Deadline): ToolContext {
  const { parts, signal } = scope;
  const callId = prepared.call.id;
  const name = prepared.call.function.name;
  return {
    sessionId: scope.sessionId,
    conversationId: scope.conversationId,
    callId,
    cwd: parts.settings.cwd,
    ...(parts.settings.workspace ? { workspace: parts.settings.workspace } : {}),
    signal: AbortSignal.any([signal, deadline.signal]),
    human: pausingHuman(parts.human, deadline, (action, reason) =>
      scope.emit({ type: "approval_needed", callId, action, reason }),
    ),
    progress: (text) => {
      const clean = parts.redactor?.redact(text) ?? text;
      if (!signal.aborted) scope.emit({ type: "tool_progress", callId, name, text: clean });
    },
    get tainted() {
      return scope.tainted;
    },
    ...(scope.origin === undefined ? {} : { origin: scope.origin }),
    ...(parts.settings.workspace === undefined ? {} : { workspace: parts.settings.workspace }),
    depth: parts.settings.depth ?? 0,
    spent: (usage, cost) => scope.spent(usage, cost),
  };
}

/** What an external memory keeps is as durable as a note: the gate is asked in the same words. */
async function callMemory(prepared: PreparedCall, scope: CallScope, context: ToolContext): Promise<ToolResult> {
  const { name } = prepared.call.function;
  const { memory, gate } = scope.parts;
  if (gate && memory.writes?.(name, prepared.args)) {
    const summary = `${name} ${JSON.stringify(prepared.args)}`.slice(0, 300);
    const intent = { kind: "durable", what: "memory", summary } as const;
    const verdict = await gate.check(intent, gateContext(name, context));
    if (!verdict.allowed) return toolError(verdict.message, { status: verdict.status });
  }
  return { content: await memory.callTool(name, prepared.args) };
}

async function dispatch(
  home: ToolLocation,
  prepared: PreparedCall,
  scope: CallScope,
  context: ToolContext,
): Promise<ToolResult> {
  const { name } = prepared.call.function;
  const { engine } = scope.parts;
  if (home.kind === "tool") {
    const schema = home.tool.parameters as unknown as JsonObject;
    const args = coerceArguments(prepared.args, schema);
    const problems = await argumentProblems(home.tool.parameters, args);
    if (problems !== undefined) return toolError(`The arguments of ${name} do not fit: ${problems}.`);
    return home.tool.run(args as never, context);
  }
  if (home.kind === "engine") {
    const call = engine.handleToolCall?.(name, prepared.args, {
      sessionId: scope.sessionId,
      messages: scope.messages(),
    });
    return call === undefined ? toolError(`${name} is not available.`) : { content: await call };
  }
  if (home.kind === "memory") return callMemory(prepared, scope, context);
  if (home.kind === "unknown") return toolError(`There is no tool named "${name}".`);
  return toolError(home.reason);
}

async function runWithin(home: ToolLocation, prepared: PreparedCall, scope: CallScope): Promise<ToolResult> {
  const { settings } = scope.parts;
  const name = prepared.call.function.name;
  const limit = (home.kind === "tool" ? home.tool.timeoutMs : undefined) ?? settings.toolTimeoutMs;
  const timeoutMs = limit ?? DEFAULT_TIMEOUT_MS;
  const deadline = new Deadline(timeoutMs);
  try {
    const context = contextFor(scope, prepared, deadline);
    const work = dispatch(home, prepared, scope, context);
    const result = await untilAborted(work, context.signal, settings.abandonMs ?? DEFAULT_ABANDON_MS);
    if (result !== ABORTED) return result;
    return scope.signal.aborted ? interruptedResult() : timedOutResult(name, timeoutMs);
  } catch (error) {
    if (scope.signal.aborted) return interruptedResult();
    return deadline.passed ? timedOutResult(name, timeoutMs) : thrownResult(error);
  } finally {
    deadline.stop();
  }
}

/** A hook may answer `{ action: "block", message }`. */
async function blockedBy(scope: CallScope, prepared: PreparedCall): Promise<string | undefined> {
  const { hooks } = scope.parts;
  if (!hooks.listens("pre_tool_call")) return undefined;
  const answers = await orElse(
    hooks.run("pre_tool_call", hookArgs(scope, prepared)),
    scope.signal,
    [] as readonly Json[],
  );
  for (const answer of answers) {
    if (typeof answer !== "object" || answer === null || Array.isArray(answer)) continue;
    const block = answer as JsonObject;
    if (block.action === "block") return String(block.message ?? "A hook blocked this call.");
  }
  return undefined;
}

function hookArgs(scope: CallScope, prepared: PreparedCall): JsonObject {
  return {
    tool_name: prepared.call.function.name,
    args: prepared.args,
    session_id: scope.sessionId,
    task_id: scope.conversationId,
    tool_call_id: prepared.call.id,
  };
}

async function afterHooks(
  scope: CallScope,
  prepared: PreparedCall,
  outcome: { content: Content; durationMs: number },
): Promise<Content> {
  const { hooks } = scope.parts;
  if (!hooks.listens("post_tool_call") && !hooks.listens("transform_tool_result")) return outcome.content;
  const args = {
    ...hookArgs(scope, prepared),
    result: textOf(outcome.content),
    duration_ms: Math.round(outcome.durationMs),
  };
  const none = [] as readonly Json[];
  if (hooks.listens("post_tool_call")) await orElse(hooks.run("post_tool_call", args), scope.signal, none);
  const answers = await orElse(hooks.run("transform_tool_result", args), scope.signal, none);
  const text = answers.find((answer) => typeof answer === "string");
  return text === undefined ? outcome.content : text;
}

function clean(content: ToolResult["content"], scope: CallScope): Content {
  const { redactor } = scope.parts;
  if (redactor === undefined) return content;
  if (typeof content === "string") return redactor.redact(content, { code: true });
  return content.map((part) =>
    part.type === "text" ? { type: "text", text: redactor.redact(part.text, { code: true }) } : part,
  );
}

async function produce(home: ToolLocation, prepared: PreparedCall, scope: CallScope): Promise<ToolResult> {
  if (scope.signal.aborted) return interruptedResult();
  if (prepared.refusal !== undefined) return { content: prepared.refusal, failed: true };
  const block = await blockedBy(scope, prepared);
  if (block !== undefined) return toolError(block);
  return runWithin(home, prepared, scope);
}

/** Never throws. Emits `tool_started` and `tool_ended` around the call. */
export async function runCall(prepared: PreparedCall, scope: CallScope): Promise<FinishedCall> {
  const { parts } = scope;
  const { id: callId } = prepared.call;
  const name = prepared.call.function.name;
  const home = scope.tools.locate(name);
  const tool = home.kind === "tool" ? home.tool : undefined;
  const text = prepared.call.function.arguments;
  const args = parts.redactor === undefined ? text : redactArguments(text, parts.redactor);
  const preview = previewOf(tool, prepared.args);
  scope.emit({ type: "tool_started", callId, name, preview: parts.redactor?.redact(preview) ?? preview, args });
  const startedAt = performance.now();
  const result = await produce(home, prepared, scope);
  const durationMs = performance.now() - startedAt;
  if (isForeign(name, result)) {
    scope.tainted = true;
    await scope.readOutside?.(result.origin ?? `the result of ${name}`);
  }
  const plain = clean(result.content, scope);
  const interrupted = scope.signal.aborted && result.failed === true;
  const shown = interrupted ? plain : await afterHooks(scope, prepared, { content: plain, durationMs });
  const content = result.spill === undefined ? shown : withHandle(shown, result.spill);
  const failed = result.failed ?? looksFailed(textOf(content));
  const ending = { type: "tool_ended", callId, name, failed, durationMs, preview: shorten(textOf(content)) } as const;
  scope.emit(ending);
  return { prepared, content, failed, interrupted, ...(tool === undefined ? {} : { tool }) };
}

function withHandle(content: Content, spill: NonNullable<ToolResult["spill"]>): Content {
  const text = textOf(content);
  if (text.includes(spill.path)) return content;
  const handle = `[Full output: ${spill.bytes} bytes in ${spill.lines} lines, saved to ${spill.path}. Read any part with read_file (path, offset, limit).]`;
  return `${handle}\n${text}`;
}
