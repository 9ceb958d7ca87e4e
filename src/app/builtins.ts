// Registers the built-in tools, through the same interface as plugins.

import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { openSettings } from "../config/api.ts";
import type { Gate } from "../core/gate.ts";
import type { Home } from "../core/home.ts";
import type { ToolContext } from "../core/tool/tool.ts";
import { BUILTINS, type Registry } from "../core/tool/tool-registry.ts";
import { createRegistrar, type RegisteredItems, type Registrar, registerTools } from "../plugins/registrar.ts";
import { SudoPassword, sudoInput } from "../security/sudo.ts";
import { type CheckpointHost, openTurnCheckpoints } from "../tools/checkpoints/api.ts";
import type { TurnCheckpoints } from "../tools/checkpoints/turn-checkpoints.ts";
import { clarifyTool } from "../tools/clarify.ts";
import { localFiles } from "../tools/files/file-access.ts";
import { fileLocations } from "../tools/files/file-locations.ts";
import { FileMemory } from "../tools/files/file-memory.ts";
import type { FileToolParts } from "../tools/files/file-tools.ts";
import { patchTool } from "../tools/files/patch.ts";
import { readFileTool } from "../tools/files/read-file.ts";
import { searchFilesTool } from "../tools/files/search-files.ts";
import { writeFileTool } from "../tools/files/write-file.ts";
import { processTool } from "../tools/terminal/process-tool.ts";
import { type TerminalParts, terminalTool } from "../tools/terminal/terminal-tool.ts";
import { createTodoLists, type TodoLists, todoTool } from "../tools/todo.ts";
import { webTools } from "./open-web.ts";
import type { Services } from "./services.ts";

const MAX_FOREGROUND_SECONDS = 600;

export interface BuiltinState {
  readonly fileMemory: FileMemory;
  readonly todos: TodoLists;
  readonly checkpoints: TurnCheckpoints;
}

/** Why the lines of a file are left out of search results; null when they may be shown. */
function fileProtection(home: Home): NonNullable<FileToolParts["protection"]> {
  return async (path, { guest, home: remoteHome }) => {
    const { createPathGuard } = await import("../security/path-guard.ts");
    const userHome = remoteHome ?? home.env.HOME ?? homedir();
    const guard = createPathGuard({ hermesHome: home.path, userHome });
    const verdict = await guard.reference(path, home.cwd, { policy: guest ? "guest" : "owner" });
    return verdict.action === "allow" ? null : verdict.reason;
  };
}

export function fileParts(services: Services, { fileMemory: memory, checkpoints }: BuiltinState): FileToolParts {
  const { config, gate, home, redactor, workspaces } = services;
  const spillDir = join(home.path, "cache", "tool-results");
  return {
    projects: services.projects,
    files: localFiles,
    locate: fileLocations({
      terminal: config.terminal,
      spillDir,
      isContained: async () => (await services.containers.state()).kind === "contained",
      backendFor: (context) => workspaces.backend(context.conversationId, context.workspace ?? context.cwd),
    }),
    spillDir,
    protection: fileProtection(home),
    home: home.env.HOME ?? homedir(),
    gate,
    redactor,
    memory,
    beforeChange: (path, context) => checkpoints.beforeChange(path, context),
    limits: {
      maxReadChars: config.file_read_max_chars,
      maxLines: config.tool_output.max_lines,
      maxLineChars: config.tool_output.max_line_length,
    },
  };
}

/** Passes the password to sudo on standard input. Without one the command runs unchanged and sudo reports that. */
function sudoRewriter(services: Services): NonNullable<TerminalParts["sudo"]> {
  const password = new SudoPassword({
    configured: services.home.env.SUDO_PASSWORD,
    passwordless: () =>
      new Promise((resolve) => execFile("sudo", ["-n", "true"], { timeout: 3_000 }, (error) => resolve(!error))),
  });
  return async (command, context) => {
    if (!/\bsudo\b/.test(command)) return null;
    const { rewriteSudo } = await import("../security/sudo.ts");
    const rewritten = await rewriteSudo(command);
    if (rewritten.calls === 0) return null;
    const typed = await password.get(context.sessionId, context.human, context.signal);
    if (!typed) return null;
    services.redactor.learn(typed);
    return { command: rewritten.command, stdin: sudoInput(typed, rewritten.calls) };
  };
}

