// Resolves the `workdir` argument once, so that the gate checks the same folder in which the command runs.
import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { posix, resolve } from "node:path";
import type { Backend } from "./backend.ts";

/** Characters of a path, without shell syntax. */
const PLAIN_PATH = /^[\p{L}\p{N}_./~ @+:,=%()&[\]'-]+$/u;

export type WorkFolder = { readonly cwd: string } | { readonly problem: string };

function expandHome(path: string, home: string | undefined): string {
  if (path !== "~" && !path.startsWith("~/")) return path;
  return `${home ?? "~"}${path.slice(1)}`;
}

/** The path without links. The /tmp of a container is another folder here, so paths in it stay as they are. */
function realFolder(path: string, { container }: Backend): string {
  return container && container.hostPath(path) !== path ? path : realpathSync(path);
}

/** Without `workdir` the current folder. Folders of other machines are not checked here. */
export function workFolder(workdir: string | undefined, backend: Backend): WorkFolder {
  if (workdir === undefined || workdir === "")
    return { cwd: backend.remote ? backend.cwd : realFolder(backend.cwd, backend) };
  if (!PLAIN_PATH.test(workdir)) return { problem: `workdir must be a plain path, not ${JSON.stringify(workdir)}` };
  if (/^~[^/]/.test(workdir)) return { problem: `workdir ${workdir} names another account; use an absolute path` };
  if (backend.remote) return { cwd: posix.resolve(backend.cwd || "/", expandHome(workdir, backend.home)) };
  const path = resolve(backend.cwd, expandHome(workdir, backend.home ?? homedir()));
  const info = statSync(backend.container?.hostPath(path) ?? path, { throwIfNoEntry: false });
  if (!info) return { problem: `workdir ${path} does not exist; make it first, or leave workdir out` };
  if (!info.isDirectory()) return { problem: `workdir ${path} is not a folder` };
  return { cwd: realFolder(path, backend) };
}
