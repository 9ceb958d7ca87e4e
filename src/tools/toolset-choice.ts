// The toolsets of a platform (`platform_toolsets`), and the list that results from switching some on or off.
import type { Config } from "../core/config/config.ts";
import { type ExtraToolsets, OFF_BY_DEFAULT, resolveToolsets, TOOLSETS } from "./toolsets.ts";

/** Groups of other toolsets, and `search`, whose tool is also in `web`. */
const NOT_LEAVES = ["debugging", "safe", "search"];

/** The toolsets that users switch individually. */
export function leafToolsets(extra: ExtraToolsets): string[] {
  const own = Object.keys(TOOLSETS).filter((name) => !name.startsWith("hermes-") && !NOT_LEAVES.includes(name));
  return [...own, ...pluginToolsets(extra)];
}

/** Part of every conversation; cannot be switched. */
export const ALWAYS_ON: readonly string[] = ["context"];

function pluginToolsets(extra: ExtraToolsets): string[] {
  return [...extra.keys()].filter((name) => !Object.hasOwn(TOOLSETS, name) && !ALWAYS_ON.includes(name));
}

export function platforms(config: Config): string[] {
  const bundled = Object.keys(TOOLSETS)
    .filter((name) => name.startsWith("hermes-") && name !== "hermes-gateway")
    .map((name) => name.slice("hermes-".length).replaceAll("-", "_"));
  return [...new Set([...bundled, ...Object.keys(config.platform_toolsets)])];
}

function defaultBundle(platform: string): string {
  const bundle = `hermes-${platform.replaceAll("_", "-")}`;
  return Object.hasOwn(TOOLSETS, bundle) ? bundle : "hermes-cli";
}

/** `toolsets`, the older key for the terminal; undefined when it names the default. */
function olderToolsets({ toolsets }: Config): readonly string[] | undefined {
  return toolsets.length === 1 && toolsets[0] === "hermes-cli" ? undefined : toolsets;
}

/** The configured toolsets of the platform; without any, its default bundle and every toolset of plugins. */
export function platformToolsets(config: Config, platform: string, extra: ExtraToolsets): string[] {
  const byPlatform = config.platform_toolsets as { readonly [name: string]: readonly string[] | undefined };
  const named = byPlatform[platform] ?? (platform === "cli" ? olderToolsets(config) : undefined);
  return [...(named ?? [defaultBundle(platform), ...pluginToolsets(extra)])];
}

/** The individual toolsets whose tools are all part of the named one. */
function covered(name: string, extra: ExtraToolsets): string[] {
  const tools = new Set(resolveToolsets([name], extra));
  const inside = (leaf: string) => resolveToolsets([leaf], extra).every((tool) => tools.has(tool));
  return leafToolsets(extra).filter(inside);
}

/** The same tools as individual toolsets, so that one can be removed. Unknown names are kept. */
function asLeaves(names: readonly string[], extra: ExtraToolsets): string[] {
  const leaves = new Set(leafToolsets(extra));
  const expanded = names.flatMap((name) => {
    const inner = leaves.has(name) ? [] : covered(name, extra);
    if (inner.length === 0) return [name];
    return name === "all" || name === "*" ? inner : inner.filter((leaf) => !OFF_BY_DEFAULT.includes(leaf));
  });
  return [...new Set(expanded)];
}

export function switchOn(current: readonly string[], names: readonly string[], extra: ExtraToolsets): string[] {
  const have = new Set(resolveToolsets(current, extra));
  const missing = names.filter((name) => {
    const tools = resolveToolsets([name], extra);
    return !current.includes(name) && (tools.length === 0 || !tools.every((tool) => have.has(tool)));
  });
  return [...new Set([...current, ...missing])];
}

export function switchOff(current: readonly string[], names: readonly string[], extra: ExtraToolsets): string[] {
  const removed = new Set(names.flatMap((name) => [name, ...covered(name, extra)]));
  if (removed.has("web")) removed.add("search");
  return asLeaves(current, extra).filter((name) => !removed.has(name));
}
