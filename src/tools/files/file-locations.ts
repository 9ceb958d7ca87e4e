// Which files the file tools of a conversation see: this machine's, those a sandbox allows, or those of a remote backend.
import type { ToolContext } from "../../core/tool/tool.ts";
import { isPathInside } from "../../lib/path-inside.ts";
import type { Backend } from "../terminal/backend.ts";
import { type FileAccess, localFiles } from "./file-access.ts";
import type { FileLocation, FileToolParts } from "./file-tools.ts";

/** Reads below `folder` use this machine: spilled tool output is stored here even when commands run elsewhere. */
function withSpilled(files: FileAccess, folder: string): FileAccess {
  const at = (path: string) => (isPathInside(path, folder) ? localFiles : files);
  return {
    info: (path) => at(path).info(path),
    read: (path) => at(path).read(path),
    head: (path, bytes) => at(path).head(path, bytes),
    stream: (path) => at(path).stream(path),
    write: (path, data) => files.write(path, data),
    move: (from, to) => files.move(from, to),
    remove: (path) => files.remove(path),
    names: (path) => at(path).names(path),
  };
}

export interface FileLocationOptions {
  readonly terminal: { readonly backend: string };
  readonly spillDir: string;
  /** True when commands on this machine are contained, so that the tools obey the same limits. */
  isContained(): Promise<boolean>;
  backendFor(context: ToolContext): Promise<Backend>;
}

async function locate({ backendFor, spillDir }: FileLocationOptions, context: ToolContext): Promise<FileLocation> {
  const backend = await backendFor(context);
  const { container } = backend;
  if (container) {
    const [{ guardedFiles, guardedSearch }, { askForPermission }] = await Promise.all([
      import("./guarded-files.ts"),
      import("../terminal/ask-for-permission.ts"),
    ]);
    const files = guardedFiles(container, (need) =>
      askForPermission(need, context, { toolName: "files", purpose: "a file tool" }),
    );
    return { files: withSpilled(files, spillDir), search: guardedSearch(container) };
  }
  const [{ remoteFiles, remoteSearch }, { backendShell }] = await Promise.all([
    import("./remote-files.ts"),
    import("./backend-shell.ts"),
  ]);
  const shell = backendShell(backend);
  return {
    files: withSpilled(remoteFiles(shell), spillDir),
    search: remoteSearch(shell),
    cwd: backend.cwd,
    remote: true,
    home: backend.home || undefined,
  };
}

/** The returned function returns null when the tools can use this machine's files directly. */
export function fileLocations(options: FileLocationOptions): NonNullable<FileToolParts["locate"]> {
  const isLocal = options.terminal.backend === "local";
  return async (context) => (isLocal && !(await options.isContained()) ? null : locate(options, context));
}
