// The plain tree of config.yaml as JSON beside it: loading and running the YAML parser is a tenth of a start.
// A file that spells out a secret is never copied; a copy counts only for exactly the file it was made from.
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { maskTree } from "../core/config/mask.ts";
import { atomicWrite } from "../lib/atomic-write.ts";

export type Tree = { readonly [key: string]: unknown };

/** Raised when the parser reads the same text differently. */
const FORMAT = 1;
/** A file as young as this may change again without a new time stamp. */
const SETTLED_MS = 1000;

function copyPath(home: string): string {
  return join(home, "cache", "config-tree.json");
}

/** Tells one state of a file from every other; undefined when there is none. */
export function stampOf(path: string): string | undefined {
  const info = statSync(path, { bigint: true, throwIfNoEntry: false });
  return info && `${FORMAT} ${info.ino} ${info.size} ${info.mtimeNs} ${info.ctimeNs}`;
}

/** The tree that was kept for this state of the file. */
export function keptTree(home: string, stamp: string): Tree | undefined {
  try {
    const kept = JSON.parse(readFileSync(copyPath(home), "utf8")) as { stamp?: unknown; tree?: unknown };
    return kept.stamp === stamp && typeof kept.tree === "object" && kept.tree !== null
      ? (kept.tree as Tree)
      : undefined;
  } catch {
    // None, or cut off: the file itself is read.
    return undefined;
  }
}

/** Keeps the tree for the next start. Best effort: a home that cannot be written to starts without. */
export async function keepTree(home: string, stamp: string, tree: Tree): Promise<void> {
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
