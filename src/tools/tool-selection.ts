// Which tools a conversation gets: from the toolsets of its options or its platform to the names of tools.
import type { Config } from "../core/config/config.ts";
import type { ConversationOptions } from "../core/conversation.ts";
import { UserError } from "../core/failure.ts";
import type { Tool } from "../core/tool/tool.ts";
import type { Registry } from "../core/tool/tool-registry.ts";
import { nearest } from "../lib/nearest.ts";
import { platformToolsets } from "./toolset-choice.ts";
import { type ExtraToolsets, isToolset, resolveToolsets, TOOLSETS } from "./toolsets.ts";

/** Up to these window sizes only the tools are offered whose `minWindow` allows it: schemas need room too. */
const SMALL_WINDOW = 12_000;
export const MEDIUM_WINDOW = 24_000;

/** Throws UserError for an unknown name and suggests the nearest known one. */
function requireToolsets(names: readonly string[], extra: ExtraToolsets): readonly string[] {
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

/**
 * Tool names for a conversation: those of `options.toolsets`, or else of the platform's toolsets, without the
 * toolsets that are disabled for all conversations or for this one.
 */
export function toolNames(config: Config, options: ConversationOptions, extra: ExtraToolsets): string[] {
  const names = options.toolsets
    ? requireToolsets(options.toolsets, extra)
    : platformToolsets(config, options.platform ?? "cli", extra);
  const off = [...(config.agent.disabled_toolsets as readonly string[]), ...(options.withoutToolsets ?? [])];
  const disabled = new Set(resolveToolsets(off, extra));
  const outer = options.withinPlatform;
  const bounds = outer ? new Set(toolNames(config, { platform: outer }, extra)) : undefined;
  return resolveToolsets([...names, "context"], extra).filter(
    (name) => !disabled.has(name) && (bounds?.has(name) ?? true),
  );
}

/** The toolsets of the registered tools, and `context`, the toolset of the tool that reads compacted history. */
export function extraToolsets(registry: Pick<Registry, "toolsets">): Map<string, string[]> {
  const sets = registry.toolsets();
  sets.set("context", ["recall_context"]);
  return sets;
}

/** Whether a tool is offered to a model with a window of `contextLength` tokens. */
export function fitsWindow(tool: Tool | undefined, contextLength: number): boolean {
  if (contextLength <= SMALL_WINDOW) return tool?.minWindow === "small";
  return contextLength > MEDIUM_WINDOW || tool?.minWindow !== undefined;
}
