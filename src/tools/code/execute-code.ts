// The execute_code tool: runs a Python or JavaScript script that can call tools, so that many steps need one call.
import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConversationContainer } from "../../core/container.ts";
import type { Gate } from "../../core/gate.ts";
import type { JsonObject } from "../../core/message.ts";
import { pauseWhileAsking } from "../../core/pause-while-asking.ts";
import type { ProjectTrust } from "../../core/project-trust.ts";
import type { Redactor } from "../../core/redactor.ts";
import { Type } from "../../core/tool/schema.ts";
import {
  type Availability,
  defineTool,
  gateContext,
  jsonResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  toolError,
} from "../../core/tool/tool.ts";
import { Deadline } from "../../lib/async/deadline.ts";
import { ansiStripper } from "../terminal/ansi.ts";
import { OutputCapture } from "../terminal/output-capture.ts";
import { containScript, type ScriptPlace } from "./contain-script.ts";
import { firstWorking, pythonCandidates } from "./interpreter.ts";
import { javascriptModule, PRELOAD, RESOLVE } from "./javascript-module.ts";
import { pythonModule } from "./python-module.ts";
import { runScript, type ScriptEnd } from "./run-script.ts";
import { openScratch, type Scratch } from "./scratch.ts";
import { type ScriptTool, scriptTools } from "./script-tools.ts";
import { ToolServer } from "./tool-server.ts";

type Language = "python" | "javascript";

const STDOUT_CHARS = 50_000;
const STDERR_CHARS = 10_000;
const GRACE_MS = 10_000;

export interface CodeSettings {
  readonly mode: "project" | "strict";
  readonly timeoutMs: number;
  readonly maxToolCalls: number;
  readonly spillDir: string;
}

export interface CodeParts {
  /** Which projects are the user's own. */
  readonly projects?: ProjectTrust | undefined;
  readonly gate: Gate;
  readonly redactor: Redactor;
  readonly settings: CodeSettings;
  /** The environment of scripts, without secrets. */
  readonly env: { readonly [name: string]: string };
  /** Additional variables that loaded skills declare; read before every script. */
  declared?(conversationId: string): { readonly [name: string]: string };
  /** The tools of the conversation; they are part of this tool's description. */
  readonly toolNames: readonly string[];
  /** The container of the conversation; where there is none, the gate asks for every script. */
  containerOf?(context: ToolContext): Promise<ConversationContainer | undefined>;
  /** The machine itself is the boundary: scripts without a container are judged as commands are. */
  readonly host?: boolean | undefined;
  /** Called before a script that may change files; takes a checkpoint if needed. */
  beforeRun?(context: ToolContext): Promise<void>;
  /** Runs a tool like a call of the model, with checks, hooks and the gate. Never throws. */
  callTool(name: string, args: JsonObject, context: ToolContext): Promise<ToolResult>;
}

interface CodeArgs {
  readonly code: string;
  readonly language?: Language | undefined;
}

async function askGate(
  parts: CodeParts,
  args: { code: string; language: Language; contained: boolean | undefined },
  context: ToolContext,
): Promise<{ readonly refusal?: ToolResult | undefined; readonly outside?: string | undefined }> {
  const verdict = await parts.gate.check(
    { kind: "code", language: args.language, code: args.code, cwd: context.cwd, contained: args.contained },
    gateContext("execute_code", context),
  );
  if (verdict.allowed) return { outside: verdict.outside };
  return { refusal: toolError(verdict.message, { status: verdict.status, rule: verdict.rule }) };
}

/** Writes the script and its module; returns the command that runs it. */
async function prepare(
  code: string,
  interpreter: { language: Language; path: string; strict: boolean },
  scratch: Scratch,
  tools: readonly ScriptTool[],
): Promise<string[]> {
  const write = (name: string, text: string) => writeFile(join(scratch.dir, name), text, { mode: 0o600 });
  if (interpreter.language === "python") {
    await Promise.all([write("script.py", code), write("hermes_tools.py", pythonModule(tools))]);
    return [interpreter.path, ...(interpreter.strict ? ["-E", "-s"] : []), join(scratch.dir, "script.py")];
  }
  await Promise.all([
    write("script.mjs", code),
    write("hermes_tools.cjs", javascriptModule(tools)),
    write("preload.mjs", PRELOAD),
    write("resolve.mjs", RESOLVE),
  ]);
  return [
    interpreter.path,
    "--no-warnings",
    "--import",
    join(scratch.dir, "preload.mjs"),
    join(scratch.dir, "script.mjs"),
  ];
}

