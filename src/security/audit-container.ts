// Findings of the security audit about the container, permissions, and what the user declared to run outside it.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type ContainerState, formatPermission, type Permission } from "../core/container.ts";
import type { AuditFinding } from "./audit-finding.ts";

type Tree = { readonly [key: string]: unknown };

const isOn = (value: unknown): boolean => value === true || /^(?:1|true|yes|on)$/i.test(String(value));

function at(tree: Tree, path: string): unknown {
  return path.split(".").reduce<unknown>((node, key) => (node as Tree | undefined)?.[key], tree);
}

/** What the audit knows about the container of this machine. */
export interface ContainerFacts {
  readonly state: ContainerState;
  readonly permissions: readonly { readonly project: string; readonly permissions: readonly Permission[] }[];
}

function stateFindings(state: ContainerState): AuditFinding[] {
  if (state.kind === "none") {
    const what = `commands cannot be contained: ${state.reason}`;
    return [{ id: "no_container", severity: "high", what, hint: state.hint }];
  }
  if (state.kind === "host") {
    const what =
      "commands are not contained, because the machine is declared the boundary (terminal.container is host)";
    return [{ id: "host_is_boundary", severity: "info", what, hint: null }];
  }
  if (state.how === "sandbox-exec") {
    const what = "the container for macOS (sandbox-exec) is untested";
    return [{ id: "untested_container", severity: "low", what, hint: null }];
  }
  if (state.how === "bubblewrap") return [];
  const what = "commands are contained by unshare, which leaves local services in reach";
  return [{ id: "weak_container", severity: "low", what, hint: "install the package bubblewrap" }];
}

function isWide(permission: Permission): boolean {
  return (
    permission.kind === "outside" || (permission.kind === "named" && /^(?:docker|services)$/.test(permission.name))
  );
}

export function containerFindings({ state, permissions }: ContainerFacts): AuditFinding[] {
  return [
    ...stateFindings(state),
    ...permissions.map(({ project, permissions: list }): AuditFinding => {
      const what = `commands in ${project} may use ${list.map(formatPermission).join(", ")}`;
      return {
        id: "permissions",
        severity: list.some(isWide) ? "low" : "info",
        what,
        hint: "review them: hermes permissions list",
      };
    }),
  ];
}

function names(value: unknown): string[] {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? Object.keys(value) : [];
}

/** What the user declared runs outside the container, as in v0.14. */
export function declaredFindings(raw: Tree): AuditFinding[] {
  const servers = names(raw.mcp_servers).filter((name) => !isOn(at(raw, `mcp_servers.${name}.contained`)));
  const quick = names(raw.quick_commands).filter((name) => at(raw, `quick_commands.${name}.type`) !== "alias");
  const kinds: readonly (readonly [string, readonly string[], string | null])[] = [
    ["MCP servers", servers, "contain one: hermes config set mcp_servers.NAME.contained true"],
    ["quick commands", quick, null],
    ["hooks", names(raw.hooks), null],
    [
      "plugins",
      Array.isArray(at(raw, "plugins.enabled")) ? (at(raw, "plugins.enabled") as unknown[]).map(String) : [],
      null,
    ],
    [
      "the approval program",
      typeof at(raw, "approvals.program") === "string" && at(raw, "approvals.program") !== ""
        ? ["approvals.program"]
        : [],
      null,
    ],
  ];
  return kinds
    .filter(([, list]) => list.length > 0)
    .map(([kind, list, hint]) => ({
      id: "declared",
      severity: "info",
      what: `${kind} run outside the container, because you declared them: ${list.join(", ")}`,
      hint,
    }));
}

export async function jobFindings(home: string): Promise<AuditFinding[]> {
  const text = await readFile(join(home, "cron", "jobs.json"), "utf8").catch(() => "");
  const scripts = [...text.matchAll(/"script"\s*:\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
  if (scripts.length === 0) return [];
  const what = `scripts of jobs run outside the container, because you declared them: ${scripts.join(", ")}`;
  return [{ id: "declared", severity: "info", what, hint: null }];
}
