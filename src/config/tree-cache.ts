// Caches the tree of config.yaml as JSON: loading and running the YAML parser takes a tenth of the start-up time.
// A file that contains a secret is not cached; a cached tree is valid only for the exact file it was made from.
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { maskTree } from "../core/config/mask.ts";
import { atomicWrite } from "../lib/atomic-write.ts";

export type Tree = { readonly [key: string]: unknown };

/** Increased when the parser reads the same text differently. */
const FORMAT = 1;
/** A file modified more recently than this may change again without a new time stamp. */
const SETTLED_MS = 1000;

function copyPath(home: string): string {
  return join(home, "cache", "config-tree.json");
}

/** Identifies one state of a file; undefined when the file does not exist. */
export function fileStamp(path: string): string | undefined {
  const info = statSync(path, { bigint: true, throwIfNoEntry: false });
  return info && `${FORMAT} ${info.ino} ${info.size} ${info.mtimeNs} ${info.ctimeNs}`;
}

/** The tree that was cached for this state of the file. */
export function readCachedTree(home: string, stamp: string): Tree | undefined {
  try {
    const kept = JSON.parse(readFileSync(copyPath(home), "utf8")) as { stamp?: unknown; tree?: unknown };
    return kept.stamp === stamp && typeof kept.tree === "object" && kept.tree !== null
      ? (kept.tree as Tree)
      : undefined;
  } catch {
    // Missing or incomplete: config.yaml itself is read.
    return undefined;
  }
}

/** Caches the tree for the next start. Errors are ignored: a read-only home works without a cache. */
export async function writeCachedTree(home: string, stamp: string, tree: Tree): Promise<void> {
  const text = JSON.stringify(tree);
  const changedAt = Number(BigInt(stamp.split(" ")[3] ?? 0) / 1_000_000n);
  try {
    if (JSON.stringify(maskTree(tree)) !== text) rmSync(copyPath(home), { force: true });
    else if (Date.now() - changedAt > SETTLED_MS)
      await atomicWrite(copyPath(home), `{"stamp":"${stamp}","tree":${text}}`);
  } catch {
    return;
  }
}
