// Where the file tools of a conversation work: this machine, the sandbox's share of it, or the machine behind the backend.
import { homedir } from "node:os";
import { join, relative } from "node:path";
import type { Services } from "../../app/services.ts";
import type { Home } from "../../core/home.ts";
import type { ToolContext } from "../../core/tool.ts";
import { type FileAccess, localFiles } from "./file-access.ts";
import type { FilePlace, FileToolParts } from "./file-tools.ts";

/** Spilled output of tools is on this machine, wherever the commands ran. */
function withSpilled(files: FileAccess, folder: string): FileAccess {
  const at = (path: string) => (relative(folder, path).startsWith("..") ? files : localFiles);
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

async function place(services: Services, context: ToolContext): Promise<FilePlace> {
  const backend = await services.workspaces.backend(context.conversationId, context.cwd);
  const spilled = join(services.home.path, "cache", "tool-results");
  if (backend.limits) {
    const [{ guardedFiles, guardedSearch }, { askForPath }] = await Promise.all([
      import("./guarded-files.ts"),
      import("../terminal/ask-for-path.ts"),
    ]);
    const files = guardedFiles(backend.limits, (options) =>
      askForPath(options, context, { toolName: "files", purpose: "a file tool" }),
    );
    return { files: withSpilled(files, spilled), search: guardedSearch(backend.limits) };
  }
  const [{ remoteFiles, remoteSearch }, { backendShell }] = await Promise.all([
    import("./remote-files.ts"),
    import("./backend-shell.ts"),
  ]);
  const shell = backendShell(backend);
  return {
    files: withSpilled(remoteFiles(shell), spilled),
    search: remoteSearch(shell),
    cwd: backend.cwd,
    remote: true,
    ...(backend.home ? { home: backend.home } : {}),
  };
}

/** Why a file's lines are kept out of search results. */
export function fileProtection(home: Home): NonNullable<FileToolParts["protection"]> {
  return async (path, { guest, home: remoteHome }) => {
    const { createPathGuard } = await import("../../security/path-guard.ts");
    const userHome = remoteHome ?? home.env.HOME ?? homedir();
    const guard = createPathGuard({ hermesHome: home.path, userHome });
    const verdict = await guard.reference(path, home.cwd, { policy: guest ? "guest" : "owner" });
    return verdict.action === "allow" ? null : verdict.reason;
  };
}

/** Null for the plain case, so that local files stay a direct call. */
export function filePlaces(services: Services): NonNullable<FileToolParts["placeOf"]> {
  const { backend, sandbox } = services.config.terminal;
  const plain = backend === "local" && sandbox === "none";
  return (context) => (plain ? null : place(services, context));
}
