// Checkpoints of a home: opened for the tools of a program, and managed by `hermes checkpoints`.
import { existsSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Config } from "../../core/config/config.ts";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import type { Redactor } from "../../core/redactor.ts";
import type { Settings } from "../../core/settings.ts";
import { projectHash, projectRoot } from "./project-root.ts";
import { type Pruned, type PruneRules, prune } from "./prune.ts";
import { type Difference, difference, type Restored, restore } from "./restore.ts";
import { ShadowStore, type Snapshot } from "./shadow-store.ts";
import type { SnapshotLimits } from "./snapshot.ts";
import { type CheckpointParts, TurnCheckpoints } from "./turn-checkpoints.ts";

const MB = 1024 * 1024;
const MAX_FILES = 50_000;

/** What `hermes checkpoints` needs of a home. */
export interface CheckpointHost {
  readonly home: Home;
  readonly settings: Pick<Settings, "load">;
  /** Masks secrets in diffs; built from the loaded configuration. */
  openRedactor(config: Config): Promise<Redactor>;
}

function userHome(home: Home): string {
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

function snapshotLimits({ checkpoints }: Config): SnapshotLimits {
  return {
    maxFiles: MAX_FILES,
    maxFileBytes: checkpoints.max_file_size_mb * MB,
    maxTreeBytes: checkpoints.max_total_size_mb * MB,
  };
}

function pruneRules({ checkpoints }: Config): PruneRules {
  return {
    maxSnapshots: checkpoints.max_snapshots,
    retentionDays: checkpoints.retention_days,
    maxTotalBytes: checkpoints.max_total_size_mb * MB,
    deleteOrphans: checkpoints.delete_orphans,
  };
}

export interface TurnCheckpointOptions extends Pick<CheckpointParts, "redact" | "notice"> {
  /** True for a command that may delete or overwrite files. */
  isDestructive(command: string, paths: CommandPaths): Promise<boolean>;
}

interface CommandPaths {
  readonly userHome: string;
  readonly hermesHome: string;
  readonly cwd: string;
}

/** The checkpoints that the file and terminal tools take before they change something. */
export function openTurnCheckpoints(home: Home, config: Config, options: TurnCheckpointOptions): TurnCheckpoints {
  const paths = { userHome: userHome(home), hermesHome: existsSync(home.path) ? realpathSync(home.path) : home.path };
  return new TurnCheckpoints({
    store: openStore(home),
    limits: snapshotLimits(config),
    rules: pruneRules(config),
    autoPrune: config.checkpoints.auto_prune,
    minIntervalHours: config.checkpoints.min_interval_hours,
    ...paths,
    enabled: config.checkpoints.enabled,
    isDestructive: (command, cwd) => options.isDestructive(command, { ...paths, cwd }),
    redact: (text) => options.redact(text),
    notice: (text) => options.notice(text),
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
  /** Stores in the layout of older versions, which were moved aside. */
  readonly legacy: readonly string[];
}

export async function checkpointStatus({ home, settings }: CheckpointHost): Promise<CheckpointStatus> {
  const { config } = await settings.load();
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
  /** An id, the start of one, or a number in the list, where 1 is the newest. */
  readonly id: string;
  readonly path?: string | undefined;
}

function resolveRoot(home: Home, project: string | undefined): string {
  return projectRoot(resolve(home.cwd, project ?? "."), userHome(home));
}

export interface CheckpointList {
  readonly project: string;
  readonly snapshots: readonly Snapshot[];
}

/** Newest first. */
export async function listCheckpoints(home: Home, project?: string): Promise<CheckpointList> {
  const root = resolveRoot(home, project);
  return { project: root, snapshots: await openStore(home).snapshots(projectHash(root)) };
}

async function findCheckpoint({ home, settings }: CheckpointHost, query: CheckpointQuery) {
  const store = openStore(home);
  const root = resolveRoot(home, query.project);
  const { config } = await settings.load();
  if (!store.exists)
    throw new UserError("there are no checkpoints yet", {
      hint: "Switch them on: hermes config set checkpoints.enabled true",
    });
  const numbered = /^\d{1,3}$/.test(query.id);
  const found = numbered ? (await store.snapshots(projectHash(root)))[Number(query.id) - 1] : undefined;
  if (numbered && !found)
    throw new UserError(`${root} has no checkpoint number ${query.id}`, { hint: "See: hermes checkpoints list" });
  const path = query.path === undefined ? undefined : resolve(home.cwd, query.path);
  return { store, root, config, options: { id: found?.id ?? query.id, limits: snapshotLimits(config), path } };
}

/** The changes since the checkpoint, with secrets masked. */
export async function diffCheckpoint(
  host: CheckpointHost,
  query: CheckpointQuery,
): Promise<Difference & { project: string }> {
  const { store, root, config, options } = await findCheckpoint(host, query);
  const redactor = await host.openRedactor(config);
  const found = await store.locked(() => difference(store, root, options));
  return { ...found, diff: redactor.redact(found.diff, { code: true }), project: root };
}

export async function restoreCheckpoint(
  host: CheckpointHost,
  query: CheckpointQuery,
): Promise<Restored & { project: string }> {
  const { store, root, options } = await findCheckpoint(host, query);
  return { ...(await store.locked(() => restore(store, root, options))), project: root };
}

export interface PruneOptions {
  readonly retentionDays?: number | undefined;
  readonly maxSizeMb?: number | undefined;
  readonly keepOrphans?: boolean | undefined;
}

export async function pruneCheckpoints(
  { home, settings }: CheckpointHost,
  options: PruneOptions = {},
): Promise<Pruned> {
  const { config } = await settings.load();
  const store = openStore(home);
  const rules = pruneRules(config);
  const { retentionDays = rules.retentionDays, maxSizeMb, keepOrphans } = options;
  const wanted = {
    ...rules,
    retentionDays,
    maxTotalBytes: maxSizeMb === undefined ? rules.maxTotalBytes : maxSizeMb * MB,
    deleteOrphans: rules.deleteOrphans && !keepOrphans,
  };
  return store.exists ? store.locked(() => prune(store, wanted)) : prune(store, wanted);
}

/** Removes every checkpoint of every project and returns the number of bytes freed. */
export async function clearCheckpoints(home: Home): Promise<number> {
  const store = openStore(home);
  if (!store.exists) return 0;
  const bytes = await store.objectBytes();
  await store.locked(() => store.remove());
  return bytes;
}

/** Removes stores in the layout of older versions and returns how many there were. */
export async function clearLegacyCheckpoints(home: Home): Promise<number> {
  const legacy = await openStore(home).legacy();
  for (const path of legacy) await rm(path, { recursive: true, force: true });
  return legacy.length;
}
