// The settings of one conversation, derived from the configuration and its options.
import { realpathSync } from "node:fs";
import type { AgentSettings } from "../agent/parts.ts";
import type { Config } from "../core/config/config.ts";
import type { ConversationOptions } from "../core/conversation.ts";
import { UserError } from "../core/failure.ts";
import type { ReasoningEffort } from "../core/provider.ts";
import type { Tool } from "../core/tool.ts";
import type { Registry } from "../core/tool-registry.ts";
import { nearest } from "../lib/nearest.ts";
import { type ExtraToolsets, isToolset, resolveToolsets, TOOLSETS } from "../tools/toolsets.ts";

const EFFORTS: readonly string[] = ["none", "minimal", "low", "medium", "high", "xhigh"];

/** Up to these window sizes only the tools are offered whose `minWindow` allows it: schemas need room too. */
const SMALL_WINDOW = 12_000;
export const MEDIUM_WINDOW = 24_000;

export function reasoningEffort(config: Config): ReasoningEffort | undefined {
  const effort = config.agent.reasoning_effort;
  return EFFORTS.includes(effort) ? (effort as ReasoningEffort) : undefined;
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // The folder may not exist yet.
    return path;
  }
}

export function agentSettings(
  config: Config,
  options: ConversationOptions,
  where: { cwd(): string; workspace: string; spillDir: string },
): AgentSettings {
  const guard = config.tool_loop_guardrails;
  return {
    source: options.source ?? "cli",
    get cwd() {
      return where.cwd();
    },
    workspace: realFolder(where.workspace),
    spillDir: where.spillDir,
    maxTurns: options.maxTurns ?? config.agent.max_turns,
    compaction: config.compression.enabled,
    verifyFileChanges: config.display.file_mutation_verifier,
    reasoningEffort: reasoningEffort(config),
    userId: options.userId || undefined,
    jobId: options.jobId || undefined,
    titles: !options.jobId && options.parentSessionId === undefined,
    depth: options.depth,
    denyTool: options.denyTool,
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

/** The toolsets of the options. An unknown name is an error that suggests the nearest. */
function checkToolsets(names: readonly string[], extra: ExtraToolsets): readonly string[] {
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

/** Tool names of a conversation: of its options, of the configured platform, or of the platform's default toolset, without the disabled ones. */
export function toolNames(config: Config, options: ConversationOptions, extra: ExtraToolsets): string[] {
  const platform = options.platform ?? "cli";
  const selected = (config.platform_toolsets as { readonly [platform: string]: readonly string[] | undefined })[
    platform
  ];
  const bundle = `hermes-${platform.replaceAll("_", "-")}`;
  const names = options.toolsets
    ? checkToolsets(options.toolsets, extra)
    : (selected ?? [isToolset(bundle) ? bundle : "hermes-cli", ...pluginToolsets(extra)]);
  const off = [...(config.agent.disabled_toolsets as readonly string[]), ...(options.withoutToolsets ?? [])];
  const disabled = new Set(resolveToolsets(off, extra));
  const within = options.withinPlatform;
  const bounds = within ? new Set(toolNames(config, { platform: within }, extra)) : undefined;
  return resolveToolsets([...names, "context"], extra).filter(
    (name) => !disabled.has(name) && (bounds?.has(name) ?? true),
  );
}

/** The toolsets of the registered tools, and that of recall_context, which searches compacted history. */
export function extraToolsets(registry: Registry): Map<string, string[]> {
  const sets = registry.toolsets();
  sets.set("context", ["recall_context"]);
  return sets;
}

/** Toolsets of plugins are enabled unless the configuration of the platform lists its toolsets. */
function pluginToolsets(extra: ExtraToolsets): string[] {
  return [...extra.keys()].filter((name) => !Object.hasOwn(TOOLSETS, name));
}

/** Whether a tool is offered to a model with a window of `contextLength` tokens. */
export function fitsWindow(tool: Tool | undefined, contextLength: number): boolean {
  if (contextLength <= SMALL_WINDOW) return tool?.minWindow === "small";
  return contextLength > MEDIUM_WINDOW || tool?.minWindow !== undefined;
}
