// A lock between processes: a lock file beside the guarded file, which is taken over when its owner has ended.
import { randomBytes } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "./process/is-alive.ts";

/** Another process held the lock for the whole waiting time. */
export class LockTimeout extends Error {
  constructor(path: string, timeoutMs: number) {
    super(`${path} is being changed by another process (waited ${Math.round(timeoutMs / 1000)} s)`);
    this.name = "LockTimeout";
  }
}

export interface FileLockOptions {
  /** How long to wait for the lock; 10 s by default. */
  readonly timeoutMs?: number | undefined;
  /** A lock older than this is taken over even if its owner seems alive; 60 s by default. */
  readonly staleMs?: number | undefined;
}

interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly token: string;
}

async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Owner;
  } catch {
    // Removed meanwhile, or incomplete: its age decides.
    return undefined;
  }
}

async function isAbandoned(path: string, staleMs: number): Promise<boolean> {
  const info = await stat(path).catch(() => undefined);
  if (!info) return false;
  if (Date.now() - info.mtimeMs > staleMs) return true;
  const owner = await readOwner(path);
  if (owner === undefined || owner.host !== hostname() || isAlive(owner.pid)) return false;
  // The owner may have released its lock and ended since the first read; the lock then belongs to another process.
  return (await readOwner(path))?.token === owner.token;
}

/** Writes the owner to a private file and links it into place, so that no process sees a lock without an owner. */
async function tryTake(path: string, owner: Owner): Promise<boolean> {
  const draft = `${path}.${owner.token}`;
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(JSON.stringify(owner)).finally(() => handle.close());
    await link(draft, path);
    return true;
  } catch (error) {
    // ENOENT: this process was stopped for so long that another one removed the draft. The caller tries again.
    if (["EEXIST", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Renames an abandoned lock, so that only one of several processes removes it, and none removes a new lock. */
async function breakLock(path: string, staleMs: number, token: string): Promise<void> {
  const stale = `${path}.${token}.stale`;
  try {
    await rename(path, stale);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  // Another process may have taken the lock between the check and the rename: it gets the lock back.
  if (!(await isAbandoned(stale, staleMs))) await link(stale, path).catch(() => undefined);
  await rm(stale, { force: true });
}

const swept = new Set<string>();

/** Removes temporary files that killed processes left beside the lock. In use they exist for milliseconds only. */
async function sweepDrafts(lockPath: string, staleMs: number): Promise<void> {
  if (swept.has(lockPath)) return;
  swept.add(lockPath);
  const folder = dirname(lockPath);
  const prefix = `${basename(lockPath)}.`;
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(prefix) || !/^[0-9a-f]{16}(?:\.stale)?$/.test(name.slice(prefix.length))) continue;
    const path = join(folder, name);
    if (await isAbandoned(path, staleMs)) await rm(path, { force: true });
  }
}

async function release(path: string, owner: Owner): Promise<void> {
  if ((await readOwner(path))?.token === owner.token) await rm(path, { force: true });
}

/**
 * Runs `work` while no other process holds the lock of the same path. The lock file is `<path>.lease`, because Hermes
 * Agent v0.14 leaves an empty `<path>.lock` beside some files. Nested calls for one path wait for each other: do not nest.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, options: FileLockOptions = {}): Promise<T> {
  const { timeoutMs = 10_000, staleMs = 60_000 } = options;
  const lockPath = `${path}.lease`;
  const owner: Owner = { pid: process.pid, host: hostname(), token: randomBytes(8).toString("hex") };
  const deadline = Date.now() + timeoutMs;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  while (!(await tryTake(lockPath, owner))) {
    if (await isAbandoned(lockPath, staleMs)) await breakLock(lockPath, staleMs, owner.token);
    else if (Date.now() >= deadline) throw new LockTimeout(path, timeoutMs);
    else await sleep(5 + Math.random() * 25);
  }
  try {
    await sweepDrafts(lockPath, staleMs);
    return await work();
  } finally {
    await release(lockPath, owner);
  }
}
