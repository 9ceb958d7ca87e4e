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
  /** `local` without a sandbox: the tools use this machine's files directly. */
  readonly terminal: { readonly backend: string; readonly sandbox: string };
  readonly spillDir: string;
  backendFor(context: ToolContext): Promise<Backend>;
}

async function locate({ backendFor, spillDir }: FileLocationOptions, context: ToolContext): Promise<FileLocation> {
  const backend = await backendFor(context);
  if (backend.limits) {
    const [{ guardedFiles, guardedSearch }, { askForPath }] = await Promise.all([
      import("./guarded-files.ts"),
      import("../terminal/ask-for-path.ts"),
    ]);
    const files = guardedFiles(backend.limits, (request) =>
      askForPath(request, context, { toolName: "files", purpose: "a file tool" }),
    );
    return { files: withSpilled(files, spillDir), search: guardedSearch(backend.limits) };
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
  const { backend, sandbox } = options.terminal;
  const direct = backend === "local" && sandbox === "none";
  return (context) => (direct ? null : locate(options, context));
}
