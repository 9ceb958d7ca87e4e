// Private temporary folders with the process id in their name, so that those of killed programs can be removed.
import { mkdtempSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive } from "../../lib/process/is-alive.ts";

const NAME = /^hermes-(?:shell|sandbox|ssh)-(\d+)-/;
/** Programs in other containers may share the folder, and their process ids mean nothing here; only old folders are removed. */
const ORPHAN_AGE_MS = 86_400_000;

/** Removes folders older than a day whose program no longer runs. */
export async function sweepOrphans(base: string, now = Date.now()): Promise<void> {
  for (const name of await readdir(base).catch(() => [])) {
    const pid = NAME.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const path = join(base, name);
    const info = await stat(path).catch(() => null);
    const ours = info?.uid === (process.getuid?.() ?? info?.uid);
    if (info && ours && now - info.mtimeMs > ORPHAN_AGE_MS)
      await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Creates a folder that only its owner can access. */
export function ownTempFolder(kind: "shell" | "sandbox" | "ssh", base = tmpdir()): string {
  const folder = mkdtempSync(join(base, `hermes-${kind}-${process.pid}-`));
  void sweepOrphans(base);
  return folder;
}
