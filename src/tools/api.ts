// The operations of `hermes tools`: list tools with their availability, and switch toolsets for a platform.
import type { Config } from "../core/config/config.ts";
import { UserError } from "../core/failure.ts";
import { absentHuman } from "../core/human.ts";
import type { Settings } from "../core/settings.ts";
import type { Registry, ToolState } from "../core/tool/tool-registry.ts";
import { nearest } from "../lib/nearest.ts";
import { extraToolsets, toolNames } from "./tool-selection.ts";
import { ALWAYS_ON, leafToolsets, platforms, platformToolsets, switchOff, switchOn } from "./toolset-choice.ts";
import { isToolset, resolveToolsets, TOOLSETS } from "./toolsets.ts";

export interface ToolRow {
  readonly name: string;
  readonly toolset: string;
  readonly built: boolean;
  /** Usable on this machine now. */
  readonly available: boolean;
  /** Why it is not available. */
  readonly reason: string | null;
  /** Offered on the platform. */
  readonly on: boolean;
}

export interface ToolsetRow {
  readonly name: string;
  readonly description: string;
  readonly on: "yes" | "no" | "partly";
  /** Part of every conversation; cannot be switched. */
  readonly fixed: boolean;
  readonly tools: readonly ToolRow[];
}

export interface ToolView extends ToolRow {
  readonly description: string;
  readonly owner: string;
  readonly parameters: unknown;
}

export interface ToolsetChange {
  readonly platform: string;
  readonly changed: boolean;
  readonly toolsets: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Effects that the user may not expect. */
  readonly notes: readonly string[];
}

/** The tools of an opened program. */
export interface ToolSource {
  readonly config: Config;
  readonly registry: Pick<Registry, "toolsets">;
  /** Every tool that a conversation could have. */
  tools(): Promise<readonly ToolState[]>;
}

interface PlatformTools {
  readonly states: ReadonlyMap<string, ToolState>;
  readonly extra: ReadonlyMap<string, readonly string[]>;
  /** Names of the tools that the platform offers. */
  readonly on: ReadonlySet<string>;
}

async function readPlatformTools(source: ToolSource, platform: string): Promise<PlatformTools> {
  checkPlatform(platforms(source.config), platform);
  const states = new Map((await source.tools()).map((state) => [state.tool.name, state]));
  const extra = extraToolsets(source.registry);
  return { states, extra, on: new Set(toolNames(source.config, { human: absentHuman, platform }, extra)) };
}

function checkPlatform(known: readonly string[], platform: string): void {
  if (known.includes(platform)) return;
  const guess = nearest(platform, known);
  throw new UserError(`there is no platform "${platform}"${guess ? `; did you mean "${guess}"?` : ""}`, {
    hint: `Use one of: ${known.join(", ")}`,
    exitCode: 2,
  });
}

function buildRow(name: string, toolset: string, { states, on }: PlatformTools): ToolRow {
  const state = states.get(name);
  const reason = state
    ? state.availability.ok
      ? null
      : state.availability.reason
    : "not built yet: nothing in this program provides it";
  return { name, toolset, built: state !== undefined, available: reason === null, reason, on: on.has(name) };
}

function buildToolsetRow(name: string, known: PlatformTools): ToolsetRow {
  const tools = resolveToolsets([name], known.extra).map((tool) => buildRow(tool, name, known));
  const onCount = tools.filter((tool) => tool.on).length;
  return {
    name,
    description: TOOLSETS[name]?.description ?? "",
    fixed: ALWAYS_ON.includes(name),
    on: onCount === 0 ? "no" : onCount === tools.length ? "yes" : "partly",
    tools,
  };
}

/** Toolsets with their tools. Without `all`, only what is built. */
export async function listToolsets(
  source: ToolSource,
  options: { platform: string; all: boolean },
): Promise<ToolsetRow[]> {
  const known = await readPlatformTools(source, options.platform);
  const rows = [...leafToolsets(known.extra), ...ALWAYS_ON].map((name) => buildToolsetRow(name, known));
  if (options.all) return rows;
  return rows
    .map((row) => ({ ...row, tools: row.tools.filter((tool) => tool.built) }))
    .filter((row) => row.tools.length > 0);
}

