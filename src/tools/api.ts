// What `hermes tools` does: which tools there are, whether they can be used, and switching toolsets per platform.

import { openApp } from "../app/compose.ts";
import { extraToolsets, toolNames } from "../app/conversation-settings.ts";
import { openSettings } from "../config/api.ts";
import type { Config } from "../core/config/config.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import { nobody } from "../core/human.ts";
import type { ToolState } from "../core/tool-registry.ts";
import { nearest } from "../lib/nearest.ts";
import { ALWAYS_ON, leafToolsets, platforms, selection, switchOff, switchOn } from "./toolset-choice.ts";
import { isToolset, resolveToolsets, TOOLSETS } from "./toolsets.ts";

export interface ToolRow {
  readonly name: string;
  readonly toolset: string;
  readonly built: boolean;
  /** Can be used on this machine now. */
  readonly available: boolean;
  /** Why it cannot. */
  readonly reason: string | null;
  /** Offered on the platform. */
  readonly on: boolean;
}

export interface ToolsetRow {
  readonly name: string;
  readonly description: string;
  readonly on: "yes" | "no" | "partly";
  /** Part of every conversation: it cannot be switched. */
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
  /** Things the person may not expect. */
  readonly notes: readonly string[];
}

interface Looked {
  readonly states: ReadonlyMap<string, ToolState>;
  readonly extra: ReadonlyMap<string, readonly string[]>;
  readonly on: ReadonlySet<string>;
}

async function look(home: Home, platform: string): Promise<Looked & { config: Config }> {
  const app = await openApp(home);
  try {
    checkPlatform(platforms(app.config), platform);
    const states = new Map((await app.tools()).map((state) => [state.tool.name, state]));
    const extra = extraToolsets(app.registry);
    const on = new Set(toolNames(app.config, { human: nobody, platform }, extra));
    return { states, extra, on, config: app.config };
  } finally {
    await app.close();
  }
}

function checkPlatform(known: readonly string[], platform: string): void {
  if (known.includes(platform)) return;
  const guess = nearest(platform, known);
  throw new UserError(`there is no platform "${platform}"${guess ? `; did you mean "${guess}"?` : ""}`, {
    hint: `Use one of: ${known.join(", ")}`,
    exitCode: 2,
  });
}

function rowOf(name: string, toolset: string, { states, on }: Looked): ToolRow {
  const state = states.get(name);
  const reason = state
    ? state.availability.ok
      ? null
      : state.availability.reason
    : "not built yet: no part of this program brings it";
  return { name, toolset, built: state !== undefined, available: reason === null, reason, on: on.has(name) };
}

function toolsetRow(name: string, looked: Looked): ToolsetRow {
  const tools = resolveToolsets([name], looked.extra).map((tool) => rowOf(tool, name, looked));
  const lit = tools.filter((tool) => tool.on).length;
  return {
    name,
    description: TOOLSETS[name]?.description ?? "",
    fixed: ALWAYS_ON.includes(name),
    on: lit === 0 ? "no" : lit === tools.length ? "yes" : "partly",
    tools,
  };
}

/** Toolsets with their tools. Without `all`, only what is built. */
export async function listToolsets(home: Home, ask: { platform: string; all: boolean }): Promise<ToolsetRow[]> {
  const looked = await look(home, ask.platform);
  const rows = [...leafToolsets(looked.extra), ...ALWAYS_ON].map((name) => toolsetRow(name, looked));
  if (ask.all) return rows;
  return rows
    .map((row) => ({ ...row, tools: row.tools.filter((tool) => tool.built) }))
    .filter((row) => row.tools.length > 0);
}

