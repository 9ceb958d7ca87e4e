// The terminal tool: runs a shell command in the foreground, or starts one in the background.
import { join } from "node:path";
import type { ProgramCall } from "../../core/container.ts";
import type { Gate, Verdict } from "../../core/gate.ts";
import type { Hooks } from "../../core/hook.ts";
import type { JsonObject } from "../../core/message.ts";
import type { ProjectTrust } from "../../core/project-trust.ts";
import type { Redactor } from "../../core/redactor.ts";
import { Type } from "../../core/tool/schema.ts";
import {
  defineTool,
  gateContext,
  jsonResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  toolError,
} from "../../core/tool/tool.ts";
import { ansiStripper, stripAnsi } from "./ansi.ts";
import { askForPermission } from "./ask-for-permission.ts";
import type { Backend } from "./backend.ts";
import { exitMeaning } from "./exit-meaning.ts";
import { foregroundProblem } from "./foreground-guard.ts";
import { OutputCapture } from "./output-capture.ts";
import type { ProcessRegistry } from "./process-registry.ts";
import { workFolder } from "./work-folder.ts";

export interface TerminalParts {
  /** Which projects are the user's own. */
  readonly projects?: ProjectTrust | undefined;
  /** The backend of a conversation; opened at its first command. */
  backendFor(context: ToolContext): Promise<Backend>;
  readonly gate: Gate;
  readonly redactor: Redactor;
  readonly hooks: Hooks;
  readonly processes: ProcessRegistry;
  readonly settings: TerminalSettings;
  /** True when commands should be contained but cannot be: only read-only programs run without approval. */
  restricted?(): boolean;
  /** Called before a command runs; takes a checkpoint if needed. */
  beforeCommand?(command: CheckpointedCommand, context: ToolContext): Promise<void>;
  /** Rewrites `sudo` so that it reads the password from `stdin`; null when the command needs no change. */
  sudo?(command: string, context: ToolContext): Promise<{ command: string; stdin: string } | null>;
}

/** A command before which a checkpoint may be taken. */
export interface CheckpointedCommand {
  readonly command: string;
  readonly contained: boolean;
}

export interface TerminalSettings {
  readonly defaultTimeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly maxOutputChars: number;
  readonly spillDir: string;
}

interface TerminalArgs {
  readonly command: string;
  readonly background?: boolean | undefined;
  readonly timeout?: number | undefined;
  readonly workdir?: string | undefined;
  readonly pty?: boolean | undefined;
  readonly notify_on_complete?: boolean | undefined;
  readonly watch_patterns?: readonly string[] | undefined;
}

/** With the resolved folder, and what the gate has read. */
interface ResolvedArgs extends TerminalArgs {
  readonly cwd: string;
  readonly calls?: readonly ProgramCall[] | undefined;
  readonly exact?: boolean | undefined;
  readonly outside?: boolean | undefined;
}

type Allowed = Extract<Verdict, { allowed: true }>;

const PROGRESS_MS = 200;

/** Undefined where the machine itself is the boundary, and for other machines. */
function isContained({ restricted }: TerminalParts, backend: Backend): boolean | undefined {
  if (backend.container) return true;
  return restricted?.() && !backend.remote ? false : undefined;
}

/** Returns the refusal, or what the gate allowed. */
async function askGate(
  parts: TerminalParts,
  args: ResolvedArgs,
  backend: Backend,
  context: ToolContext,
): Promise<{ readonly refusal: ToolResult } | Allowed> {
  const { workspace } = context;
  const intent = {
    kind: "command",
    command: args.command,
    cwd: args.cwd,
    backend: backend.name,
    background: args.background ?? false,
    contained: isContained(parts, backend),
    workspace: backend.remote ? undefined : workspace,
  } as const;
  const verdict = await parts.gate.check(intent, gateContext("terminal", context));
  if (verdict.allowed) return verdict;
  return { refusal: toolError(verdict.message, { status: verdict.status, exit_code: -1, rule: verdict.rule }) };
}

