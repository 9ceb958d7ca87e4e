// Opens one conversation: model, memory, engine, tools and the frozen prompt, each handed over as a contract.
import { join } from "node:path";
import { openConversation } from "../agent/conversation.ts";
import { freshSessionId } from "../agent/session-log.ts";
import { Compressor } from "../context/compaction/compressor.ts";
import { withHints } from "../context/prompt/hinted-tools.ts";
import { recallContextTool } from "../context/recall-context.ts";
import type { ContextEngine } from "../core/context.ts";
import type { ConversationOptions, OpenedConversation } from "../core/conversation.ts";
import type { Memory } from "../core/memory.ts";
import type { Message } from "../core/message.ts";
import type { ModelLimits, SideModel } from "../core/provider.ts";
import { estimateSchemaTokens } from "../core/tokens.ts";
import type { Tool, ToolBox } from "../core/tool.ts";
import type { Connected } from "../providers/connect.ts";
import { SideModels } from "../providers/side-model.ts";
import { withCleanArguments } from "../security/clean-arguments.ts";
import { preloadFor, skillToolsFor, withText } from "../skills/preload.ts";
import { sessionSearchTool } from "../tools/session-search.ts";
import { codeTool } from "./code-tool.ts";
import type { ConversationDeps } from "./conversation-deps.ts";
import { agentSettings, extraToolsets, fitTools, toolNames } from "./conversation-settings.ts";
import { cronToolFor } from "./open-cron.ts";
import { type OpenedMemory, openMemory } from "./open-memory.ts";
import { messageToolsFor } from "./open-messages.ts";
import { picturesFor } from "./open-pictures.ts";
import { type PromptPart, systemPromptFor } from "./open-prompt.ts";
import { type Services, spillDir } from "./services.ts";
import { type Parent, subagents } from "./subagents.ts";
import { turnGate } from "./turn-gate.ts";

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
  const engine = new Compressor({ contextLength: limits.contextLength, settings, side, redact });
  if (context.engine === "compressor") return { engine, side };
  return {
    engine,
    side,
    notice: `There is no context engine "${context.engine}"; the built-in compressor is used. Check context.engine.`,
  };
}

/** Until the box is settled there is nothing to call. */
const NO_TOOLS: ToolBox = { schemas: [], find: () => undefined, unavailable: () => undefined };

/** Tools that belong to this conversation alone. */
export async function ownTools(
  deps: ConversationDeps,
  options: ConversationOptions,
  memory: { service: Memory; tool: Tool | null },
): Promise<Tool[]> {
  const { services } = deps;
  return [
    sessionSearchTool({ store: services.store, ...(options.userId ? { userId: options.userId } : {}) }),
    recallContextTool(services.store),
    ...(await skillToolsFor(services.skills, options)),
    await cronToolFor(services, options),
    ...(await messageToolsFor(services, options)),
    ...(memory.tool ? [memory.tool] : []),
  ];
}

/** Everything that the conversation may call. Scripts get it without hints for the model, which would spoil their parsing. */
async function openToolBox(open: Omit<Parent, "own">, memory: OpenedMemory): Promise<ToolBox> {
  const { deps, options, names } = open;
  const { registry, services } = deps;
  const offered: string[] = [];
  for (const name of names) if ((await registry.availability(name)).ok) offered.push(name);
  let box: ToolBox | undefined;
  const code = codeTool(deps, offered, () => box ?? NO_TOOLS);
  const own = [...(await ownTools(deps, options, memory)), code];
  box = await registry.box(names, [...own, await subagents({ ...open, own })]);
  const clean = withCleanArguments(box, services.redactor);
  return withHints(clean, options.cwd ?? services.home.cwd, services.scan);
}

function askOf(options: ConversationOptions) {
  return {
    ...(options.model ? { model: options.model } : {}),
    ...(options.provider ? { provider: options.provider } : {}),
    ...(options.baseUrl ? { baseUrl: options.baseUrl } : {}),
  };
}

async function restoreTodos(
  deps: ConversationDeps,
  conversationId: string,
  messages: readonly Message[],
): Promise<void> {
  if (messages.length === 0) return;
  const { todosFromLog } = await import("../tools/todo.ts");
  deps.builtins.todos.set(conversationId, todosFromLog(messages));
}

