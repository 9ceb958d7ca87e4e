// Opens one conversation: connects its model, opens memory, context engine and tools, and hands them to the agent.
import { join } from "node:path";
import { agentSettings } from "../agent/agent-settings.ts";
import { type AgentConversation, openConversation } from "../agent/conversation.ts";
import { createSessionId } from "../agent/message-log.ts";
import { withClientTools } from "../agent/tools/client-tools.ts";
import { SummaryEngine } from "../context/compaction/summary-engine.ts";
import { withHints } from "../context/prompt/hinted-tools.ts";
import type { Prefill } from "../context/prompt/prefill.ts";
import { recallContextTool } from "../context/recall-context.ts";
import type { ContextEngine } from "../core/context.ts";
import type { ConversationOptions, OpenedConversation } from "../core/conversation.ts";
import { absentHuman } from "../core/human.ts";
import type { Message } from "../core/message.ts";
import type { ModelLimits, SideModel } from "../core/model/provider.ts";
import { estimateSchemaTokens } from "../core/model/tokens.ts";
import type { Tool, ToolBox } from "../core/tool/tool.ts";
import { lazy } from "../lib/async/lazy.ts";
import type { Connected } from "../providers/connect.ts";
import { SideModels } from "../providers/side-model.ts";
import { withCleanArguments } from "../security/clean-arguments.ts";
import { preloadFor, skillToolsFor } from "../skills/preload.ts";
import { picturesFor } from "../tools/media/pictures.ts";
import { sessionSearchTool } from "../tools/session-search.ts";
import { withToolSearch } from "../tools/tool-search.ts";
import { extraToolsets, fitsWindow, MEDIUM_WINDOW, toolNames } from "../tools/tool-selection.ts";
import { type ConversationDeps, turnGate } from "./builtins.ts";
import { codeTool } from "./code-tool.ts";
import { cronToolFor } from "./open-cron.ts";
import { type OpenedMemory, openMemory } from "./open-memory.ts";
import { messageToolsFor } from "./open-messages.ts";
import { type PromptPart, promptTrust, systemPromptFor } from "./open-prompt.ts";
import { type Services, spillDir } from "./services.ts";
import { type Parent, subagents } from "./subagents.ts";

interface OpenedEngine {
  readonly engine: ContextEngine;
  readonly side: SideModel;
  readonly notice?: string | undefined;
}

async function openEngine(services: Services, connected: Connected, limits: ModelLimits): Promise<OpenedEngine> {
  const side = new SideModels(services.models, connected.endpoint);
  const { compression, context } = services.config;
  const settings = {
    threshold: compression.threshold,
    targetRatio: compression.target_ratio,
    protectLastN: compression.protect_last_n,
    protectFirstN: compression.protect_first_n,
  };
  const redact = (text: string) => services.redactor.redact(text);
  if (context.engine === "lossless") {
    const { LosslessEngine } = await import("../context/compaction/lossless.ts");
    const dir = join(services.home.path, "context");
    const { contextLength } = limits;
    return { engine: new LosslessEngine({ contextLength, settings, side, redact, store: services.store, dir }), side };
  }
  const fromPlugin = await services.plugins?.contextEngine(context.engine, {
    contextLength: limits.contextLength,
    model: connected.provider.identity.model,
  });
  if (fromPlugin) return { engine: fromPlugin, side };
  const engine = new SummaryEngine({ contextLength: limits.contextLength, settings, side, redact });
  if (context.engine === "compressor") return { engine, side };
  return {
    engine,
    side,
    notice: `There is no context engine "${context.engine}"; the built-in compressor is used. Check context.engine.`,
  };
}

/** Tools that are created for one conversation, apart from execute_code and delegate_task. */
export async function ownTools(
  { services }: ConversationDeps,
  options: ConversationOptions,
  memory: Pick<OpenedMemory, "tool">,
): Promise<Tool[]> {
  return [
    sessionSearchTool({ store: services.store, userId: options.userId || undefined, trust: services.trust }),
    recallContextTool(services.store),
    ...(await skillToolsFor(services.skills, options)),
    await cronToolFor(services, options),
    ...(await messageToolsFor(services, options)),
    ...(memory.tool ? [memory.tool] : []),
  ];
}

/** Before the tools are resolved, scripts have none. */
const NO_TOOLS: ToolBox = { schemas: [], find: () => undefined, unavailable: () => undefined };