/** One tool with its schema, or one toolset with its tools. */
export async function showTool(source: ToolSource, name: string, platform: string): Promise<ToolView | ToolsetRow> {
  const known = await readPlatformTools(source, platform);
  const state = known.states.get(name);
  if (state) {
    const { description, toolset, parameters } = state.tool;
    const plain = JSON.parse(JSON.stringify(parameters));
    return { ...buildRow(name, toolset, known), description, owner: state.owner, parameters: plain };
  }
  if (isToolset(name, known.extra)) return buildToolsetRow(name, known);
  const planned = leafToolsets(known.extra).find((set) => TOOLSETS[set]?.tools.includes(name));
  if (planned) return { ...buildRow(name, planned, known), description: "", owner: "", parameters: {} };
  const guess = nearest(name, [...known.states.keys(), ...leafToolsets(known.extra)]);
  throw new UserError(`there is no tool or toolset "${name}"${guess ? `; did you mean "${guess}"?` : ""}`, {
    hint: "See: hermes tools list --all",
    exitCode: 2,
  });
}

function checkNames(names: readonly string[], known: PlatformTools): void {
  for (const name of names) {
    if (ALWAYS_ON.includes(name))
      throw new UserError(`${name} is part of every conversation and cannot be switched`, { exitCode: 2 });
    if (isToolset(name, known.extra) && name !== "all" && name !== "*") continue;
    const tool = known.states.get(name);
    if (tool)
      throw new UserError(`${name} is a tool; toolsets are switched as a whole`, {
        hint: `It belongs to: ${tool.tool.toolset}`,
        exitCode: 2,
      });
    const guess = nearest(name, leafToolsets(known.extra));
    throw new UserError(`there is no toolset "${name}"${guess ? `; did you mean "${guess}"?` : ""}`, {
      hint: "See: hermes tools list --all",
      exitCode: 2,
    });
  }
}

/** For tools of toolsets that were switched off: which other toolsets still include them. */
function noteRemainingTools(names: readonly string[], before: PlatformTools, toolsets: readonly string[]): string[] {
  return resolveToolsets(names, before.extra).flatMap((tool) => {
    const holders = toolsets.filter((set) => resolveToolsets([set], before.extra).includes(tool));
    if (holders.length === 0 || !before.states.has(tool)) return [];
    return [`${tool} stays on: ${holders.join(", ")} also includes it; disable that too to remove the tool`];
  });
}

function onNotes(names: readonly string[], before: PlatformTools, after: ReadonlySet<string>): string[] {
  return names.flatMap((name) => {
    const tools = resolveToolsets([name], before.extra);
    const disabled = tools.filter((tool) => !after.has(tool));
    if (disabled.length > 0)
      return [`${disabled.join(", ")} stays off: agent.disabled_toolsets disables it everywhere`];
    return tools.some((tool) => before.states.has(tool)) ? [] : [`the tools of ${name} are not built yet`];
  });
}

export interface ToolsetSwitch {
  readonly platform: string;
  readonly on?: readonly string[] | undefined;
  readonly off?: readonly string[] | undefined;
}

/** Writes `platform_toolsets.<platform>`, and only when something changes. */
export async function switchToolsets(
  source: ToolSource,
  settings: Pick<Settings, "load" | "set">,
  { platform, on = [], off = [] }: ToolsetSwitch,
): Promise<ToolsetChange> {
  const known = await readPlatformTools(source, platform);
  checkNames([...on, ...off], known);
  const current = platformToolsets(source.config, platform, known.extra);
  const fewer = off.length > 0 ? switchOff(current, off, known.extra) : current;
  const toolsets = switchOn(fewer, on, known.extra);
  const same = toolsets.length === current.length && toolsets.every((name, index) => name === current[index]);
  if (!same) await settings.set(`platform_toolsets.${platform}`, JSON.stringify(toolsets));
  const { config } = await settings.load();
  const after = new Set(toolNames(config, { human: absentHuman, platform }, known.extra));
  const built = (names: Iterable<string>) => [...names].filter((name) => known.states.has(name)).sort();
  return {
    platform,
    changed: !same,
    toolsets,
    added: built([...after].filter((name) => !known.on.has(name))),
    removed: built([...known.on].filter((name) => !after.has(name))),
    notes: [...onNotes(on, known, after), ...noteRemainingTools(off, known, toolsets)],
  };
}