function terminalParts(services: Services, { checkpoints }: BuiltinState): TerminalParts {
  const { config, gate, redactor, hooks, workspaces, home } = services;
  let restricted = false;
  let checked = false;
  return {
    projects: services.projects,
    gate,
    redactor,
    hooks,
    processes: workspaces.processes,
    sudo: sudoRewriter(services),
    restricted: () => restricted,
    // Checkpoints cover this machine only.
    beforeCommand: async (command, context) => {
      if (config.terminal.backend === "local") await checkpoints.beforeCommand(command, context);
    },
    backendFor: async (context: ToolContext) => {
      if (config.terminal.backend === "local" && !checked) {
        checked = true;
        const state = await services.containers.state();
        restricted = state.kind === "none";
        const problem =
          state.kind === "none" ? (await import("../container/api.ts")).containerProblem(state) : undefined;
        if (problem) services.notice(`${problem.text} ${problem.hint}`);
      }
      return workspaces.backend(context.conversationId, context.workspace ?? context.cwd);
    },
    settings: {
      defaultTimeoutMs: config.terminal.timeout * 1000,
      maxTimeoutMs: Math.max(MAX_FOREGROUND_SECONDS, config.terminal.timeout) * 1000,
      maxOutputChars: config.tool_output.max_bytes,
      spillDir: join(home.path, "cache", "tool-results", "terminal"),
    },
  };
}

/** Tools that are created for each conversation; their names are reserved. */
export const CONVERSATION_TOOLS = [
  "cronjob",
  "delegate_task",
  "execute_code",
  "memory",
  "recall_context",
  "session_search",
  "skill_manage",
  "skill_view",
  "skills_list",
] as const;

function register(ctx: Registrar, services: Services, state: BuiltinState): void {
  const files = fileParts(services, state);
  const { config, workspaces } = services;
  ctx.registerTool(readFileTool(files));
  ctx.registerTool(writeFileTool(files));
  ctx.registerTool(patchTool(files));
  ctx.registerTool(searchFilesTool(files));
  ctx.registerTool(terminalTool(terminalParts(services, state)));
  ctx.registerTool(
    processTool(workspaces.processes, { maxWaitMs: config.terminal.timeout * 1000, gate: services.gate }),
  );
  ctx.registerTool(todoTool(state.todos));
  ctx.registerTool(clarifyTool({ timeoutMs: config.clarify.timeout * 1000 }));
  for (const tool of webTools(services)) ctx.registerTool(tool);
}

/** Registers the tools that all conversations share; `ownTools` creates those of a single conversation. */
export function registerBuiltins(registry: Registry, services: Services): BuiltinState {
  const state: BuiltinState = {
    fileMemory: new FileMemory(),
    todos: createTodoLists(),
    checkpoints: openCheckpoints(services),
  };
  const registered: RegisteredItems = { tools: [], commands: [] };
  register(createRegistrar({ name: BUILTINS }, registered), services, state);
  registry.reserve(CONVERSATION_TOOLS);
  registerTools(registry, BUILTINS, registered.tools, (reason) => {
    throw new Error(reason);
  });
  return state;
}

/** For the tools of a running program. */
export function openCheckpoints({ home, config, redactor, notice }: Services): TurnCheckpoints {
  return openTurnCheckpoints(home, config, {
    isDestructive: async (command, paths) => {
      const { destructiveHint } = await import("../security/gate/destructive-hint.ts");
      return destructiveHint(command, paths);
    },
    redact: (text) => redactor.redact(text),
    notice,
  });
}

/** For `hermes checkpoints`, which runs without the rest of the program. */
export function checkpointHost(home: Home): CheckpointHost {
  return {
    home,
    settings: openSettings(home),
    openRedactor: async (config) => {
      const [{ createRedactor }, { knownSecrets }] = await Promise.all([
        import("../security/redact.ts"),
        import("../security/known-secrets.ts"),
      ]);
      return createRedactor({ values: knownSecrets(home, config), enabled: config.security.redact_secrets });
    },
  };
}

/** What opening a conversation needs: the services, the registered tools, and the state that the tools share. */
export interface ConversationDeps {
  readonly services: Services;
  readonly registry: Registry;
  readonly builtins: BuiltinState;
}

/** The gate of a conversation: a new turn also starts a new checkpoint. */
export function turnGate({ services, builtins }: ConversationDeps): Gate {
  return {
    check: (intent, context) => services.gate.check(intent, context),
    beginTurn: (sessionId) => {
      builtins.checkpoints.beginTurn(sessionId);
      services.gate.beginTurn(sessionId);
    },
  };
}
