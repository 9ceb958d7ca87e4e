// This machine's files within the limits of the container: other paths need the user's permission.
import { randomBytes } from "node:crypto";
import { constants, realpathSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, rename, unlink } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { ConversationContainer, Need, PermissionScope } from "../../core/container.ts";
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

type Access = "read" | "write";

/** Opened folders can be named by descriptor only here. */
const HAS_DESCRIPTOR_PATHS = process.platform === "linux";

/**
 * Runs `work` with a path below an open descriptor of the folder. A process in the container may replace a folder by a
 * link at any time; the descriptor stays with the folder that was checked.
 */
async function throughFolder<T>(path: string, work: (path: string) => Promise<T>): Promise<T> {
  if (!HAS_DESCRIPTOR_PATHS) return work(path);
  let folder: FileHandle;
  try {
    folder = await open(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  } catch {
    // The folder is missing or unreadable; the operation reports that itself.
    return work(path);
  }
  try {
    const now = await readlink(`/proc/self/fd/${folder.fd}`);
    if (now !== dirname(path)) throw new Error(`${dirname(path)} was replaced while it was used`);
    return await work(`/proc/self/fd/${folder.fd}/${basename(path)}`);
  } finally {
    await folder.close();
  }
}

/** Fails when the file itself was replaced by a link. */
async function readNoFollow<T>(path: string, read: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    return await read(handle);
  } finally {
    await handle.close();
  }
}

/** Replaces the file by rename, which does not follow a link at its place. */
async function replaceFile(path: string, data: Uint8Array): Promise<void> {
  const before = await lstat(path).catch(() => null);
  const temporary = `${dirname(path)}/.${basename(path)}.${randomBytes(4).toString("hex")}.tmp`;
  const handle = await open(temporary, "wx", before?.isFile() ? before.mode & 0o777 : 0o644);
  try {
    await handle.writeFile(data);
    if (before?.isFile()) await handle.chmod(before.mode & 0o777);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path).catch(async (error) => {
    await unlink(temporary).catch(() => undefined);
    throw error;
  });
}

type Permit = (need: Need) => Promise<PermissionScope | "deny">;

/** Returns the real path. Throws an error for the model when access is denied. */
async function requireAccess(
  container: ConversationContainer,
  permit: Permit,
  access: Access,
  path: string,
): Promise<string> {
  const real = resolveLinks(container.hostPath(path));
  if (access === "write" ? container.canWrite(real) : container.canRead(real)) return real;
  if (container.belongsToHermes(real))
    throw new Error(`${real} belongs to Hermes; commands and file tools cannot use it. Use the commands of Hermes`);
  const reason = `${real} is ${access === "write" ? "read-only" : "hidden"} in the container`;
  const need: Need = { permission: { kind: access, path: real }, reason };
  const answer = await permit(need);
  if (answer === "deny")
    throw new Error(
      `${reason}. Do not work around it; the user can allow it: hermes permissions grant ${access}:${real}`,
    );
  if (answer !== "once") await container.allow(need.permission, answer);
  return real;
}

/** `permit` asks the user. */
export function guardedFiles(container: ConversationContainer, permit: Permit): FileAccess {
  const checked = (access: Access, path: string) => requireAccess(container, permit, access, path);
  return {
    // Whether a file exists is no secret; the gate and the other functions decide about its content.
    info: (path) => localFiles.info(resolveLinks(container.hostPath(path))),
    read: async (path) =>
      throughFolder(await checked("read", path), (at) => readNoFollow(at, (handle) => handle.readFile())),
    head: async (path, bytes) =>
      throughFolder(await checked("read", path), (at) =>
        readNoFollow(at, async (handle) => {
          const { bytesRead, buffer } = await handle.read({ buffer: Buffer.alloc(bytes), position: 0 });
          return buffer.subarray(0, bytesRead);
        }),
      ),
    stream: async function* (path) {
      const real = await checked("read", path);
      const handle = await throughFolder(real, (at) => open(at, constants.O_RDONLY | constants.O_NOFOLLOW));
      try {
        for (;;) {
          const { bytesRead, buffer } = await handle.read({ buffer: Buffer.allocUnsafe(256 * 1024) });
          if (bytesRead === 0) return;
          yield buffer.subarray(0, bytesRead);
        }
      } finally {
        await handle.close();
      }
    },
    write: async (path, data) => {
      const real = await checked("write", path);
      const createdFolders = (await localFiles.info(dirname(real))) === null;
      if (createdFolders) await mkdir(dirname(real), { recursive: true });
      await throughFolder(real, async (at) => {
        await (at === real ? localFiles.write(at, data) : replaceFile(at, data));
      });
      return { createdFolders };
    },
    move: async (from, to) => {
      const [source, target] = [await checked("write", from), await checked("write", to)];
      await mkdir(dirname(target), { recursive: true });
      return throughFolder(source, (at) => throughFolder(target, (there) => localFiles.move(at, there)));
    },
    remove: async (path) => throughFolder(await checked("write", path), (at) => localFiles.remove(at)),
    names: async (folder) => {
      const real = resolveLinks(container.hostPath(folder));
      if (!container.canRead(real)) return [];
      return (await localFiles.names(real)).filter((name) => container.canRead(join(real, name)));
    },
  };
}

function hostWhere(container: ConversationContainer, where: string): string {
  return isAbsolute(where) ? container.hostPath(where) : where;
}

/** ripgrep, without results in files that the container hides. */
export function guardedSearch(container: ConversationContainer): Searcher {
  return async (query, folder, page) => {
    const root = container.hostPath(folder);
    const here = query.kind === "content" ? { ...query, where: hostWhere(container, query.where) } : query;
    const isVisible = (line: string) => container.canRead(resolve(root, line.split("\0", 1)[0] ?? ""));
    const found = await ripgrepSearch(here, root, {
      ...page,
      counts: (line) => isVisible(line) && page.counts(line),
    });
    const shown = (line: string) =>
      line.startsWith(`${container.temp}/`) ? `/tmp${line.slice(container.temp.length)}` : line;
    return { ...found, lines: found.lines.filter(isVisible).map(shown) };
  };
}
