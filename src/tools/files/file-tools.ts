// What the file tools share: the parts they are given, path resolution, and the question to the gate.
import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";
import type { Gate, Intent } from "../../core/gate.ts";
import type { Redactor } from "../../core/redactor.ts";
import { gateContext, type ToolContext, type ToolResult, toolError } from "../../core/tool.ts";
import type { FileAccess } from "./file-access.ts";
import type { FileMemory } from "./file-memory.ts";
import type { Searcher } from "./line-search.ts";

export interface FileLimits {
  /** Characters of one page of read_file. */
  readonly maxReadChars: number;
  readonly maxLines: number;
  readonly maxLineChars: number;
}

/** The files of one conversation, when they are not this machine's or not all open. */
export interface FilePlace {
  readonly files: FileAccess;
  readonly search?: Searcher | undefined;
  readonly home?: string | undefined;
  /** Where relative paths start. */
  readonly cwd?: string | undefined;
  /** They are elsewhere: no checkpoints are taken. */
  readonly remote?: boolean | undefined;
}

export interface FileToolParts {
  readonly files: FileAccess;
  /** How search_files looks; ripgrep on this machine when absent. */
  readonly search?: Searcher | undefined;
  /** Where the files of a conversation are; null for `files`. */
  placeOf?(context: ToolContext): Promise<FilePlace> | null;
  readonly gate: Gate;
  readonly redactor: Redactor;
  readonly memory: FileMemory;
  readonly limits: FileLimits;
  /** HOME for `~`; the backend's own when it is not this machine. */
  readonly home?: string | undefined;
  /** Why the content of a file is never part of a search result; null when it may be. `home`: of the backend. */
  protection?(
    path: string,
    about: { readonly guest: boolean; readonly home?: string | undefined },
  ): Promise<string | null>;
  /** Where tools leave output that is too large for the window. */
  readonly spillDir?: string | undefined;
  /** The workspace of files that are elsewhere. */
  readonly cwd?: string | undefined;
  readonly remote?: boolean | undefined;
  /** Before a file is changed: takes a checkpoint where they are enabled. */
  beforeChange?(path: string, context: ToolContext): Promise<void>;
}

/** The parts and the context for the place where this conversation's files are. */
export async function located<A>(
  parts: FileToolParts,
  args: A,
  context: ToolContext,
): Promise<[FileToolParts, A, ToolContext]> {
  const place = parts.placeOf?.(context);
  if (!place) return [parts, args, context];
  const { files, search, home, cwd, remote } = await place;
  const { beforeChange, ...rest } = parts;
  const here: FileToolParts = {
    ...rest,
    files,
    ...(search ? { search } : {}),
    ...(home ? { home } : {}),
    ...(cwd ? { cwd } : {}),
    ...(remote ? { remote } : {}),
    ...(beforeChange && !remote ? { beforeChange } : {}),
  };
  return [here, args, cwd ? { ...context, cwd, workspace: cwd } : context];
}

export function resolvePath(parts: FileToolParts, path: string, cwd: string): string {
  const home = parts.home ?? homedir();
  if (path === "~") return home;
  if (path.startsWith("~/")) return resolve(home, path.slice(2));
  return resolve(cwd, path);
}

/** Text from outside the workspace was written by somebody else. Spilled output is judged with the call that made it. */
export async function trustOf(
  parts: FileToolParts,
  path: string,
  context: ToolContext,
): Promise<Pick<ToolResult, "trust" | "origin">> {
  const below = (root: string, place: string) => {
    const inside = relative(root, place);
    return inside === "" || (!/^\.\.(?:[\\/]|$)/.test(inside) && !isAbsolute(inside));
  };
  const real = (place: string) => realpath(place).catch(() => place);
  const root = parts.cwd ?? context.workspace ?? context.cwd;
  // A link inside the workspace may lead out of it.
  const [realRoot, realPath] = parts.remote ? [root, path] : [await real(root), await real(path)];
  if (below(realRoot, realPath)) return { trust: "own" };
  if (parts.spillDir !== undefined && below(await real(parts.spillDir), realPath)) return { trust: "own" };
  return { trust: "untrusted", origin: `${path}, which is outside the workspace` };
}

/** The refusal to return, or undefined when the gate lets the call pass. */
export async function refused(
  parts: FileToolParts,
  intent: Intent,
  toolName: string,
  context: ToolContext,
): Promise<ToolResult | undefined> {
  const verdict = await parts.gate.check(intent, gateContext(toolName, context));
  return verdict.allowed ? undefined : toolError(verdict.message, { status: verdict.status, rule: verdict.rule });
}
