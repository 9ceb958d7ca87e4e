// Caches the listings of sources for an hour.
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "../../lib/json/parse-json.ts";
import { hubFolders } from "./hub-folders.ts";
import type { HubListing } from "./hub-host.ts";

const KEPT_MS = 3_600_000;

interface Cached {
  readonly at: number;
  readonly listings: readonly HubListing[];
}

/** Calls `make` when there is no fresh copy. A cache that cannot be written is ignored. */
export async function cachedListing(
  skillsDir: string,
  key: string,
  make: () => Promise<readonly HubListing[]>,
): Promise<readonly HubListing[]> {
  const { hub } = await hubFolders(skillsDir);
  const dir = join(hub, "index-cache");
  const path = join(dir, `${createHash("sha256").update(key).digest("hex").slice(0, 32)}.json`);
  const kept = parseJson(await readFile(path, "utf8").catch(() => "{}")) as Partial<Cached> | null | undefined;
  const age = Date.now() - (kept?.at ?? 0);
  if (kept && Array.isArray(kept.listings) && age >= 0 && age < KEPT_MS) return kept.listings;
  const listings = await make();
  const fresh: Cached = { at: Date.now(), listings };
  await mkdir(dir, { recursive: true, mode: 0o700 })
    // Excludes the folder from the agent's searches, because its text is unchecked.
    .then(() => writeFile(join(hub, ".ignore"), "*\n", { mode: 0o600 }))
    .then(() => writeFile(path, JSON.stringify(fresh), { mode: 0o600 }))
    .catch(() => undefined);
  return listings;
}
