// This machine's files as a sandbox sees them: what it keeps closed needs the person's permission, path by path.
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { PathRequest, SandboxLimits } from "../terminal/backend.ts";
import { type FileAccess, localFiles } from "./file-access.ts";
import { ripgrepSearch, type Searcher } from "./line-search.ts";

/** The real place of a path, through links; what does not exist yet stands in the real place of its folder. */
function realPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realPlace(dirname(path)), basename(path));
  }
}

/** `permit` asks the person; a refusal is thrown with words for the model. */
export function guardedFiles(
  limits: SandboxLimits,
  permit: (options: PathRequest) => Promise<"once" | "session" | "deny">,
): FileAccess {
  const need = async (access: PathRequest["access"], path: string): Promise<void> => {
    const place = realPlace(path);
    if (access === "write" ? limits.canWrite(place) : limits.canRead(place)) return;
    const options = { access, path: place };
    const answer = await permit(options);
    if (answer === "session") limits.allow(options);
    if (answer === "deny")
      throw new Error(
        `the sandbox keeps ${place} closed (${access}). Do not work around it; the person can add it to terminal.sandbox_writable`,
      );
  };
  return {
    info: async (path) => {
      await need("read", path);
      return localFiles.info(path);
    },
    read: async (path) => {
      await need("read", path);
      return localFiles.read(path);
    },
    head: async (path, bytes) => {
      await need("read", path);
      return localFiles.head(path, bytes);
    },
    stream: async function* (path) {
      await need("read", path);
      yield* localFiles.stream(path);
    },
    write: async (path, data) => {
      await need("write", path);
      return localFiles.write(path, data);
    },
    move: async (from, to) => {
      await need("write", from);
      await need("write", to);
      return localFiles.move(from, to);
    },
    remove: async (path) => {
      await need("write", path);
      return localFiles.remove(path);
    },
    names: async (folder) => (limits.canRead(realPlace(folder)) ? localFiles.names(folder) : []),
  };
}

/** ripgrep here, without what lies in hidden folders below the place of the search. */
export function guardedSearch(limits: SandboxLimits): Searcher {
  return async (query, folder, page) => {
    const open = (line: string) => limits.canRead(resolve(folder, line.split("\0", 1)[0] ?? ""));
    const found = await ripgrepSearch(query, folder, {
      ...page,
      counts: (line) => open(line) && page.counts(line),
    });
    return { ...found, lines: found.lines.filter(open) };
  };
}
