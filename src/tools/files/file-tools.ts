// What the file tools share: dependencies, path resolution, and the check by the gate.
import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Gate, Intent } from "../../core/gate.ts";
import type { ProjectTrust } from "../../core/project-trust.ts";
import type { Redactor } from "../../core/redactor.ts";
import { gateContext, type ToolContext, type ToolResult, toolError } from "../../core/tool/tool.ts";
import { isPathInside } from "../../lib/path-inside.ts";
import type { FileAccess } from "./file-access.ts";
import type { FileMemory } from "./file-memory.ts";
import type { Searcher } from "./line-search.ts";

export interface FileLimits {
  /** Characters of one page of read_file. */
  readonly maxReadChars: number;
  readonly maxLines: number;
  readonly maxLineChars: number;
}

/** The files of one conversation when they are on another machine or limited by a sandbox. */
export interface FileLocation {
  readonly files: FileAccess;
  readonly search?: Searcher | undefined;
  readonly home?: string | undefined;
  /** The folder for relative paths. */
  readonly cwd?: string | undefined;
  /** True when they are on another machine, where no checkpoints are taken. */
  readonly remote?: boolean | undefined;
}

export interface FileToolParts {
  /** Which projects are the user's own; without it all files of the workspace count alike. */
  readonly projects?: ProjectTrust | undefined;
  readonly files: FileAccess;
  /** Used by search_files; ripgrep when absent. */
  readonly search?: Searcher | undefined;
  /** The location of a conversation's files; null for `files`. */
  locate?(context: ToolContext): Promise<FileLocation | null>;
  readonly gate: Gate;
  readonly redactor: Redactor;
  readonly memory: FileMemory;
  readonly limits: FileLimits;
  /** HOME for `~`; that of the backend when it is another machine. */
  readonly home?: string | undefined;
  /** Why the content of a file is left out of search results; null when it may be shown. `home`: of the backend. */
  protection?(
    path: string,
    about: { readonly guest: boolean; readonly home?: string | undefined },
  ): Promise<string | null>;
  /** The folder for output that is too large for the context window. */
  readonly spillDir?: string | undefined;
  /** The workspace on another machine. */
  readonly cwd?: string | undefined;
  readonly remote?: boolean | undefined;
  /** Called before a file is changed; takes a checkpoint if needed. */
  beforeChange?(path: string, context: ToolContext): Promise<void>;
}

/** The parts and the context for the location of this conversation's files. */
export async function located<A>(
  parts: FileToolParts,
  args: A,
  context: ToolContext,
): Promise<[FileToolParts, A, ToolContext]> {
  const location = await parts.locate?.(context);
  if (!location) return [parts, args, context];
  const { files, search = parts.search, home = parts.home, cwd = parts.cwd, remote = parts.remote } = location;
  const { beforeChange, ...rest } = parts;
  const local: FileToolParts = { ...rest, files, search, home, cwd, remote };
  if (beforeChange && !remote) local.beforeChange = beforeChange;
  return [local, args, location.cwd ? { ...context, cwd: location.cwd, workspace: location.cwd } : context];
}

export function resolvePath(parts: FileToolParts, path: string, cwd: string): string {
  const home = parts.home ?? homedir();
  if (path === "~") return home;
  if (path.startsWith("~/")) return resolve(home, path.slice(2));
  return resolve(cwd, path);
}

/** Files outside the workspace are untrusted. Spilled output was already classified with the call that wrote it. */
export async function contentTrust(
  parts: FileToolParts,
  path: string,
  context: ToolContext,
): Promise<Pick<ToolResult, "trust" | "origin">> {
  const real = (at: string) => realpath(at).catch(() => at);
  const root = parts.cwd ?? context.workspace ?? context.cwd;
  // Links are resolved, because one inside the workspace may point out of it.
  const [realRoot, realPath] = parts.remote ? [root, path] : [await real(root), await real(path)];
  if (isPathInside(realPath, realRoot)) {
    const foreign = parts.remote ? undefined : await parts.projects?.foreignOrigin(realPath);
    if (foreign !== undefined) return { trust: "untrusted", origin: foreign };
    return { trust: "workspace", origin: `${path}, a file of the workspace` };
  }
  if (parts.spillDir !== undefined && isPathInside(realPath, await real(parts.spillDir))) return { trust: "own" };
  return { trust: "untrusted", origin: `${path}, which is outside the workspace` };
}

/** The refusal to return, or undefined when the gate allows the call. */
export async function checkGate(
  parts: FileToolParts,
  intent: Intent,
  toolName: string,
  context: ToolContext,
): Promise<ToolResult | undefined> {
  const verdict = await parts.gate.check(intent, gateContext(toolName, context));
  return verdict.allowed ? undefined : toolError(verdict.message, { status: verdict.status, rule: verdict.rule });
}