/** The model and everything that depends on it, opened before the conversation itself. */
interface Prepared extends OpenedEngine {
  readonly connected: Connected;
  readonly limits: ModelLimits;
  readonly memory: OpenedMemory;
  readonly prefill: Prefill | undefined;
}

/** The MCP servers, begun to connect; undefined when none is configured. */
async function openServers(services: Services) {
  const servers = await services.mcp.open();
  if (!servers) return undefined;
  const { conversationMcpTools, mcpToolsets } = await import("../mcp/conversation-tools.ts");
  servers.start();
  return {
    toolsets: mcpToolsets(servers),
    incomplete: servers.incomplete,
    offered: (config: Services["config"], options: ConversationOptions) =>
      conversationMcpTools(servers, config, options),
  };
}

type OpenedServers = Awaited<ReturnType<typeof openServers>>;

/** Leaves rarely used tools out of the prompt. The offline model needs no room and does not search. */
function withSearch(
  { config }: Services,
  { toolsets }: ConversationOptions,
  found: { readonly box: ToolBox; readonly side: SideModel; readonly servers: OpenedServers; late(): readonly Tool[] },
): ToolBox {
  if (!config.tool_search.enabled) return found.box;
  const options = { budget: config.tool_search.schema_budget, builtins: toolsets === undefined, late: found.late };
  return withToolSearch(found.box, { ...options, side: () => found.side }, found.servers?.incomplete ?? false);
}

/** The tools of the conversation. Scripts get them without hints for the model, which they could not parse. */
async function openToolBox(
  deps: ConversationDeps,
  options: ConversationOptions,
  { connected, limits, memory, side }: Prepared,
): Promise<{ toolbox: ToolBox; names: readonly string[] }> {
  const { registry, services } = deps;
  const own = await ownTools(deps, options, memory);
  const servers = await openServers(services);
  const mcpTools = () => (servers ? servers.offered(services.config, options) : []);
  own.push(...mcpTools());
  const extra = new Map([...extraToolsets(registry), ...(servers?.toolsets ?? [])]);
  const chosen = [...toolNames(services.config, options, extra), ...mcpTools().map((tool) => tool.name)];
  const names = [...new Set(chosen)].filter((name) => fitsWindow(registry.find(name, own), limits.contextLength));
  const offered: string[] = [];
  for (const name of names) if ((await registry.availability(name)).ok) offered.push(name);
  let box = NO_TOOLS;
  own.push(codeTool(deps, offered, () => box));
  const parent: Parent = { deps, options, connected, limits, names, own, memory: memory.service, side };
  box = await registry.box(names, [...own, await subagents(parent)]);
  const offline = connected.provider.identity.transport === "offline";
  const searched = offline ? box : withSearch(services, options, { box, late: mcpTools, side, servers });
  const clean = withCleanArguments(searched, services.redactor);
  const hinted = withHints(clean, options.cwd ?? services.home.cwd, services.scan);
  return { toolbox: withClientTools(hinted, options.clientTools ?? [], options.answer), names };
}

export async function openConversationFor(
  deps: ConversationDeps,
  given: ConversationOptions,
): Promise<OpenedConversation> {
  const { services } = deps;
  const source = given.source ?? "cli";
  const sessionId = given.resume ?? given.sessionId ?? createSessionId(source);
  const options = { ...given, source, sessionId, human: given.human ?? absentHuman };
  const connected = await services.models.connect({
    model: options.model || undefined,
    provider: options.provider || undefined,
    baseUrl: options.baseUrl || undefined,
  });
  const limits = await connected.provider.limits();
  const [engine, memory, prefill] = await Promise.all([
    openEngine(services, connected, limits),
    openMemory(services, options, sessionId),
    openPrefill(services),
  ]);
  try {
    return await openPrepared(deps, options, { connected, limits, memory, prefill, ...engine });
  } catch (error) {
    await memory.service.close();
    throw error;
  }
}

/** Undefined when no file is set, so that nothing is loaded. */
async function openPrefill({ config, home }: Services): Promise<Prefill | undefined> {
  const file = config.prefill_messages_file || config.agent.prefill_messages_file;
  if (!file) return undefined;
  const { readPrefill } = await import("../context/prompt/prefill.ts");
  return readPrefill(file, home.path);
}

