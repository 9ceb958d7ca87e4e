// Takes a snapshot: stores the files of a project as a commit.
import { constants } from "node:fs";
import { access, lstat, open } from "node:fs/promises";
import { join, relative } from "node:path";
import { EXCLUDES } from "./excludes.ts";
import { projectHash } from "./project-root.ts";
import type { ShadowStore } from "./shadow-store.ts";

export interface SnapshotLimits {
  readonly maxFiles: number;
  /** Larger files are left out; 0 means no limit. */
  readonly maxFileBytes: number;
  /** No snapshot is taken of larger projects; 0 means no limit. */
  readonly maxTreeBytes: number;
}

export interface TakeRequest {
  readonly root: string;
  readonly reason: string;
  readonly limits: SnapshotLimits;
  /** The file that is about to change: included even when the project's ignore files exclude it. */
  readonly include?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type Taken =
  | {
      readonly ok: true;
      readonly id: string;
      /** False when nothing changed since the last snapshot. */
      readonly fresh: boolean;
    }
  | { readonly ok: false; readonly reason: string };

const BATCH = 256;
const REASON_CHARS = 200;

/** Files of the project that differ from the index: all of them the first time. */
async function listFiles(store: ShadowStore, request: TakeRequest, known: boolean): Promise<string[]> {
  const indexFile = store.indexFile(projectHash(request.root));
  const options = { workTree: request.root, indexFile, signal: request.signal };
  const kinds = known ? ["--modified", "--deleted", "--others"] : ["--cached", "--others"];
  const text = await store.run(
    ["ls-files", "-z", ...kinds, ...EXCLUDES, "--exclude-per-directory=.gitignore"],
    options,
  );
  const more = request.include
    ? await store.run(
        ["ls-files", "-z", "--others", ...EXCLUDES, "--", relative(request.root, request.include)],
        options,
      )
    : "";
  return [...new Set(`${text}${more}`.split("\0"))].filter((path) => path !== "" && !path.endsWith("/"));
}

/** The number of files in an index; 0 when there is none. It is the third number of the file. */
async function indexedFiles(path: string): Promise<number> {
  const file = await open(path, "r").catch(() => null);
  if (!file) return 0;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(12), 0, 12, 0);
    return bytesRead === 12 && buffer.toString("latin1", 0, 4) === "DIRC" ? buffer.readUInt32BE(8) : 0;
  } finally {
    await file.close();
  }
}

interface SortedFiles {
  readonly wanted: string[];
  readonly tooLarge: string[];
  readonly bytes: number;
}

async function sortBySize(request: TakeRequest, paths: readonly string[]): Promise<SortedFiles> {
  const sorted = { wanted: [] as string[], tooLarge: [] as string[], bytes: 0 };
  const { maxFileBytes } = request.limits;
  for (let start = 0; start < paths.length; start += BATCH) {
    const batch = paths.slice(start, start + BATCH);
    const infos = await Promise.all(batch.map((path) => lstat(join(request.root, path)).catch(() => null)));
    for (const [index, path] of batch.entries()) {
      const size = infos[index]?.isFile() ? (infos[index]?.size ?? 0) : 0;
      if (maxFileBytes > 0 && size > maxFileBytes) sorted.tooLarge.push(path);
      else {
        sorted.wanted.push(path);
        sorted.bytes += size;
      }
    }
  }
  return sorted;
}

async function filterReadable(root: string, paths: readonly string[]): Promise<string[]> {
  const kept: string[] = [];
  for (const path of paths) {
    const info = await lstat(join(root, path)).catch(() => null);
    const isReadable = info?.isFile()
      ? await access(join(root, path), constants.R_OK).then(
          () => true,
          () => false,
        )
      : true;
    if (isReadable) kept.push(path);
  }
  return kept;
}

export type Staged = { readonly problem: string } | { readonly changed: boolean };

/** Updates the index of the project to the current files. */
export async function stage(store: ShadowStore, request: TakeRequest): Promise<Staged> {
  const { root, limits, signal } = request;
  const hash = projectHash(root);
  await store.clearStaleLocks(hash);
  const known = await indexedFiles(store.indexFile(hash));
  const paths = await listFiles(store, request, known > 0);
  if (paths.length === 0 && known > 0) return { changed: false };
  if (paths.length > limits.maxFiles || known > limits.maxFiles)
    return { problem: `it has more than ${limits.maxFiles} files` };
  const { wanted, tooLarge, bytes } = await sortBySize(request, paths);
  if (limits.maxTreeBytes > 0 && bytes > limits.maxTreeBytes) {
    const size = Math.round(bytes / 1_048_576);
    return { problem: `its files (${size} MB) do not fit into checkpoints.max_total_size_mb` };
  }
  const where = { workTree: root, indexFile: store.indexFile(hash), signal };
  const lines = (names: readonly string[]) => names.map((name) => `${name}\0`).join("");
  const update = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
  const first = await store.try(update, { ...where, input: lines(wanted) });
  // A file without read permission must not prevent the snapshot of the others.
  if (first.code !== 0) await store.run(update, { ...where, input: lines(await filterReadable(root, wanted)) });
  if (tooLarge.length > 0)
    await store.run(["update-index", "-z", "--force-remove", "--stdin"], { ...where, input: lines(tooLarge) });
  return { changed: true };
}

/** Call under the lock of the store. Throws GitError when git fails. */
export async function take(store: ShadowStore, request: TakeRequest): Promise<Taken> {
  const { root, signal } = request;
  const hash = projectHash(root);
  await store.ensure();
  const staged = await stage(store, request);
  if ("problem" in staged) return { ok: false, reason: staged.problem };
  const parent = await store.tip(hash);
  // Also when no file differs from the index: a comparison, or a checkpoint that failed, may have updated it.
  const tree = (await store.run(["write-tree"], { indexFile: store.indexFile(hash), signal })).trim();
  if (parent !== null && (await store.run(["rev-parse", `${parent}^{tree}`])).trim() === tree) {
    await store.touch(hash, root);
    return { ok: true, id: parent, fresh: false };
  }
  const reason = request.reason.replaceAll(/\s+/g, " ").trim().slice(0, REASON_CHARS) || "checkpoint";
  const parents = parent === null ? [] : ["-p", parent];
  const id = (await store.run(["commit-tree", tree, ...parents], { input: `${reason}\n`, signal })).trim();
  await store.touch(hash, root);
  await store.run(["update-ref", store.ref(hash), id, parent ?? ""]);
  return { ok: true, id, fresh: true };
}
