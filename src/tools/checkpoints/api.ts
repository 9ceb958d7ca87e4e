// Checkpoints of a home: how they are opened with its settings, and what `hermes checkpoints` does with them.
import { existsSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Services } from "../../app/services.ts";
import { openSettings } from "../../config/api.ts";
import type { Config } from "../../core/config/config.ts";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import { projectHash, projectRoot } from "./project-root.ts";
import { type Pruned, type PruneRules, prune } from "./prune.ts";
import { type Difference, difference, type Restored, restore } from "./restore.ts";
import { ShadowStore, type Snapshot } from "./shadow-store.ts";
import type { SnapshotLimits } from "./snapshot.ts";
import { TurnCheckpoints } from "./turn-checkpoints.ts";

const MB = 1024 * 1024;
const MAX_FILES = 50_000;

function userHomeOf(home: Home): string {
  const path = home.env.HOME ?? homedir();
  return existsSync(path) ? realpathSync(path) : path;
}

function timeoutMs(home: Home): number {
  const seconds = Number(home.env.HERMES_CHECKPOINT_TIMEOUT ?? 30);
  return Math.min(60, Math.max(10, Number.isFinite(seconds) ? seconds : 30)) * 1000;
}

function openStore(home: Home): ShadowStore {
  const searchPath = home.env.PATH ?? "/usr/local/bin:/usr/bin:/bin";
  return new ShadowStore({ dir: join(home.path, "checkpoints"), searchPath, timeoutMs: timeoutMs(home) });
}

function limitsOf({ checkpoints }: Config): SnapshotLimits {
  return {
    maxFiles: MAX_FILES,
    maxFileBytes: checkpoints.max_file_size_mb * MB,
    maxTreeBytes: checkpoints.max_total_size_mb * MB,
  };
}

function rulesOf({ checkpoints }: Config): PruneRules {
  return {
    maxSnapshots: checkpoints.max_snapshots,
    retentionDays: checkpoints.retention_days,
    maxTotalBytes: checkpoints.max_total_size_mb * MB,
    deleteOrphans: checkpoints.delete_orphans,
  };
}

/** What the file and terminal tools ask before they change something. */
export function openCheckpoints(services: Services): TurnCheckpoints {
  const { home, config, redactor } = services;
  const userHome = userHomeOf(home);
  const hermesHome = existsSync(home.path) ? realpathSync(home.path) : home.path;
  return new TurnCheckpoints({
    store: openStore(home),
    limits: limitsOf(config),
    rules: rulesOf(config),
    autoPrune: config.checkpoints.auto_prune,
    minIntervalHours: config.checkpoints.min_interval_hours,
    userHome,
    hermesHome,
    enabled: config.checkpoints.enabled,
    isDestructive: async (command, cwd) => {
      const { destructiveHint } = await import("../../security/gate/destructive-hint.ts");
      return destructiveHint(command, { userHome, hermesHome, cwd });
    },
    redact: (text) => redactor.redact(text),
    notice: (text) => services.notice(text),
  });
}

export interface CheckpointStatus {
  readonly enabled: boolean;
  readonly path: string;
  readonly bytes: number;
  /** 0 means no limit. */
  readonly maxBytes: number;
  readonly projects: readonly {
    readonly path: string;
    readonly exists: boolean;
    readonly snapshots: number;
    readonly lastTouch: number;
  }[];
  /** Stores of an older kind that were put aside. */
  readonly legacy: readonly string[];
}

export async function checkpointStatus(home: Home): Promise<CheckpointStatus> {
  const { config } = await openSettings(home).load();
  const store = openStore(home);
  const projects = [];
  for (const { hash, workdir, lastTouch } of await store.projects()) {
    const snapshots = (await store.snapshots(hash)).length;
    projects.push({ path: workdir, exists: existsSync(workdir), snapshots, lastTouch });
  }
  return {
    enabled: config.checkpoints.enabled,
    path: store.path,
    bytes: await store.objectBytes(),
    maxBytes: config.checkpoints.max_total_size_mb * MB,
    projects,
    legacy: await store.legacy(),
  };
}

