// The checkpoint store: one bare git repository for all projects, separate from their own, with a ref and an index for each.
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { withFileLock } from "../../lib/file-lock.ts";
import { ATTRIBUTES } from "./excludes.ts";
import { type GitCall, type GitOptions, type GitResult, runGit, tryGit } from "./git.ts";

export interface StoreSettings {
  /** `<home>/checkpoints`. */
  readonly dir: string;
  readonly searchPath: string;
  /** For one git command of a snapshot. */
  readonly timeoutMs: number;
}

/** A project in the store, from its metadata file. Times are seconds since 1970. */
export interface ProjectRecord {
  readonly hash: string;
  readonly workdir: string;
  readonly createdAt: number;
  readonly lastTouch: number;
}

export interface Snapshot {
  readonly id: string;
  /** Seconds since 1970. */
  readonly takenAt: number;
  readonly reason: string;
}

/** Longer than any work under the lock. Locks of ended processes are detected at once. */
const LOCK_STALE_MS = 15 * 60_000;
const STALE_LOCK_FILE_MS = 60_000;
const LONG_MS = 120_000;

export type CallOptions = Omit<GitCall, "timeoutMs"> & { readonly long?: boolean | undefined };

export class ShadowStore {
  readonly dir: string;
  readonly path: string;
  readonly #git: GitOptions;
  readonly #timeoutMs: number;

  constructor(settings: StoreSettings) {
    this.dir = settings.dir;
    this.path = join(settings.dir, "store");
    this.#git = { gitDir: this.path, searchPath: settings.searchPath };
    this.#timeoutMs = settings.timeoutMs;
  }

  get exists(): boolean {
    return existsSync(join(this.path, "HEAD"));
  }

  /** One writer at a time across processes, so that pruning cannot remove objects that have no ref yet. */
  locked<T>(work: () => Promise<T>): Promise<T> {
    return withFileLock(this.path, work, { timeoutMs: this.#timeoutMs, staleMs: LOCK_STALE_MS });
  }

  #call(options: CallOptions): GitCall {
    const { long, ...rest } = options;
    return { ...rest, timeoutMs: long ? LONG_MS : this.#timeoutMs };
  }

  run(args: readonly string[], options: CallOptions = {}): Promise<string> {
    return runGit(this.#git, args, this.#call(options));
  }

  try(args: readonly string[], options: CallOptions = {}): Promise<GitResult> {
    return tryGit(this.#git, args, this.#call(options));
  }

  ref(hash: string): string {
    return `refs/hermes/${hash}`;
  }

  indexFile(hash: string): string {
    return join(this.path, "indexes", hash);
  }

  #recordFile(hash: string): string {
    return join(this.path, "projects", `${hash}.json`);
  }

  /** Creates the store if needed. Stores in the old layout, one per project, are moved aside. */
  async ensure(): Promise<void> {
    if (!this.exists) {
      await mkdir(this.path, { recursive: true, mode: 0o700 });
      await this.#moveOldStores();
      await this.run(["init", "--bare", "--quiet", "--initial-branch=hermes", this.path]);
    }
    for (const folder of ["indexes", "projects", "info"])
      await mkdir(join(this.path, folder), { recursive: true, mode: 0o700 });
    await writeFile(join(this.path, "info", "attributes"), ATTRIBUTES);
  }

  async #moveOldStores(): Promise<void> {
    const names = (await readdir(this.dir)).filter((name) => existsSync(join(this.dir, name, "HEAD")));
    const old = names.filter((name) => name !== "store" && !name.startsWith("legacy-"));
    if (old.length === 0) return;
    const aside = join(this.dir, `legacy-${Math.floor(Date.now() / 1000)}`);
    await mkdir(aside, { mode: 0o700 });
    for (const name of old) await rename(join(this.dir, name), join(aside, name));
  }

  /** Removes lock files of a killed git, which would block all later commands. Call under the lock. */
  async clearStaleLocks(hash: string): Promise<void> {
    for (const file of [`${this.indexFile(hash)}.lock`, join(this.path, `${this.ref(hash)}.lock`)]) {
      const info = await stat(file).catch(() => null);
      if (info && Date.now() - info.mtimeMs > STALE_LOCK_FILE_MS) await rm(file, { force: true });
    }
  }

  /** The id of the newest snapshot; null when there is none. */
  async tip(hash: string): Promise<string | null> {
    const { code, out } = await this.try(["rev-parse", "--verify", "--quiet", `${this.ref(hash)}^{commit}`]);
    return code === 0 ? out.trim() : null;
  }

  /** Newest first. */
  async snapshots(hash: string): Promise<Snapshot[]> {
    if (!this.exists || (await this.tip(hash)) === null) return [];
    const text = await this.run(["log", "--first-parent", "--format=%H%x1f%ct%x1f%s%x1e", this.ref(hash), "--"]);
    return text
      .split("\u001e")
      .map((entry) => entry.trim().split("\u001f"))
      .filter((fields) => fields.length === 3)
      .map(([id = "", time = "0", reason = ""]) => ({ id, takenAt: Number(time), reason }));
  }

  async touch(hash: string, workdir: string): Promise<void> {
    const now = Date.now() / 1000;
    const known = await this.record(hash);
    const record = { workdir, created_at: known?.createdAt ?? now, last_touch: now };
    await atomicWrite(this.#recordFile(hash), `${JSON.stringify(record, null, 2)}\n`, 0o600);
  }

  async record(hash: string): Promise<ProjectRecord | null> {
    const text = await readFile(this.#recordFile(hash), "utf8").catch(() => null);
    if (text === null) return null;
    try {
      const { workdir, created_at, last_touch } = JSON.parse(text);
      if (typeof workdir !== "string") return null;
      return { hash, workdir, createdAt: Number(created_at) || 0, lastTouch: Number(last_touch) || 0 };
    } catch {
      // Damaged by a crash: the project is unknown until its next snapshot.
      return null;
    }
  }

  /** Every project that has snapshots, most recently used first. */
  async projects(): Promise<ProjectRecord[]> {
    if (!this.exists) return [];
    const hashes = (await this.run(["for-each-ref", "--format=%(refname:lstrip=2)", "refs/hermes/"])).split("\n");
    const records: ProjectRecord[] = [];
    for (const hash of hashes.filter((name) => /^[0-9a-f]{16}$/.test(name)))
      records.push((await this.record(hash)) ?? { hash, workdir: "", createdAt: 0, lastTouch: 0 });
    return records.sort((a, b) => b.lastTouch - a.lastTouch);
  }

  async forget(hash: string): Promise<void> {
    await this.run(["update-ref", "-d", this.ref(hash)]);
    await rm(this.indexFile(hash), { force: true });
    await rm(this.#recordFile(hash), { force: true });
  }

  /** The size of all objects in bytes, as reported by git. */
  async objectBytes(): Promise<number> {
    if (!this.exists) return 0;
    const text = await this.run(["count-objects", "-v"]);
    const field = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(text)?.[1] ?? 0);
    return (field("size") + field("size-pack") + field("size-garbage")) * 1024;
  }

  /** Stores in the old layout that were moved aside. */
  async legacy(): Promise<string[]> {
    const names = await readdir(this.dir).catch(() => []);
    return names.filter((name) => name.startsWith("legacy-")).map((name) => join(this.dir, name));
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
    await rm(join(dirname(this.path), ".last_prune"), { force: true });
  }
}
