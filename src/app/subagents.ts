// How a conversation opens its subagents: the same model and tools, a prompt of their own, nobody to ask.

import type { ChildSpec } from "../agent/delegation/child-run.ts";
import type { DelegationParts } from "../agent/delegation/delegate-tool.ts";
import type { AgentSettings } from "../agent/parts.ts";
import type { ConversationOptions } from "../core/conversation.ts";
import type { Memory } from "../core/memory.ts";
import type { ModelLimits, SideModel } from "../core/provider.ts";
import type { Tool } from "../core/tool.ts";
import type { Connected } from "../providers/connect.ts";
import { resolveToolsets } from "../tools/toolsets.ts";
import type { ConversationDeps } from "./conversation-deps.ts";
import { agentSettings } from "./conversation-settings.ts";
import { type Services, spillDir } from "./services.ts";
import { turnGate } from "./turn-gate.ts";

export interface Parent {
  readonly deps: ConversationDeps;
  readonly options: ConversationOptions;
  readonly connected: Connected;
  readonly limits: ModelLimits;
  /** The parent's own tools by name: a subagent never has more. */
  readonly names: readonly string[];
  readonly own: readonly Tool[];
  readonly memory: Memory;
  readonly side: SideModel;
}

async function openChild(parent: Parent, spec: ChildSpec) {
  const { deps, options, limits, side } = parent;
  const { services, registry } = deps;
  const [{ openConversation }, { noMemory }, { Compressor }] = await Promise.all([
    import("../agent/conversation.ts"),
    import("../agent/delegation/no-memory.ts"),
    import("../context/compaction/compressor.ts"),
  ]);
  const { delegation } = services.config;
  const ask = {
    ...(delegation.model ? { model: delegation.model } : {}),
    ...(delegation.provider ? { provider: delegation.provider } : {}),
  };
  const { model, provider } = options;
  const connected = await services.models.connect(
    Object.keys(ask).length > 0 ? ask : { ...(model ? { model } : {}), ...(provider ? { provider } : {}) },
  );
  const allowed = new Set(spec.toolsets ? resolveToolsets(spec.toolsets, registry.toolsets()) : parent.names);
  const names = parent.names.filter(
    (name) => allowed.has(name) && spec.denyTool(name, registry.get(name)) === undefined,
  );
  const start = options.cwd ?? services.home.cwd;
  if (options.checkpoints) deps.builtins.checkpoints.enable(spec.sessionId);
  const base = agentSettings(services.config, options, {
    cwd: () => services.workspaces.cwd(spec.sessionId, start),
    workspace: start,
    spillDir: spillDir(services.home, "spill"),
  });
  const settings: AgentSettings = Object.defineProperties(
    { ...base, source: "tool", maxTurns: spec.maxTurns, depth: spec.depth, titles: false, denyTool: spec.denyTool },
    { cwd: { get: () => services.workspaces.cwd(spec.sessionId, start) } },
  );
  const toolbox = await registry.box(names, [
    ...parent.own,
    ...(spec.role === "orchestrator" ? [await subagents(parent)] : []),
  ]);
  return openConversation(
    {
      store: services.store,
      provider: connected.provider,
      engine: new Compressor({ contextLength: limits.contextLength, side }),
      toolbox,
      memory: noMemory,
      hooks: services.hooks,
      human: spec.human,
      side,
      redactor: services.redactor,
      gate: turnGate(deps),
      settings,
      forgetReads: (id) => deps.builtins.fileMemory.forgetPages(id),
      systemPrompt: async () => spec.systemPrompt,
    },
    { sessionId: spec.sessionId, parentSessionId: spec.parentSessionId },
  );
}

/** The delegate_task tool of a conversation. */
export function subagents(parent: Parent): Promise<Tool> {
  return delegation(parent.deps.services, {
    memory: parent.memory,
    model: parent.connected.provider.identity.model,
    openChild: (spec) => openChild(parent, spec),
  });
}

/** delegate_task with the settings of the home. */
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
