// Replaces a file so that a crash leaves the old content or the new, never a mixture.
import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

async function syncDirectory(path: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, "r");
    await handle.sync();
  } catch {
    // Some file systems refuse to sync a directory; the rename itself is still atomic.
    return;
  } finally {
    await handle?.close();
  }
}

/** Writes through symbolic links, creates missing folders (0700), syncs data and directory. */
export async function atomicWrite(path: string, data: string | Uint8Array, mode = 0o600): Promise<void> {
  const target = await realpath(path).catch(() => path);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const temporary = `${target}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    const handle = await open(temporary, "wx", mode);
    try {
      await handle.writeFile(data);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(target));
}
