// Access to files, and its implementation for this machine.
import type { Stats } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { atomicWrite } from "../../lib/atomic-write.ts";

export interface FileInfo {
  readonly kind: "file" | "directory" | "other";
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
}

/** Missing files are null or an empty list; other errors are thrown. */
export interface FileAccess {
  info(path: string): Promise<FileInfo | null>;
  read(path: string): Promise<Uint8Array>;
  /** The first bytes of a file. */
  head(path: string, bytes: number): Promise<Uint8Array>;
  /** Chunks in order; the consumer may stop early. */
  stream(path: string): AsyncIterable<Uint8Array>;
  /** Creates folders as needed and replaces an existing file atomically, keeping its mode. */
  write(path: string, data: Uint8Array): Promise<{ createdFolders: boolean }>;
  move(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  names(folder: string): Promise<string[]>;
}

function toFileInfo(stats: Stats): FileInfo {
  const kind = stats.isFile() ? "file" : stats.isDirectory() ? "directory" : "other";
  return { kind, size: stats.size, mtimeMs: stats.mtimeMs, mode: stats.mode & 0o777 };
}

async function localInfo(path: string): Promise<FileInfo | null> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });
  return stats ? toFileInfo(stats) : null;
}

async function* localStream(path: string): AsyncIterable<Uint8Array> {
  const handle = await open(path, "r");
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read({ buffer: Buffer.allocUnsafe(256 * 1024) });
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

export const localFiles: FileAccess = {
  info: localInfo,
  read: (path) => readFile(path),
  stream: localStream,
  head: async (path, bytes) => {
    const handle = await open(path, "r");
    try {
      const { bytesRead, buffer } = await handle.read({ buffer: Buffer.alloc(bytes), position: 0 });
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  },
  write: async (path, data) => {
    const before = await localInfo(path);
    const folder = await localInfo(dirname(path));
    await mkdir(dirname(path), { recursive: true });
    await atomicWrite(path, data, before?.mode ?? 0o644);
    return { createdFolders: folder === null };
  },
  move: async (from, to) => {
    await mkdir(dirname(to), { recursive: true });
    await rename(from, to);
  },
  remove: (path) =>
    unlink(path).catch((error: NodeJS.ErrnoException) =>
      error.code === "EISDIR" ? rm(path, { recursive: true }) : Promise.reject(error),
    ),
  names: async (folder) =>
    (await readdir(folder, { withFileTypes: true }).catch(() => [])).map((entry) =>
      entry.isDirectory() ? join(entry.name, "/") : entry.name,
    ),
};
