// Detects whether the bundled skills changed since the last sync: by build id, otherwise by times and sizes.
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { atomicWrite } from "../lib/atomic-write.ts";
import { syncBundled } from "./bundled-sync.ts";
import { filesInOrder } from "./dir-hash.ts";

const STAMP_FILE = "skills-bundled.stamp";

function computeStamp(home: string, source: string): string {
  const hash = createHash("sha256").update(home).update(source);
  for (const rel of filesInOrder(source)) {
    const info = statSync(join(source, rel));
    hash.update(`${rel}\0${info.size}\0${info.mtimeMs}\0`);
  }
  return hash.digest("hex");
}

/**
 * Does nothing when the bundled skills are the same as at the last sync. With `build`, the id of the build,
 * only one small file is compared and the skills are not read.
 */
export async function syncWhenChanged(home: string, source: string, build?: string): Promise<void> {
  const path = join(home, "cache", STAMP_FILE);
  const stamp = build === undefined ? computeStamp(home, source) : JSON.stringify([build, source, home]);
  if ((await readFile(path, "utf8").catch(() => "")) === stamp) return;
  await syncBundled(home, source);
  await atomicWrite(path, stamp);
}
