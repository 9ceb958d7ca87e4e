// Looking at a snapshot and going back to it: the folder as it is now is always kept first.
import { isAbsolute, join, relative, resolve } from "node:path";
import { UserError } from "../../core/failure.ts";
import { contains, projectHash } from "./project-root.ts";
import type { ShadowStore } from "./shadow-store.ts";
import { type SnapshotLimits, stage, take } from "./snapshot.ts";

export interface Restored {
  readonly id: string;
  /** The snapshot of what was there before: the way back. */
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

/** The full id of one of the project's own snapshots. Throws UserError for anything else. */
export async function findSnapshot(store: ShadowStore, root: string, id: string): Promise<string> {
  const hint = "See: hermes checkpoints list";
  if (!/^[0-9a-f]{4,64}$/i.test(id))
    throw new UserError(`"${id}" is not the id of a checkpoint; an id is 4 to 64 hexadecimal digits`, {
      hint,
      exitCode: 2,
    });
  const found = (await store.snapshots(projectHash(root))).filter((entry) => entry.id.startsWith(id.toLowerCase()));
  if (found.length > 1)
    throw new UserError(`${id} fits ${found.length} checkpoints; give more digits`, { exitCode: 2 });
  if (!found[0]) throw new UserError(`${root} has no checkpoint ${id}`, { hint });
  return found[0].id;
}

/** The path inside the project, or a UserError. */
export function insideProject(root: string, path: string): string {
  const full = isAbsolute(path) ? path : resolve(root, path);
  const inside = relative(root, full);
  if (path.includes("\0") || inside === "" || !contains(root, full) || inside.split("/").includes(".git"))
    throw new UserError(`${path} is not a file inside ${root}`, { exitCode: 2 });
  return inside;
}

/** What changed from the snapshot until now. Call under the store's lock. */
export async function difference(
  store: ShadowStore,
  root: string,
  ask: { id: string; path?: string | undefined; limits: SnapshotLimits },
): Promise<Difference> {
  const id = await findSnapshot(store, root, ask.id);
  const path = ask.path === undefined ? [] : [insideProject(root, ask.path)];
  const problem = await stage(store, { root, reason: "", limits: ask.limits });
  if (problem !== undefined) throw new UserError(`${root} cannot be compared: ${problem}`);
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
 * The whole folder as it was, or one path of it. Files made since are removed in the first case: they are in `before`.
 * Files that checkpoints leave out are not touched. Call under the store's lock.
 */
export async function restore(
  store: ShadowStore,
  root: string,
  ask: { id: string; path?: string | undefined; limits: SnapshotLimits },
): Promise<Restored> {
  const id = await findSnapshot(store, root, ask.id);
  const path = ask.path === undefined ? undefined : insideProject(root, ask.path);
  if (path !== undefined && (await store.run(["ls-tree", "-z", id, "--", path])) === "")
    throw new UserError(`${path} is not in checkpoint ${id.slice(0, 8)}`, { hint: "See: hermes checkpoints diff" });
  const reason = `before going back to ${id.slice(0, 8)}${path === undefined ? "" : ` (${path})`}`;
  const include = path === undefined ? {} : { include: join(root, path) };
  const before = await take(store, { root, reason, limits: ask.limits, ...include });
  if (!before.ok) throw new UserError(`nothing was changed: the folder as it is now cannot be kept (${before.reason})`);
  const where = { workTree: root, indexFile: store.indexFile(projectHash(root)) };
  const all = await changes(store, before.id, id);
  if (path !== undefined) {
    await store.run(["checkout", "--quiet", id, "--", path], where);
    const changed = all.filter(([kind, name]) => kind !== "D" && (name === path || name.startsWith(`${path}/`)));
    return { id, before: before.id, changed: changed.map(([, name]) => name), removed: [] };
  }
  // With -m git refuses to overwrite a file that the snapshot from just now does not hold.
  await store.run(["read-tree", "-m", "-u", id], where);
  const names = (wanted: boolean) => all.filter(([kind]) => (kind === "D") === wanted).map(([, name]) => name);
  return { id, before: before.id, changed: names(false), removed: names(true) };
}
