// execute_code of one conversation: its scripts call the tools of the conversation, under the same rules as the model.
import { argumentProblems } from "../agent/tools/check-arguments.ts";
import { coerceArguments } from "../agent/tools/coerce-arguments.ts";
import { thrownResult } from "../agent/tools/tool-errors.ts";
import { isSecretEnvName, knownEnvNames } from "../core/config/env-names.ts";
import type { JsonObject } from "../core/message.ts";
import { type Tool, type ToolBox, type ToolContext, type ToolResult, toolError } from "../core/tool/tool.ts";
import { codeEnv } from "../security/child-env.ts";
import { executeCodeTool } from "../tools/code/execute-code.ts";
import type { ConversationDeps } from "./builtins.ts";
import { type Services, spillDir } from "./services.ts";

type ScriptTools = Pick<Services, "hooks" | "redactor">;

/** The message of the first hook that answers `{ action: "block", message }`. */
async function blocked(services: ScriptTools, name: string, call: JsonObject): Promise<string | undefined> {
  if (!services.hooks.listens("pre_tool_call")) return undefined;
  for (const answer of await services.hooks.run("pre_tool_call", call)) {
    if (answer === null || typeof answer !== "object" || Array.isArray(answer)) continue;
    const { action, message } = answer as JsonObject;
    if (action === "block") return String(message ?? `A hook blocked ${name}.`);
  }
  return undefined;
}

/** A script gets the text of a file also when the conversation has read it already. */
function contextFor(name: string, context: ToolContext): ToolContext {
  if (name !== "read_file") return context;
  return { ...context, conversationId: `${context.conversationId}:${context.callId}` };
}

async function runTool(tool: Tool, args: JsonObject, context: ToolContext): Promise<ToolResult> {
  const fitted = coerceArguments(args, tool.parameters as unknown as JsonObject);
  const problems = await argumentProblems(tool.parameters, fitted);
  if (problems !== undefined) return toolError(`The arguments of ${tool.name} do not fit: ${problems}.`);
  try {
    return await tool.run(fitted as never, contextFor(tool.name, context));
  } catch (error) {
    return thrownResult(error);
  }
}

/** Never throws. The hooks, the argument check, the tool with its gate, and redaction, as for a call of the model. */
export function callFromScript(services: ScriptTools, box: () => ToolBox) {
  return async (name: string, args: JsonObject, context: ToolContext): Promise<ToolResult> => {
    const tool = box().find(name);
    if (!tool) return toolError(box().unavailable(name) ?? `${name} is not available`);
    const call = {
      tool_name: name,
      args,
      session_id: context.sessionId,
      task_id: context.conversationId,
      tool_call_id: context.callId,
    };
    const block = await blocked(services, name, call);
    if (block !== undefined) return toolError(block);
    const started = performance.now();
    const result = await runTool(tool, args, context);
    if (typeof result.content !== "string") return result;
    const content = services.redactor.redact(result.content, { code: true });
    if (services.hooks.listens("post_tool_call")) {
      const duration_ms = Math.round(performance.now() - started);
      await services.hooks.run("post_tool_call", { ...call, result: content, duration_ms });
    }
    return { ...result, content };
  };
}

/** `names` are the tools of the conversation; `box` is called at the first call, when the tools are resolved. */
export function codeTool({ services, builtins }: ConversationDeps, names: readonly string[], box: () => ToolBox): Tool {
  const { home, config, gate, redactor } = services;
  const { mode, timeout, max_tool_calls } = config.code_execution;
  const env = codeEnv(home.env, {
    blocked: new Set([...knownEnvNames].filter(isSecretEnvName)),
    passthrough: config.terminal.env_passthrough as readonly string[],
    home: home.childHome,
  });
  return executeCodeTool({
    projects: services.projects,
    gate,
    redactor,
    toolNames: names,
    settings: {
      mode: mode === "strict" ? "strict" : "project",
      timeoutMs: timeout * 1000,
      maxToolCalls: max_tool_calls,
      spillDir: spillDir(home, "code"),
    },
    env,
    containerOf: async (context) =>
      (await services.workspaces.backend(context.conversationId, context.workspace ?? context.cwd)).container,
    host: config.terminal.container === "host" || config.terminal.backend !== "local",
    beforeRun: (context) => builtins.checkpoints.beforeScript(context),
    declared: (conversationId) => services.skills.passthrough(conversationId),
    callTool: callFromScript(services, box),
  });
}