function buildEnvironment(
  parts: CodeParts,
  scratch: Scratch,
  place: ScriptPlace | undefined,
): { [name: string]: string } {
  const env = place?.env ?? parts.env;
  const folders = parts.settings.mode === "strict" ? [] : [scratch.dir, scratch.cwd, env.PYTHONPATH];
  return {
    ...env,
    PYTHONPATH: folders.filter(Boolean).join(":"),
    PYTHONUNBUFFERED: "1",
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONIOENCODING: "utf-8",
    HERMES_RPC_SOCKET: scratch.socketPath,
    HERMES_RPC_TOKEN: scratch.token,
  };
}

function openCapture(parts: CodeParts, context: ToolContext, kind: "stdout" | "stderr") {
  const cleaner = parts.redactor.stream();
  const strip = ansiStripper();
  const name = `${context.callId.replaceAll(/[^\w-]/g, "_")}-${randomBytes(3).toString("hex")}-${kind}.txt`;
  const capture = new OutputCapture({
    limit: kind === "stdout" ? STDOUT_CHARS : STDERR_CHARS,
    spillPath: join(parts.settings.spillDir, name),
    transform: (text) => cleaner.push(strip(text)),
  });
  const finish = async () => {
    const { text, spill } = await capture.finish();
    return { text: (text + cleaner.end()).trimEnd(), spill };
  };
  return { capture, finish };
}

/** Opens the tool server of one run. After a result with untrusted text the run is tainted. */
function openToolServer(
  parts: CodeParts,
  scratch: Scratch,
  tools: readonly ScriptTool[],
  run: {
    context: ToolContext;
    deadline: Deadline;
    signal: AbortSignal;
    taint: { seen: boolean; origin?: string | undefined };
  },
): Promise<ToolServer> {
  const { context, taint } = run;
  const human = pauseWhileAsking(context.human, run.deadline);
  return ToolServer.listen({
    socketPath: scratch.socketPath,
    token: scratch.token,
    allowed: tools.map((tool) => tool.name),
    maxCalls: parts.settings.maxToolCalls,
    call: async (name, args, number) => {
      const [first] = Object.values(args).filter((value) => typeof value === "string");
      context.progress(`${number}. ${name} ${String(first ?? "").slice(0, 80)}`.trimEnd());
      const callId = `${context.callId}.${number}`;
      const inner = { ...context, callId, human, signal: run.signal, tainted: context.tainted || taint.seen };
      Object.assign(inner, { propose: context.proposeAs?.(name, args) });
      if (taint.origin !== undefined && !context.tainted) Object.assign(inner, { origin: taint.origin });
      const result = await parts.callTool(name, args, inner);
      if (result.trust === "untrusted") {
        taint.seen = true;
        taint.origin ??= result.origin ?? `the result of ${name}`;
      }
      return result;
    },
  });
}

interface Outcome extends ScriptEnd {
  readonly output: string;
  readonly errors: string;
  readonly calls: number;
  readonly seconds: number;
  readonly untrusted: boolean;
  readonly origin?: string | undefined;
  readonly spill?: NonNullable<ToolResult["spill"]> | undefined;
}

function report(parts: CodeParts, outcome: Outcome): ToolResult {
  const { ending, code, errors } = outcome;
  const status = ending === "exit" ? (code === 0 ? "success" : "error") : ending;
  const problem =
    ending === "timeout"
      ? `stopped after ${parts.settings.timeoutMs / 1000} s; do less in one script`
      : ending === "interrupted"
        ? "interrupted"
        : code === 0
          ? undefined
          : errors === ""
            ? `the script ended with code ${code}`
            : errors;
  const texts = status === "success" || errors === "" ? [outcome.output] : [outcome.output, "--- stderr ---", errors];
  const json: JsonObject = {
    status,
    output: texts.filter((text) => text !== "").join("\n"),
    tool_calls_made: outcome.calls,
    duration_seconds: Math.round(outcome.seconds * 100) / 100,
    ...(problem === undefined ? {} : { error: problem }),
  };
  return {
    ...jsonResult(json, { failed: status !== "success" }),
    spill: outcome.spill,
    trust: outcome.untrusted ? "untrusted" : "workspace",
    origin: outcome.origin,
  };
}