export async function openConversationFor(
  deps: ConversationDeps,
  options: ConversationOptions,
): Promise<OpenedConversation> {
  const { services } = deps;
  const connected = await services.models.connect(askOf(options));
  const limits = await connected.provider.limits();
  const start = options.cwd ?? services.home.cwd;
  const place = { id: "" };
  const settings = agentSettings(services.config, options, {
    cwd: () => services.workspaces.cwd(place.id, start),
    workspace: start,
    spillDir: spillDir(services.home, "spill"),
  });
  const sessionId = options.resume ?? options.sessionId ?? freshSessionId(Date.now(), settings.source);
  const [opened, memory] = await Promise.all([
    openEngine(services, connected, limits),
    openMemory(services, options, sessionId),
  ]);
  try {
    const made = { connected, limits, start, settings, sessionId, memory, ...opened };
    return await assemble(deps, options, made, (id) => {
      place.id = id;
    });
  } catch (error) {
    await memory.service.close();
    throw error;
  }
}

/** What was opened before the conversation itself. */
interface Prepared extends OpenedEngine {
  readonly connected: Connected;
  readonly limits: ModelLimits;
  readonly start: string;
  readonly settings: ReturnType<typeof agentSettings>;
  readonly sessionId: string;
  readonly memory: OpenedMemory;
}

async function assemble(
  deps: ConversationDeps,
  options: ConversationOptions,
  made: Prepared,
  named: (conversationId: string) => void,
): Promise<OpenedConversation> {
  const { services, registry, builtins } = deps;
  const { connected, limits, memory, side, start, notice } = made;
  const names = fitTools(toolNames(services.config, options, extraToolsets(registry)), limits.contextLength);
  const toolbox = await openToolBox({ deps, options, connected, limits, names, memory: memory.service, side }, memory);
  const promptParts: PromptPart[] = [];
  const conversation = await openConversation(
    {
      store: services.store,
      provider: connected.provider,
      engine: made.engine,
      toolbox,
      memory: memory.service,
      hooks: services.hooks,
      human: options.human,
      side,
      redactor: services.redactor,
      gate: turnGate(deps),
      settings: made.settings,
      forgetReads: (id) => builtins.fileMemory.forgetPages(id),
      systemPrompt: () =>
        systemPromptFor(services, options, {
          toolbox,
          memory: memory.service,
          cwd: start,
          sessionId: () => conversation.sessionId,
          parts: promptParts,
        }),
    },
    options.resume ? { resume: options.resume } : { sessionId: made.sessionId },
  );
  const id = conversation.conversationId;
  named(id);
  // The window of a resumed session may hold less than this process has read for it.
  if (options.resume) builtins.fileMemory.forgetPages(id);
  if (options.checkpoints) builtins.checkpoints.enable(id);
  await restoreTodos(deps, id, conversation.messages);
  const preload = await preloadFor(services.skills, options, conversation).catch(async (error: unknown) => {
    await conversation.close();
    throw error;
  });
  const { caching, identity } = connected.provider;
  return {
    conversation: surfaceView(conversation, preload.text, identity.model),
    identity,
    contextLength: limits.contextLength,
    resumed: options.resume !== undefined,
    pictures: picturesFor(services.config, identity, side),
    caching: caching.enabled ? `Prompt caching: ${caching.label}` : null,
    modelNotices: connected.notes,
    notices: [
      ...connected.notes,
      ...(notice ? [notice] : []),
      ...preload.notes,
      ...windowNotice(limits, names, toolbox),
    ],
    get promptParts() {
      return [...promptParts, { name: "tool schemas", tokens: estimateSchemaTokens(toolbox.schemas) }];
    },
  };
}

function windowNotice(limits: ModelLimits, names: readonly string[], toolbox: ToolBox): string[] {
  if (limits.contextLength > 24_000) return [];
  return [
    `The model's window is ${limits.contextLength} tokens: ${toolbox.schemas.length} of the tools are offered (${names.join(", ")}).`,
  ];
}

type AgentConversation = Awaited<ReturnType<typeof openConversation>>;

/** The contract that surfaces hold. */
function surfaceView(
  conversation: AgentConversation,
  preload: string,
  model: string,
): OpenedConversation["conversation"] {
  let first = preload;
  return {
    get sessionId() {
      return conversation.sessionId;
    },
    get conversationId() {
      return conversation.conversationId;
    },
    send: (input, options) => {
      const text = first;
      first = "";
      return conversation.send(withText(text, input), options);
    },
    steer: (text) => conversation.steer(text),
    interrupt: () => void conversation.interrupt(),
    compress: async (focus) => (await conversation.compress(focus)).shrunk,
    saveTrajectory: async (dir, completed) => {
      const { appendTrajectory, toConversations } = await import("../agent/trajectory.ts");
      const conversations = toConversations(conversation.messages, conversation.tools);
      return appendTrajectory(dir, { conversations, timestamp: new Date().toISOString(), model, completed });
    },
    close: () => conversation.close(),
  };
}
