// Opens the subagents of a conversation: the parent's model and tools, their own prompt, no memory and no user.

import { agentSettings } from "../agent/agent-settings.ts";
import type { OpenChild } from "../agent/delegation/child-run.ts";
import type { DelegationParts } from "../agent/delegation/delegate-tool.ts";
import type { Conversation, ConversationOptions } from "../core/conversation.ts";
import { absentHuman } from "../core/human.ts";
import type { Memory } from "../core/memory.ts";
import type { ModelLimits, SideModel } from "../core/model/provider.ts";
import type { Tool } from "../core/tool/tool.ts";
import type { Connected } from "../providers/connect.ts";
import { resolveToolsets } from "../tools/toolsets.ts";
import { type ConversationDeps, turnGate } from "./builtins.ts";
import { type Services, spillDir } from "./services.ts";

export interface Parent {
  readonly deps: ConversationDeps;
  readonly options: ConversationOptions;
  readonly connected: Connected;
  readonly limits: ModelLimits;
  /** Names of the parent's tools: a subagent never has more. */
  readonly names: readonly string[];
  /** Tools that were created for the parent alone. */
  readonly own: readonly Tool[];
  readonly memory: Memory;
  readonly side: SideModel;
}

/** The model of `delegation:` in the configuration, else the parent's. */
function modelFor({ deps, options }: Parent) {
  const { model, provider } = deps.services.config.delegation;
  const chosen = model || provider ? { model, provider } : options;
  return { model: chosen.model || undefined, provider: chosen.provider || undefined };
}

async function openChild(parent: Parent, child: Parameters<OpenChild>[0]): Promise<Conversation> {
  const { deps, limits, side } = parent;
  const { services, registry, builtins } = deps;
  const [{ openConversation }, { noMemory }, { SummaryEngine }] = await Promise.all([
    import("../agent/conversation.ts"),
    import("../agent/delegation/no-memory.ts"),
    import("../context/compaction/summary-engine.ts"),
  ]);
  const connected = await services.models.connect(modelFor(parent));
  const own = [...parent.own, await subagents(parent)];
  // Tools that the child does not have are looked up too, so that a guessed name gets the reason.
  const denyTool = (name: string, tool: Tool | undefined) => child.denyTool?.(name, tool ?? registry.find(name, own));
  const allowed = new Set(child.toolsets ? resolveToolsets(child.toolsets, registry.toolsets()) : parent.names);
  const names = parent.names.filter((name) => allowed.has(name) && denyTool(name, undefined) === undefined);
  const options = { ...parent.options, ...child, source: "tool", denyTool };
  const start = options.cwd ?? services.home.cwd;
  if (options.checkpoints) builtins.checkpoints.enable(child.sessionId);
  const opened = await openConversation(
    {
      store: services.store,
      provider: connected.provider,
      engine: new SummaryEngine({ contextLength: limits.contextLength, side }),
      toolbox: await registry.box(names, own),
      memory: noMemory,
      hooks: services.hooks,
      human: child.human ?? absentHuman,
      side,
      redactor: services.redactor,
      gate: turnGate(deps),
      trust: services.trust,
      settings: agentSettings(services.config, options, {
        cwd: () => services.workspaces.cwd(child.sessionId, start),
        workspace: start,
        spillDir: spillDir(services.home, "spill"),
      }),
      forgetReads: (id) => builtins.fileMemory.forgetPages(id),
      systemPrompt: async () => child.systemPrompt ?? "",
    },
    { sessionId: child.sessionId, parentSessionId: child.parentSessionId },
  );
  const close = opened.close.bind(opened);
  // Its container has processes and sockets, and no later turn uses them.
  return Object.assign(opened, {
    close: async (ending?: { readonly reason?: string | undefined }) => {
      await close(ending);
      await services.workspaces.release(child.sessionId);
    },
  });
}

/** The delegate_task tool of a conversation. */
export function subagents(parent: Parent): Promise<Tool> {
  return delegation(parent.deps.services, {
    memory: parent.memory,
    model: parent.connected.provider.identity.model,
    openChild: (options) => openChild(parent, options),
  });
}

/** The delegate_task tool with the settings of the home. */
export async function delegation(
  services: Services,
  parts: Pick<DelegationParts, "memory" | "model" | "openChild">,
): Promise<Tool> {
  const { delegateTool } = await import("../agent/delegation/delegate-tool.ts");
  const { delegation } = services.config;
  return delegateTool({
    store: services.store,
    hooks: services.hooks,
    ...parts,
    settings: {
      maxConcurrentChildren: Math.max(1, delegation.max_concurrent_children),
      maxSpawnDepth: Math.min(3, Math.max(1, delegation.max_spawn_depth)),
      orchestratorEnabled: delegation.orchestrator_enabled,
      childTimeoutMs: Math.max(30, delegation.child_timeout_seconds) * 1000,
      maxIterations: delegation.max_iterations,
      heartbeatMs: 30_000,
    },
  });
}