/** One tool with its schema, or one toolset with its tools. */
export async function showTool(home: Home, name: string, platform: string): Promise<ToolView | ToolsetRow> {
  const looked = await look(home, platform);
  const state = looked.states.get(name);
  if (state) {
    const { description, toolset, parameters } = state.tool;
    const plain = JSON.parse(JSON.stringify(parameters));
    return { ...rowOf(name, toolset, looked), description, owner: state.owner, parameters: plain };
  }
  if (isToolset(name, looked.extra)) return toolsetRow(name, looked);
  const planned = leafToolsets(looked.extra).find((set) => TOOLSETS[set]?.tools.includes(name));
  if (planned) return { ...rowOf(name, planned, looked), description: "", owner: "", parameters: {} };
  const guess = nearest(name, [...looked.states.keys(), ...leafToolsets(looked.extra)]);
  throw new UserError(`there is no tool or toolset "${name}"${guess ? `; did you mean "${guess}"?` : ""}`, {
    hint: "See: hermes tools list --all",
    exitCode: 2,
  });
}

function checkNames(names: readonly string[], looked: Looked): void {
  for (const name of names) {
    if (ALWAYS_ON.includes(name))
      throw new UserError(`${name} is part of every conversation; it is not switched`, { exitCode: 2 });
    if (isToolset(name, looked.extra) && name !== "all" && name !== "*") continue;
    const tool = looked.states.get(name);
    if (tool)
      throw new UserError(`${name} is a tool; toolsets are switched as a whole`, {
        hint: `It belongs to: ${tool.tool.toolset}`,
        exitCode: 2,
      });
    const guess = nearest(name, leafToolsets(looked.extra));
    throw new UserError(`there is no toolset "${name}"${guess ? `; did you mean "${guess}"?` : ""}`, {
      hint: "See: hermes tools list --all",
      exitCode: 2,
    });
  }
}

/** Tools of toolsets that were switched off, and who still brings them. */
function stayNotes(names: readonly string[], before: Looked, toolsets: readonly string[]): string[] {
  return resolveToolsets(names, before.extra).flatMap((tool) => {
    const holders = toolsets.filter((set) => resolveToolsets([set], before.extra).includes(tool));
    if (holders.length === 0 || !before.states.has(tool)) return [];
    return [`${tool} stays: ${holders.join(", ")} has it too; to be rid of it, disable that as well`];
  });
}

function onNotes(names: readonly string[], before: Looked, after: ReadonlySet<string>): string[] {
  return names.flatMap((name) => {
    const tools = resolveToolsets([name], before.extra);
    const kept = tools.filter((tool) => !after.has(tool));
    if (kept.length > 0) return [`${kept.join(", ")} stays off: agent.disabled_toolsets switches it off everywhere`];
    return tools.some((tool) => before.states.has(tool)) ? [] : [`the tools of ${name} are not built yet`];
  });
}

/** Writes `platform_toolsets.<platform>`, and only when something changes. */
export async function switchToolsets(
  home: Home,
  ask: { platform: string; on?: readonly string[] | undefined; off?: readonly string[] },
): Promise<ToolsetChange> {
  const { platform, on = [], off = [] } = ask;
  const looked = await look(home, platform);
  checkNames([...on, ...off], looked);
  const current = selection(looked.config, platform, looked.extra);
  const fewer = off.length > 0 ? switchOff(current, off, looked.extra) : current;
  const toolsets = switchOn(fewer, on, looked.extra);
  const same = toolsets.length === current.length && toolsets.every((name, index) => name === current[index]);
  if (!same) await openSettings(home).set(`platform_toolsets.${platform}`, JSON.stringify(toolsets));
  const { config } = await openSettings(home).load();
  const after = new Set(toolNames(config, { human: nobody, platform }, looked.extra));
  const built = (names: Iterable<string>) => [...names].filter((name) => looked.states.has(name)).sort();
  return {
    platform,
    changed: !same,
    toolsets,
    added: built([...after].filter((name) => !looked.on.has(name))),
    removed: built([...looked.on].filter((name) => !after.has(name))),
    notes: [...onNotes(on, looked, after), ...stayNotes(off, looked, toolsets)],
  };
}