export interface CheckpointQuery {
  /** A path inside the project; the current folder when absent. */
  readonly project?: string | undefined;
  /** An id, its first digits, or a number of the list, 1 being the newest. */
  readonly id: string;
  readonly path?: string | undefined;
}

function rootFor(home: Home, project: string | undefined): string {
  return projectRoot(resolve(home.cwd, project ?? "."), userHomeOf(home));
}

export interface CheckpointList {
  readonly project: string;
  readonly snapshots: readonly Snapshot[];
}

/** Newest first. */
export async function listCheckpoints(home: Home, project?: string): Promise<CheckpointList> {
  const root = rootFor(home, project);
  return { project: root, snapshots: await openStore(home).snapshots(projectHash(root)) };
}

async function open(home: Home, ask: CheckpointQuery) {
  const store = openStore(home);
  const root = rootFor(home, ask.project);
  const { config } = await openSettings(home).load();
  if (!store.exists)
    throw new UserError("there are no checkpoints yet", {
      hint: "Switch them on: hermes config set checkpoints.enabled true",
    });
  const numbered = /^\d{1,3}$/.test(ask.id);
  const found = numbered ? (await store.snapshots(projectHash(root)))[Number(ask.id) - 1] : undefined;
  if (numbered && !found)
    throw new UserError(`${root} has no checkpoint number ${ask.id}`, { hint: "See: hermes checkpoints list" });
  const path = ask.path === undefined ? {} : { path: resolve(home.cwd, ask.path) };
  return { store, root, config, options: { id: found?.id ?? ask.id, limits: limitsOf(config), ...path } };
}

/** What changed from the checkpoint until now; secrets masked. */
export async function diffCheckpoint(home: Home, ask: CheckpointQuery): Promise<Difference & { project: string }> {
  const { store, root, config, options } = await open(home, ask);
  const [{ createRedactor }, { knownSecrets }] = await Promise.all([
    import("../../security/redact.ts"),
    import("../../security/known-secrets.ts"),
  ]);
  const redactor = createRedactor({ values: knownSecrets(home, config), enabled: config.security.redact_secrets });
  const found = await store.locked(() => difference(store, root, options));
  return { ...found, diff: redactor.redact(found.diff, { code: true }), project: root };
}

export async function restoreCheckpoint(home: Home, ask: CheckpointQuery): Promise<Restored & { project: string }> {
  const { store, root, options } = await open(home, ask);
  return { ...(await store.locked(() => restore(store, root, options))), project: root };
}

export interface PruneOptions {
  readonly retentionDays?: number | undefined;
  readonly maxSizeMb?: number | undefined;
  readonly keepOrphans?: boolean | undefined;
}

export async function pruneCheckpoints(home: Home, ask: PruneOptions = {}): Promise<Pruned> {
  const { config } = await openSettings(home).load();
  const store = openStore(home);
  const rules = {
    ...rulesOf(config),
    ...(ask.retentionDays === undefined ? {} : { retentionDays: ask.retentionDays }),
    ...(ask.maxSizeMb === undefined ? {} : { maxTotalBytes: ask.maxSizeMb * MB }),
    ...(ask.keepOrphans ? { deleteOrphans: false } : {}),
  };
  return store.exists ? store.locked(() => prune(store, rules)) : prune(store, rules);
}

/** Removes every checkpoint of every project. The bytes that were freed. */
export async function clearCheckpoints(home: Home): Promise<number> {
  const store = openStore(home);
  if (!store.exists) return 0;
  const bytes = await store.objectBytes();
  await store.locked(() => store.remove());
  return bytes;
}

/** Removes stores of an older kind. How many there were. */
export async function clearLegacyCheckpoints(home: Home): Promise<number> {
  const legacy = await openStore(home).legacy();
  for (const path of legacy) await rm(path, { recursive: true, force: true });
  return legacy.length;
}
