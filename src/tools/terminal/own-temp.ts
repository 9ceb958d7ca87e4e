// Private temporary folders, named after this process, so that those of a killed program can be told and removed.
import { mkdtempSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NAME = /^hermes-(?:shell|sandbox|ssh)-(\d+)-/;
/** The same folder may be seen by programs whose process ids mean nothing here; what is used is younger. */
const ORPHAN_AGE_MS = 86_400_000;

function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Removes what programs that no longer run left more than a day ago. */
export async function sweepOrphans(base: string, now = Date.now()): Promise<void> {
  for (const name of await readdir(base).catch(() => [])) {
    const pid = NAME.exec(name)?.[1];
    if (pid === undefined || alive(Number(pid))) continue;
    const path = join(base, name);
    const info = await stat(path).catch(() => null);
    const ours = info?.uid === (process.getuid?.() ?? info?.uid);
    if (info && ours && now - info.mtimeMs > ORPHAN_AGE_MS)
      await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** A new folder that only its owner can enter. */
export function ownTempFolder(kind: "shell" | "sandbox" | "ssh", base = tmpdir()): string {
  const folder = mkdtempSync(join(base, `hermes-${kind}-${process.pid}-`));
  void sweepOrphans(base);
  return folder;
}