async function openPrepared(
  deps: ConversationDeps,
  options: ConversationOptions & Required<Pick<ConversationOptions, "human">>,
  prepared: Prepared,
): Promise<OpenedConversation> {
  const { services, builtins } = deps;
  const { connected, limits, memory, side, engine } = prepared;
  const { toolbox, names } = await openToolBox(deps, options, prepared);
  const cwd = options.cwd ?? services.home.cwd;
  const promptParts: PromptPart[] = [];
  const opened: { conversation?: AgentConversation } = {};
  const conversation = await openConversation(
    {
      store: services.store,
      provider: connected.provider,
      engine,
      toolbox,
      memory: memory.service,
      hooks: services.hooks,
      human: options.human ?? absentHuman,
      side,
      redactor: services.redactor,
      drafts: services.drafts,
      gate: turnGate(deps),
      trust: services.trust,
      propose: (call) => services.proposals.add(call, { source: options.source ?? "cli", chat: options.origin }),
      settings: agentSettings(services.config, options, {
        cwd: () => services.workspaces.cwd(opened.conversation?.conversationId ?? "", cwd),
        workspace: cwd,
        spillDir: spillDir(services.home, "spill"),
        prefill: prepared.prefill?.messages,
      }),
      forgetReads: (id) => builtins.fileMemory.forgetPages(id),
      onUndo: (id, messages) => {
        builtins.fileMemory.forgetPages(id);
        void restoreTodos(deps, id, messages);
      },
      promptTrust: lazy(() => promptTrust(services, options, cwd)),
      systemPrompt: () =>
        systemPromptFor(services, options, {
          toolbox,
          memory: memory.service,
          model: connected.provider.identity.model,
          cwd,
          sessionId: () => opened.conversation?.sessionId ?? "",
          parts: promptParts,
        }),
    },
    options.resume ? { resume: options.resume } : { sessionId: options.sessionId, title: options.title },
  );
  opened.conversation = conversation;
  const preloadNotes = await restore(deps, options, conversation);
  const { caching, identity } = connected.provider;
  return {
    conversation,
    identity,
    contextLength: limits.contextLength,
    resumed: options.resume !== undefined,
    pictures: picturesFor(services.config, identity, side),
    caching: caching.enabled ? `💾 ${caching.status}` : null,
    modelNotices: connected.notes,
    notices: [
      ...[...connected.notes, prepared.notice, prepared.prefill?.problem].filter((note) => note !== undefined),
      ...recoveryNotice(conversation.recoveredChars),
      ...preloadNotes,
      ...windowNotice(limits, names, toolbox),
    ],
    toolCount: toolbox.schemas.length,
    get promptParts() {
      return [...promptParts, { name: "tool schemas", tokens: estimateSchemaTokens(toolbox.schemas) }];
    },
  };
}

async function restoreTodos({ builtins }: ConversationDeps, id: string, messages: readonly Message[]): Promise<void> {
  const { todosFromLog } = await import("../tools/todo.ts");
  builtins.todos.set(id, todosFromLog(messages));
}

/** Restores the state of the tools from the stored messages, and loads the skills of the options. */
async function restore(
  deps: ConversationDeps,
  options: ConversationOptions,
  conversation: AgentConversation,
): Promise<readonly string[]> {
  const { services, builtins } = deps;
  const { conversationId: id, messages } = conversation;
  // The window of a resumed session may hold less than this process has read for it.
  if (options.resume) builtins.fileMemory.forgetPages(id);
  if (options.checkpoints) builtins.checkpoints.enable(id);
  if (messages.length > 0) await restoreTodos(deps, id, messages);
  try {
    const preload = await preloadFor(services.skills, options, conversation);
    conversation.prependToNextInput(preload.text);
    return preload.notes;
  } catch (error) {
    await conversation.close();
    throw error;
  }
}

function recoveryNotice(chars: number): string[] {
  if (chars === 0) return [];
  return [
    `The last answer was cut off when the program was killed; the ${chars} characters shown until then were kept.`,
  ];
}

function windowNotice(limits: ModelLimits, names: readonly string[], toolbox: ToolBox): string[] {
  if (limits.contextLength > MEDIUM_WINDOW) return [];
  return [
    `The model's window is ${limits.contextLength} tokens: ${toolbox.schemas.length} of the tools are offered (${names.join(", ")}).`,
  ];
}
