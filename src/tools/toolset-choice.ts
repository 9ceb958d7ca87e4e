// Which toolsets a platform has on, and how one is switched: the list in `platform_toolsets` worked out as data.
import type { Config } from "../core/config/config.ts";
import { type ExtraToolsets, OFF_BY_DEFAULT, resolveToolsets, TOOLSETS } from "./toolsets.ts";

/** Groups of other toolsets, and `search`, which is a part of `web`. */
const NOT_LEAVES = ["debugging", "safe", "search"];

/** The toolsets that a person switches one by one. */
export function leafToolsets(extra: ExtraToolsets): string[] {
  const own = Object.keys(TOOLSETS).filter((name) => !name.startsWith("hermes-") && !NOT_LEAVES.includes(name));
  return [...own, ...pluginToolsets(extra)];
}

/** Added to every conversation, whatever is switched. */
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

function bundleOf(platform: string): string {
  const bundle = `hermes-${platform.replaceAll("_", "-")}`;
  return Object.hasOwn(TOOLSETS, bundle) ? bundle : "hermes-cli";
}

/** What the configuration names for the platform, or what it has without being named. */
export function selection(config: Config, platform: string, extra: ExtraToolsets): string[] {
  const named = (config.platform_toolsets as { readonly [name: string]: readonly string[] | undefined })[platform];
  return [...(named ?? [bundleOf(platform), ...pluginToolsets(extra)])];
}

function covered(name: string, extra: ExtraToolsets): string[] {
  const tools = new Set(resolveToolsets([name], extra));
  const inside = (leaf: string) => resolveToolsets([leaf], extra).every((tool) => tools.has(tool));
  return leafToolsets(extra).filter(inside);
}

/** The same tools named by leaf toolsets, so that one can be taken out. Names that nobody knows stay as they are. */
function asLeaves(names: readonly string[], extra: ExtraToolsets): string[] {
  const leaves = new Set(leafToolsets(extra));
  const spelled = names.flatMap((name) => {
    const inner = leaves.has(name) ? [] : covered(name, extra);
    if (inner.length === 0) return [name];
    return name === "all" || name === "*" ? inner : inner.filter((leaf) => !OFF_BY_DEFAULT.includes(leaf));
  });
  return [...new Set(spelled)];
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
  const away = new Set(names.flatMap((name) => [name, ...covered(name, extra)]));
  if (away.has("web")) away.add("search");
  return asLeaves(current, extra).filter((name) => !away.has(name));
}