function argumentProblem(parts: TerminalParts, args: TerminalArgs): ToolResult | undefined {
  if (args.command.trim() === "") return toolError("the command is empty");
  if (args.background) return undefined;
  if (args.timeout !== undefined && args.timeout * 1000 > parts.settings.maxTimeoutMs) {
    return toolError(
      `a foreground command may take ${parts.settings.maxTimeoutMs / 1000} s at most; use background: true for longer work`,
    );
  }
  if (args.notify_on_complete || args.watch_patterns)
    return toolError("notify_on_complete and watch_patterns need background: true");
  const problem = foregroundProblem(args.command);
  return problem ? toolError(problem) : undefined;
}

async function transformOutput(
  parts: TerminalParts,
  output: string,
  about: { args: TerminalArgs; exitCode: number; backend: Backend; context: ToolContext },
): Promise<string> {
  if (!parts.hooks.listens("transform_terminal_output")) return output;
  const { args, exitCode, backend, context } = about;
  const answers = await parts.hooks.run("transform_terminal_output", {
    command: args.command,
    output,
    returncode: exitCode,
    task_id: context.conversationId,
    session_id: context.sessionId,
    env_type: backend.name,
  });
  const changed = answers.find((answer) => typeof answer === "string");
  return typeof changed === "string" ? changed : output;
}

function checkpointed({ command, outside }: ResolvedArgs, backend: Backend): CheckpointedCommand {
  return { command, contained: backend.container !== undefined && !outside };
}

/** Reports the last line of output as progress, a few times a second. */
function reportLastLine(context: ToolContext): (text: string) => void {
  let last = 0;
  return (text) => {
    const now = Date.now();
    if (now - last < PROGRESS_MS) return;
    last = now;
    context.progress(stripAnsi(text.slice(-500)).trimEnd().split("\n").at(-1) ?? "");
  };
}

async function foreground(
  parts: TerminalParts,
  args: ResolvedArgs,
  backend: Backend,
  context: ToolContext,
): Promise<ToolResult> {
  if (!backend.remote) await parts.beforeCommand?.(checkpointed(args, backend), context);
  const cleaner = parts.redactor.stream();
  const strip = ansiStripper();
  const capture = new OutputCapture({
    limit: parts.settings.maxOutputChars,
    spillPath: join(parts.settings.spillDir, `${context.callId.replaceAll(/[^\w-]/g, "_")}.txt`),
    transform: (text) => cleaner.push(strip(text)),
  });
  // In the container sudo cannot gain rights, so a password is of no use there.
  const sudo = backend.container && !args.outside ? null : await parts.sudo?.(args.command, context);
  const result = await backend.run({
    command: sudo?.command ?? args.command,
    stdin: sudo?.stdin,
    cwd: args.workdir ? args.cwd : undefined,
    timeoutMs: args.timeout ? args.timeout * 1000 : parts.settings.defaultTimeoutMs,
    signal: context.signal,
    output: capture,
    onOutput: reportLastLine(context),
    calls: args.calls,
    exact: args.exact,
    outside: args.outside,
    permit: (need) => askForPermission(need, context, { toolName: "terminal", purpose: args.command }),
  });
  const { text, spill } = await capture.finish();
  const output = await transformOutput(parts, (text + cleaner.end()).trimEnd(), {
    args,
    exitCode: result.exitCode,
    backend,
    context,
  });
  const meaning = exitMeaning(args.command, result.exitCode);
  const limit = args.timeout ?? parts.settings.defaultTimeoutMs / 1000;
  const error = result.timedOut
    ? `stopped after ${limit} s; use a longer timeout or background: true`
    : result.interrupted
      ? "interrupted"
      : null;
  const json: JsonObject = {
    output,
    exit_code: result.exitCode,
    error,
    cwd: result.cwd,
    ...(meaning ? { exit_code_meaning: meaning } : {}),
    ...(result.note ? { container: result.note } : {}),
  };
  return { ...jsonResult(json, { failed: result.exitCode !== 0 }), spill };
}