async function execute(
  parts: CodeParts,
  args: { code: string; language: Language; interpreter: string; container: ConversationContainer | undefined },
  context: ToolContext,
): Promise<ToolResult> {
  const tools = scriptTools(parts.toolNames);
  const scratch = await openScratch(parts.settings.mode, context.cwd);
  const ended = new AbortController();
  const deadline = new Deadline(parts.settings.timeoutMs);
  const taint: { seen: boolean; origin?: string | undefined } = { seen: false };
  const signal = AbortSignal.any([context.signal, ended.signal]);
  const started = performance.now();
  let server: ToolServer | undefined;
  try {
    server = await openToolServer(parts, scratch, tools, { context, deadline, signal, taint });
    const strict = parts.settings.mode === "strict";
    const interpreter = { language: args.language, path: args.interpreter, strict };
    const stdout = openCapture(parts, context, "stdout");
    const stderr = openCapture(parts, context, "stderr");
    const workspace = strict ? scratch.cwd : undefined;
    const place = args.container
      ? await containScript(args.container, { workspace, scratch, interpreter: args.interpreter, env: parts.env })
      : undefined;
    const end = await runScript({
      command: await prepare(args.code, interpreter, scratch, tools),
      cwd: place ? "/" : scratch.cwd,
      wrapper: place?.wrapper,
      env: buildEnvironment(parts, scratch, place),
      deadline,
      signal: context.signal,
      stdout: stdout.capture,
      stderr: stderr.capture,
      mark: scratch.token,
    });
    const seconds = (performance.now() - started) / 1000;
    const [{ text: output, spill }, { text: errors }] = await Promise.all([stdout.finish(), stderr.finish()]);
    const { calls } = server;
    return report(parts, {
      ...end,
      output,
      errors,
      calls,
      seconds,
      untrusted: taint.seen,
      origin: taint.origin,
      spill,
    });
  } finally {
    deadline.stop();
    ended.abort();
    await server?.close();
    await rm(scratch.dir, { recursive: true, force: true });
  }
}

async function run(parts: CodeParts, args: CodeArgs, context: ToolContext): Promise<ToolResult> {
  if (args.code.trim() === "") return toolError("the code is empty");
  const candidates = pythonCandidates(parts.env, context.cwd, parts.settings.mode);
  const language = args.language ?? (candidates.length > 0 ? "python" : "javascript");
  const container = await parts.containerOf?.(context);
  const contained = container ? true : parts.host ? undefined : false;
  const { refusal, outside } = await askGate(parts, { code: args.code, language, contained }, context);
  if (refusal) return refusal;
  if (context.signal.aborted) return toolError("interrupted", { status: "interrupted" });
  const interpreter = language === "javascript" ? process.execPath : await firstWorking(candidates, parts.env);
  if (interpreter === undefined)
    return toolError('there is no Python 3.8 or newer here; write the script in JavaScript (language: "javascript")');
  if (parts.settings.mode === "project") await parts.beforeRun?.(context);
  const env = { ...parts.env, ...parts.declared?.(context.conversationId) };
  const result = await execute({ ...parts, env }, { code: args.code, language, interpreter, container }, context);
  const foreign = outside ?? (await parts.projects?.foreignOrigin(context.cwd));
  return foreign === undefined ? result : { ...result, trust: "untrusted", origin: foreign };
}

function describe(parts: CodeParts): string {
  const calls = scriptTools(parts.toolNames).map(
    ({ name, parameters, required }) =>
      `${name}(${parameters.map((word, index) => (index < required ? word : `${word}?`)).join(", ")})`,
  );
  const limits = `${parts.settings.maxToolCalls} calls, ${parts.settings.timeoutMs / 1000} s`;
  const tools = calls.length === 0 ? "" : ` It can call tools: from hermes_tools import …; ${calls.join(", ")};`;
  return `Run a Python or JavaScript script. Use it for loops, filtering, or three and more tool calls with logic between them; the result is its printed output.${tools} also json_parse, shell_quote, retry. Results are parsed values; a failed call returns {"error"}. JavaScript: an ES module, await every call. No network except through tools; it sees the files of the working folder and the system. Limits: ${limits}.`;
}

function available(): Availability {
  return process.platform === "win32" ? { ok: false, reason: "needs a Unix system" } : { ok: true };
}

export function executeCodeTool(parts: CodeParts): Tool {
  return defineTool({
    name: "execute_code",
    searchable: "always",
    toolset: "code_execution",
    notForSubagents: "a subagent must not run scripts",
    description: describe(parts),
    parameters: Type.Object({
      code: Type.String({ description: "The whole script" }),
      language: Type.Optional(
        Type.Union([Type.Literal("python"), Type.Literal("javascript")], { description: "python when absent" }),
      ),
    }),
    overlap: "alone",
    mutates: true,
    timeoutMs: parts.settings.timeoutMs + GRACE_MS,
    maxResultChars: Number.POSITIVE_INFINITY,
    available,
    preview: (args) => args.code.trim().split("\n")[0] ?? "",
    run: (args, context) => run(parts, args, context),
  });
}
