// From configuration to what the agent, the engine and the tool box want to know.
import { realpathSync } from "node:fs";
import type { AgentSettings } from "../agent/parts.ts";
import type { Config } from "../core/config/config.ts";
import type { ConversationOptions } from "../core/conversation.ts";
import { UserError } from "../core/failure.ts";
import type { ReasoningEffort } from "../core/provider.ts";
import type { Registry } from "../core/tool-registry.ts";
import { nearest } from "../lib/nearest.ts";
import { type ExtraToolsets, isToolset, resolveToolsets, TOOLSETS } from "../tools/toolsets.ts";

const EFFORTS: readonly string[] = ["none", "minimal", "low", "medium", "high", "xhigh"];

/** Below these windows only the tools that earn their schema are offered. */
const SMALL_WINDOW = 12_000;
const MEDIUM_WINDOW = 24_000;
const ESSENTIAL_TOOLS = ["read_file", "write_file", "search_files", "terminal"];
const MEDIUM_TOOLS = [
  ...ESSENTIAL_TOOLS,
  "patch",
  "process",
  "memory",
  "session_search",
  "todo",
  "clarify",
  "recall_context",
];

export function reasoningEffort(config: Config): ReasoningEffort | undefined {
  const effort = config.agent.reasoning_effort;
  return EFFORTS.includes(effort) ? (effort as ReasoningEffort) : undefined;
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // It may not exist yet.
    return path;
  }
}

export function agentSettings(
  config: Config,
  options: ConversationOptions,
  where: { cwd(): string; workspace: string; spillDir: string },
): AgentSettings {
  const effort = reasoningEffort(config);
  const guard = config.tool_loop_guardrails;
  return {
    source: options.source ?? "cli",
    get cwd() {
      return where.cwd();
    },
    workspace: realFolder(where.workspace),
    spillDir: where.spillDir,
    maxTurns: options.maxTurns ?? config.agent.max_turns,
    compression: config.compression.enabled,
    verifyFileChanges: config.display.file_mutation_verifier,
    ...(effort ? { reasoningEffort: effort } : {}),
    ...(options.userId ? { userId: options.userId } : {}),
    ...(options.jobId ? { jobId: options.jobId, titles: false } : {}),
    guard: {
      warnings: guard.warnings_enabled,
      hardStop: guard.hard_stop_enabled,
      warnAfter: {
        exactFailure: guard.warn_after.exact_failure,
        sameToolFailure: guard.warn_after.same_tool_failure,
        noProgress: guard.warn_after.idempotent_no_progress,
      },
      stopAfter: {
        exactFailure: guard.hard_stop_after.exact_failure,
        sameToolFailure: guard.hard_stop_after.same_tool_failure,
        noProgress: guard.hard_stop_after.idempotent_no_progress,
      },
    },
  };
}

/** The toolsets that the person asked for, each known; a wrong name is an error that names the nearest. */
function askedToolsets(names: readonly string[], extra: ExtraToolsets): readonly string[] {
  for (const name of names) {
    if (isToolset(name, extra)) continue;
    const guess = nearest(name, [...Object.keys(TOOLSETS), ...extra.keys()]);
    throw new UserError(`there is no toolset "${name}"${guess ? `; did you mean "${guess}"?` : ""}`, {
      hint: "See: hermes tools list --all",
      exitCode: 2,
    });
  }
  return names;
}

/** Tool names for a conversation: asked for, or the platform's selection, or its bundle; less what is disabled everywhere. */
export function toolNames(config: Config, options: ConversationOptions, extra: ExtraToolsets): string[] {
  const platform = options.platform ?? "cli";
  const selected = (config.platform_toolsets as { readonly [platform: string]: readonly string[] | undefined })[
    platform
  ];
  const bundle = `hermes-${platform.replaceAll("_", "-")}`;
  const names = options.toolsets
    ? askedToolsets(options.toolsets, extra)
    : (selected ?? [isToolset(bundle) ? bundle : "hermes-cli", ...pluginToolsets(extra)]);
  const off = [...(config.agent.disabled_toolsets as readonly string[]), ...(options.withoutToolsets ?? [])];
  const disabled = new Set(resolveToolsets(off, extra));
  const within = options.withinPlatform;
  const bounds = within ? new Set(toolNames(config, { human: options.human, platform: within }, extra)) : undefined;
  return resolveToolsets([...names, "context"], extra).filter(
    (name) => !disabled.has(name) && (bounds?.has(name) ?? true),
  );
}

/** The toolsets of the registered tools, and the one of the tool that looks into compacted history. */
export function extraToolsets(registry: Registry): Map<string, string[]> {
  const sets = registry.toolsets();
  sets.set("context", ["recall_context"]);
  return sets;
}

/** Toolsets that are not ours were installed on purpose: they are on unless the platform's list says otherwise. */
function pluginToolsets(extra: ExtraToolsets): string[] {
  return [...extra.keys()].filter((name) => !Object.hasOwn(TOOLSETS, name));
}

/** A small window keeps few tools: schemas would eat the room for the work. */
export function fitTools(names: readonly string[], contextLength: number): string[] {
  if (contextLength <= SMALL_WINDOW) return names.filter((name) => ESSENTIAL_TOOLS.includes(name));
  if (contextLength <= MEDIUM_WINDOW) return names.filter((name) => MEDIUM_TOOLS.includes(name));
  return [...names];
}
