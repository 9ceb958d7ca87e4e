// Limits the size of the store: removes old snapshots and those of missing projects, and enforces the size limit.
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { atomicWrite } from "../../lib/atomic-write.ts";
import type { ShadowStore, Snapshot } from "./shadow-store.ts";

export interface PruneRules {
  readonly maxSnapshots: number;
  /** 0 means no limit. */
  readonly retentionDays: number;
  /** 0 means no limit. */
  readonly maxTotalBytes: number;
  readonly deleteOrphans: boolean;
}

export interface Pruned {
  readonly snapshots: number;
  readonly projects: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

const MAX_ROUNDS = 12;

/**
 * Removes all but the newest `keep` snapshots of a project. The history is cut with git's `shallow` file, so that the
 * ids of the others do not change.
 */
async function removeOlder(store: ShadowStore, snapshots: readonly Snapshot[], keep: number): Promise<number> {
  const last = snapshots[keep - 1];
  if (!last || snapshots.length <= keep) return 0;
  const file = join(store.path, "shallow");
  const ends = (await readFile(file, "utf8").catch(() => "")).split("\n").filter(Boolean);
  const removed = new Set(snapshots.slice(keep).map((snapshot) => snapshot.id));
  const kept = [...new Set([...ends.filter((id) => !removed.has(id)), last.id])];
  await atomicWrite(file, `${kept.join("\n")}\n`, 0o600);
  return snapshots.length - keep;
}

/** Called after every snapshot; the space is freed by the next `prune`. Call under the lock. */
export async function keepNewest(store: ShadowStore, hash: string, keep: number): Promise<number> {
  return removeOlder(store, await store.snapshots(hash), keep);
}

async function collectGarbage(store: ShadowStore, signal?: AbortSignal): Promise<void> {
  await store.run(["gc", "--quiet", "--prune=now"], { long: true, signal });
}

interface ProjectSnapshots {
  readonly hash: string;
  readonly snapshots: Snapshot[];
}

async function listAll(store: ShadowStore): Promise<ProjectSnapshots[]> {
  const all: ProjectSnapshots[] = [];
  for (const { hash } of await store.projects()) all.push({ hash, snapshots: await store.snapshots(hash) });
  return all;
}

/** Removes the oldest quarter of all snapshots, or the oldest project when each has only one left. */
async function dropOldest(store: ShadowStore): Promise<{ snapshots: number; projects: number }> {
  const all = await listAll(store);
  const spare = all
    .flatMap(({ hash, snapshots }) => snapshots.slice(1).map((snapshot) => ({ hash, at: snapshot.takenAt })))
    .sort((a, b) => a.at - b.at);
  if (spare.length === 0) {
    const oldest = all.length > 1 ? all.at(-1) : undefined;
    if (!oldest) return { snapshots: 0, projects: 0 };
    await store.forget(oldest.hash);
    return { snapshots: oldest.snapshots.length, projects: 1 };
  }
  const drop = spare.slice(0, Math.max(1, Math.ceil(spare.length / 4)));
  let dropped = 0;
  for (const { hash, snapshots } of all) {
    const count = drop.filter((entry) => entry.hash === hash).length;
    dropped += await removeOlder(store, snapshots, snapshots.length - count);
  }
  return { snapshots: dropped, projects: 0 };
}

/** Call under the lock. */
export async function prune(store: ShadowStore, rules: PruneRules, signal?: AbortSignal): Promise<Pruned> {
  if (!store.exists) return { snapshots: 0, projects: 0, bytesBefore: 0, bytesAfter: 0 };
  const bytesBefore = await store.objectBytes();
  const total = { snapshots: 0, projects: 0 };
  const oldest = rules.retentionDays > 0 ? Date.now() / 1000 - rules.retentionDays * 86_400 : 0;
  for (const { hash, workdir } of await store.projects()) {
    const snapshots = await store.snapshots(hash);
    const young = snapshots.filter((snapshot) => snapshot.takenAt >= oldest).length;
    const orphan = rules.deleteOrphans && workdir !== "" && !existsSync(workdir);
    if (orphan || young === 0) {
      await store.forget(hash);
      total.snapshots += snapshots.length;
      total.projects++;
    } else total.snapshots += await removeOlder(store, snapshots, Math.min(young, rules.maxSnapshots));
  }
  await collectGarbage(store, signal);
  let bytes = await store.objectBytes();
  for (let round = 0; rules.maxTotalBytes > 0 && bytes > rules.maxTotalBytes && round < MAX_ROUNDS; round++) {
    const dropped = await dropOldest(store);
    if (dropped.snapshots === 0) break;
    total.snapshots += dropped.snapshots;
    total.projects += dropped.projects;
    await collectGarbage(store, signal);
    bytes = await store.objectBytes();
  }
  await atomicWrite(join(store.dir, ".last_prune"), `${Math.floor(Date.now() / 1000)}\n`, 0o600);
  return { ...total, bytesBefore, bytesAfter: bytes };
}

/** True when the last clean-up was at least `hours` ago, or never. */
export async function pruneIsDue(store: ShadowStore, hours: number): Promise<boolean> {
  const info = await stat(join(store.dir, ".last_prune")).catch(() => null);
  return info === null || Date.now() - info.mtimeMs >= hours * 3_600_000;
}
