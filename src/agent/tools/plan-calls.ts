// Decides which calls of a batch may overlap: read-only ones, and those with disjoint paths.
import { resolve, sep } from "node:path";
import type { Tool } from "../../core/tool/tool.ts";
import type { PreparedCall } from "./prepare-calls.ts";
import type { ResolvedTools } from "./resolved-tools.ts";

const MAX_PARALLEL = 8;

interface Footprint {
  readonly kind: "free" | "paths" | "alone";
  readonly mutates: boolean;
  readonly paths: readonly (readonly string[])[];
}

const ALONE: Footprint = { kind: "alone", mutates: true, paths: [] };

function readPaths(tool: Tool, call: PreparedCall): readonly string[] {
  try {
    return tool.paths?.(call.args as never) ?? [];
  } catch {
    // The arguments are not checked yet; a call without readable paths runs alone and fails there.
    return [];
  }
}

function footprint(call: PreparedCall, tools: ResolvedTools, cwd: string): Footprint {
  if (call.refusal !== undefined) return { kind: "free", mutates: false, paths: [] };
  const home = tools.locate(call.name);
  if (home.kind !== "tool") return ALONE;
  const { tool } = home;
  if (tool.overlap === "parallel") return { kind: "free", mutates: tool.mutates ?? false, paths: [] };
  if (tool.overlap !== "paths") return ALONE;
  const paths = readPaths(tool, call);
  if (paths.length === 0) return ALONE;
  return { kind: "paths", mutates: tool.mutates ?? false, paths: paths.map((path) => resolve(cwd, path).split(sep)) };
}

/** True when one path is the other or lies below it, component by component. */
function touches(a: readonly string[], b: readonly string[]): boolean {
  const shorter = a.length <= b.length ? a : b;
  const longer = shorter === a ? b : a;
  return shorter.every((part, index) => part === "" || longer[index] === part);
}

function compatible(a: Footprint, b: Footprint): boolean {
  if (a.kind === "alone" || b.kind === "alone") return false;
  if (a.kind === "free" || b.kind === "free") return !a.mutates && !b.mutates;
  return !a.paths.some((path) => b.paths.some((other) => touches(path, other)));
}

/** Consecutive groups: calls of one group may run together, groups run one after the other, so the order is kept. */
export function planCalls(calls: readonly PreparedCall[], tools: ResolvedTools, cwd: string): PreparedCall[][] {
  const groups: { calls: PreparedCall[]; prints: Footprint[] }[] = [];
  for (const call of calls) {
    const print = footprint(call, tools, cwd);
    const group = groups.at(-1);
    const joins =
      group !== undefined &&
      group.calls.length < MAX_PARALLEL &&
      group.prints.every((other) => compatible(other, print));
    if (joins) {
      group.calls.push(call);
      group.prints.push(print);
    } else {
      groups.push({ calls: [call], prints: [print] });
    }
  }
  return groups.map((group) => group.calls);
}
