// Compares the project with a snapshot and restores it; the current state is always stored first.
import { isAbsolute, join, relative, resolve } from "node:path";
import { UserError } from "../../core/failure.ts";
import { isPathInside } from "../../lib/path-inside.ts";
import { projectHash } from "./project-root.ts";
import type { ShadowStore } from "./shadow-store.ts";
import { type SnapshotLimits, stage, take } from "./snapshot.ts";

export interface Restored {
  readonly id: string;
  /** The snapshot taken before, for undoing this. */
  readonly before: string;
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export interface Difference {
  readonly id: string;
  readonly stat: string;
  readonly diff: string;
  readonly cut: boolean;
}

const MAX_DIFF_CHARS = 200_000;

/** The full id of a snapshot of this project. Throws UserError for other ids. */
export async function findSnapshot(store: ShadowStore, root: string, id: string): Promise<string> {
  const hint = "See: hermes checkpoints list";
  if (!/^[0-9a-f]{4,64}$/i.test(id))
    throw new UserError(`"${id}" is not the id of a checkpoint; an id is 4 to 64 hexadecimal digits`, {
      hint,
      exitCode: 2,
    });
  const found = (await store.snapshots(projectHash(root))).filter((entry) => entry.id.startsWith(id.toLowerCase()));
  if (found.length > 1)
    throw new UserError(`${id} matches ${found.length} checkpoints; give more digits`, { exitCode: 2 });
  if (!found[0]) throw new UserError(`${root} has no checkpoint ${id}`, { hint });
  return found[0].id;
}

/** The path relative to the project. Throws UserError for paths outside. */
export function insideProject(root: string, path: string): string {
  const full = isAbsolute(path) ? path : resolve(root, path);
  const inside = relative(root, full);
  if (path.includes("\0") || inside === "" || !isPathInside(full, root) || inside.split("/").includes(".git"))
    throw new UserError(`${path} is not a file inside ${root}`, { exitCode: 2 });
  return inside;
}

/** The changes since the snapshot. Call under the lock of the store. */
export async function difference(
  store: ShadowStore,
  root: string,
  query: { id: string; path?: string | undefined; limits: SnapshotLimits },
): Promise<Difference> {
  const id = await findSnapshot(store, root, query.id);
  const path = query.path === undefined ? [] : [insideProject(root, query.path)];
  const staged = await stage(store, { root, reason: "", limits: query.limits });
  if ("problem" in staged) throw new UserError(`${root} cannot be compared: ${staged.problem}`);
  const where = { workTree: root, indexFile: store.indexFile(projectHash(root)) };
  const base = ["diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv"];
  const stat = await store.run([...base, "--stat=120", id, "--", ...path], where);
  const diff = await store.run([...base, id, "--", ...path], where);
  const cut = diff.length > MAX_DIFF_CHARS;
  return { id, stat: stat.trimEnd(), diff: cut ? diff.slice(0, MAX_DIFF_CHARS) : diff, cut };
}

async function changes(store: ShadowStore, from: string, to: string): Promise<[string, string][]> {
  const words = (await store.run(["diff", "--name-status", "-z", "--no-renames", from, to, "--"])).split("\0");
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < words.length; at += 2) pairs.push([words[at] ?? "", words[at + 1] ?? ""]);
  return pairs;
}

/**
 * Restores the whole project or one path. Restoring the project removes newer files, which are in `before`.
 * Files that checkpoints leave out are not changed. Call under the lock of the store.
 */
export async function restore(
  store: ShadowStore,
  root: string,
  query: { id: string; path?: string | undefined; limits: SnapshotLimits },
): Promise<Restored> {
  const id = await findSnapshot(store, root, query.id);
  const path = query.path === undefined ? undefined : insideProject(root, query.path);
  if (path !== undefined && (await store.run(["ls-tree", "-z", id, "--", path])) === "")
    throw new UserError(`${path} is not in checkpoint ${id.slice(0, 8)}`, { hint: "See: hermes checkpoints diff" });
  const reason = `before restoring ${id.slice(0, 8)}${path === undefined ? "" : ` (${path})`}`;
  const include = path === undefined ? undefined : join(root, path);
  const before = await take(store, { root, reason, limits: query.limits, include });
  if (!before.ok) throw new UserError(`nothing was changed: the current state cannot be stored (${before.reason})`);
  const where = { workTree: root, indexFile: store.indexFile(projectHash(root)) };
  const all = await changes(store, before.id, id);
  if (path !== undefined) {
    await store.run(["checkout", "--quiet", id, "--", path], where);
    const changed = all.filter(([kind, name]) => kind !== "D" && (name === path || name.startsWith(`${path}/`)));
    return { id, before: before.id, changed: changed.map(([, name]) => name), removed: [] };
  }
  // With -m git refuses to overwrite files that are not in the snapshot just taken.
  await store.run(["read-tree", "-m", "-u", id], where);
  const names = (wanted: boolean) => all.filter(([kind]) => (kind === "D") === wanted).map(([, name]) => name);
  return { id, before: before.id, changed: names(false), removed: names(true) };
}