async function background(
  parts: TerminalParts,
  args: ResolvedArgs,
  backend: Backend,
  context: ToolContext,
): Promise<ToolResult> {
  if (!backend.remote) await parts.beforeCommand?.(checkpointed(args, backend), context);
  const both = Boolean(args.notify_on_complete && args.watch_patterns);
  const started = await parts.processes.start(backend, {
    command: args.command,
    cwd: args.workdir ? args.cwd : undefined,
    pty: args.pty ?? false,
    calls: args.calls,
    exact: args.exact,
    outside: args.outside,
    conversationId: context.conversationId,
    notifyOnComplete: args.notify_on_complete ?? false,
    watchPatterns: both ? [] : (args.watch_patterns ?? []),
  });
  await started.wait(150, context.signal);
  if (started.exitCode !== null) started.endSeen = true;
  return jsonResult({
    output: started.exitCode === null ? "The process runs in the background." : started.output.slice(-2_000),
    session_id: started.id,
    pid: started.running?.pid ?? null,
    exit_code: started.exitCode ?? 0,
    status: started.status,
    ...(args.notify_on_complete ? { notify_on_complete: true } : {}),
    ...(both ? { watch_patterns_ignored: true } : {}),
  });
}

async function run(parts: TerminalParts, args: TerminalArgs, context: ToolContext): Promise<ToolResult> {
  const problem = argumentProblem(parts, args);
  if (problem) return problem;
  const backend = await parts.backendFor(context);
  const folder = workFolder(args.workdir, backend);
  if ("problem" in folder) return toolError(folder.problem);
  const resolved = { ...args, cwd: folder.cwd };
  const answer = await askGate(parts, resolved, backend, context);
  if ("refusal" in answer) return answer.refusal;
  const { outside, calls, exact, leaves } = answer;
  const work = args.background ? background : foreground;
  const result = await work(parts, { ...resolved, calls, exact, outside: leaves }, backend, context);
  // A background command taints the turn when it starts, because its output may reach the conversation later.
  const foreign = outside ?? (backend.name === "local" ? await parts.projects?.foreignOrigin(folder.cwd) : undefined);
  return foreign === undefined
    ? { ...result, trust: "workspace", origin: "the output of a local command" }
    : { ...result, trust: "untrusted", origin: foreign };
}

export function terminalTool(parts: TerminalParts): Tool {
  return defineTool({
    name: "terminal",
    toolset: "terminal",
    namesFolders: true,
    minWindow: "small",
    description:
      "Run a shell command (bash). Exported variables and the working directory carry over to the next command. Servers, watchers and anything long: background: true, then check with process. Read, search and edit files with the file tools instead.",
    parameters: Type.Object({
      command: Type.String({ description: "The command line" }),
      background: Type.Optional(Type.Boolean({ description: "Start it and return at once" })),
      timeout: Type.Optional(Type.Integer({ minimum: 1, description: "Seconds (180, at most 600)" })),
      workdir: Type.Optional(Type.String({ description: "Where to run it" })),
      pty: Type.Optional(Type.Boolean({ description: "background: in a pseudo-terminal" })),
      notify_on_complete: Type.Optional(Type.Boolean({ description: "background: notify me when it ends" })),
      watch_patterns: Type.Optional(
        Type.Array(Type.String(), { description: "background: notify me when a line contains one of these" }),
      ),
    }),
    overlap: "alone",
    mutates: true,
    timeoutMs: parts.settings.maxTimeoutMs + 10_000,
    maxResultChars: Number.POSITIVE_INFINITY,
    preview: (args) => args.command,
    run: (args, context) => run(parts, args, context),
  });
}
