// This machine's files within the limits of a sandbox: other paths need the user's permission.
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { PathRequest, SandboxLimits } from "../terminal/backend.ts";
import { type FileAccess, localFiles } from "./file-access.ts";
import { ripgrepSearch, type Searcher } from "./line-search.ts";

/** The path with links resolved; of a missing file the folder is resolved. */
function resolveLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(resolveLinks(dirname(path)), basename(path));
  }
}

/** `permit` asks the user. Throws an error for the model when access is denied. */
export function guardedFiles(
  limits: SandboxLimits,
  permit: (request: PathRequest) => Promise<"once" | "session" | "deny">,
): FileAccess {
  const requireAccess = async (access: PathRequest["access"], path: string): Promise<void> => {
    const real = resolveLinks(path);
    if (access === "write" ? limits.canWrite(real) : limits.canRead(real)) return;
    const request = { access, path: real };
    const answer = await permit(request);
    if (answer === "session") limits.allow(request);
    if (answer === "deny")
      throw new Error(
        `the sandbox denies access to ${real} (${access}). Do not work around it; the user can add it to terminal.sandbox_writable`,
      );
  };
  return {
    info: async (path) => {
      await requireAccess("read", path);
      return localFiles.info(path);
    },
    read: async (path) => {
      await requireAccess("read", path);
      return localFiles.read(path);
    },
    head: async (path, bytes) => {
      await requireAccess("read", path);
      return localFiles.head(path, bytes);
    },
    stream: async function* (path) {
      await requireAccess("read", path);
      yield* localFiles.stream(path);
    },
    write: async (path, data) => {
      await requireAccess("write", path);
      return localFiles.write(path, data);
    },
    move: async (from, to) => {
      await requireAccess("write", from);
      await requireAccess("write", to);
      return localFiles.move(from, to);
    },
    remove: async (path) => {
      await requireAccess("write", path);
      return localFiles.remove(path);
    },
    names: async (folder) => (limits.canRead(resolveLinks(folder)) ? localFiles.names(folder) : []),
  };
}

/** ripgrep, without results in folders that the sandbox hides. */
export function guardedSearch(limits: SandboxLimits): Searcher {
  return async (query, folder, page) => {
    const isVisible = (line: string) => limits.canRead(resolve(folder, line.split("\0", 1)[0] ?? ""));
    const found = await ripgrepSearch(query, folder, {
      ...page,
      counts: (line) => isVisible(line) && page.counts(line),
    });
    return { ...found, lines: found.lines.filter(isVisible) };
  };
}
