// A lock between processes: one lock file beside the guarded file, taken over when its owner is gone.
import { randomBytes } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Somebody else held the lock for the whole waiting time. */
export class LockTimeout extends Error {
  constructor(path: string, timeoutMs: number) {
    super(`${path} is being changed by another process (waited ${Math.round(timeoutMs / 1000)} s)`);
    this.name = "LockTimeout";
  }
}

export interface FileLockOptions {
  /** How long to wait for the other owner; 10 s by default. */
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
    // Gone again, or written half: its age decides.
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function isAbandoned(path: string, staleMs: number): Promise<boolean> {
  const info = await stat(path).catch(() => undefined);
  if (!info) return false;
  if (Date.now() - info.mtimeMs > staleMs) return true;
  const owner = await readOwner(path);
  if (owner === undefined || owner.host !== hostname() || isAlive(owner.pid)) return false;
  // An owner that released its lock and ended since it was read left nothing behind: what is there now is another's.
  return (await readOwner(path))?.token === owner.token;
}

/** Writes the owner to a private file and links it into place: the lock is never seen without its owner. */
async function tryTake(path: string, owner: Owner): Promise<boolean> {
  const draft = `${path}.${owner.token}`;
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(JSON.stringify(owner)).finally(() => handle.close());
    await link(draft, path);
    return true;
  } catch (error) {
    // The draft itself may be swept when this process was stopped for long between two lines: then it tries again.
    if (["EEXIST", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Moves an abandoned lock away by rename, so that of several finders only one removes it, and never a fresh lock. */
async function breakLock(path: string, staleMs: number, token: string): Promise<void> {
  const grave = `${path}.${token}.stale`;
  try {
    await rename(path, grave);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  // Between the look and the rename the lock may have changed hands: then it goes back to its owner.
  if (!(await isAbandoned(grave, staleMs))) await link(grave, path).catch(() => undefined);
  await rm(grave, { force: true });
}

const swept = new Set<string>();

/** Drafts and graves that a killed process left beside the lock: they live for milliseconds, so old ones are nobody's. */
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
 * Runs `work` while no other process that uses the same path does. The lock file is `<path>.lease`: Hermes Agent v0.14
 * leaves an empty `<path>.lock` beside some files for good, whether it is locked or not. Nested calls for one path wait
 * for themselves, so do not nest.
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
