// The settings of one conversation, derived from the configuration and its options.
import { realpathSync } from "node:fs";
import type { Config } from "../core/config/config.ts";
import type { ConversationOptions } from "../core/conversation.ts";
import type { JsonObject, Message } from "../core/message.ts";
import type { ReasoningEffort } from "../core/model/provider.ts";
import { withTenant } from "../core/store/tenant.ts";
import type { AgentSettings } from "./parts.ts";

const EFFORTS: readonly string[] = ["none", "minimal", "low", "medium", "high", "xhigh"];

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

/** False for subagents and jobs: they get no persona. */
function isOwnConversation({ depth, jobId }: ConversationOptions): boolean {
  return (depth ?? 0) === 0 && !jobId;
}

/** What `sessions.model_config` holds: the keys of v0.14, the provider, and the tenant where a platform names the user. */
function modelConfig(config: Config, options: ConversationOptions): JsonObject {
  const effort = reasoningEffort(config);
  const stored: JsonObject = {
    max_iterations: options.maxTurns ?? config.agent.max_turns,
    reasoning_config: effort === undefined ? null : { enabled: effort !== "none", effort },
    max_tokens: options.maxOutputTokens ?? null,
  };
  return options.platformUserId ? withTenant(stored, options.userId || null) : stored;
}

export function agentSettings(
  config: Config,
  options: ConversationOptions,
  where: { cwd(): string; workspace: string; spillDir: string; prefill?: readonly Message[] | undefined },
): AgentSettings {
  const guard = config.tool_loop_guardrails;
  return {
    source: options.source ?? "cli",
    get cwd() {
      return where.cwd();
    },
    workspace: realFolder(where.workspace),
    spillDir: where.spillDir,
    prefill: where.prefill,
    maxTurns: options.maxTurns ?? config.agent.max_turns,
    compaction: config.compression.enabled,
    verifyFileChanges: config.display.file_mutation_verifier,
    // Read at every model call: /reasoning, /fast and /personality change them during a conversation.
    get reasoningEffort() {
      return reasoningEffort(config);
    },
    get priority() {
      return ["fast", "priority", "on"].includes(config.agent.service_tier);
    },
    get persona() {
      return isOwnConversation(options) ? config.agent.system_prompt : "";
    },
    goals: { maxTurns: config.goals.max_turns, verdictTokens: config.auxiliary.goal_judge.max_tokens },
    maxOutputTokens: options.maxOutputTokens,
    temperature: options.temperature,
    answer: options.answer,
    // A caller who names a limit wants no more than that.
    continueCutAnswers: options.maxOutputTokens === undefined,
    userId: options.platformUserId || options.userId || undefined,
    modelConfig: modelConfig(config, options),
    jobId: options.jobId || undefined,
    titles: options.titles ?? (!options.jobId && options.parentSessionId === undefined),
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
