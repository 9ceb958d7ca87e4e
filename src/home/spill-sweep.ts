// Removes old files of tool results that were too large for the context window.
import { lstat, readdir, rm, rmdir, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../core/config/config.ts";
import type { Home } from "../core/home.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Delay of the first sweep, so that it does not slow down the start. */
const FIRST_SWEEP_MS = 90_000;
const STAMP = ".swept";

export interface SpillLimits {
  /** Files older than this are removed. */
  readonly maxAgeMs: number;
  /** Above this total, the oldest files are removed. */
  readonly maxBytes: number;
}

interface Found {
  readonly path: string;
  readonly bytes: number;
  readonly at: number;
}

/** Regular files in the folder and one level below; links are skipped. */
async function listFiles(folder: string, depth = 1): Promise<Found[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found: Found[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && depth > 0) found.push(...(await listFiles(path, depth - 1)));
    if (!entry.isFile() || entry.name === STAMP) continue;
    const info = await lstat(path).catch(() => null);
    if (info) found.push({ path, bytes: info.size, at: info.mtimeMs });
  }
  return found;
}

/** Removes empty folders of conversations; rmdir fails for the others. */
async function removeEmptyFolders(folder: string, now: number): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    const info = entry.isDirectory() ? await lstat(path).catch(() => null) : null;
    if (info && now - info.mtimeMs > HOUR_MS) await rmdir(path).catch(() => undefined);
  }
}

/** Keeps files of the last hour, which may be in use. Returns what was removed. */
export async function sweepSpills(
  folder: string,
  limits: SpillLimits,
  now: number = Date.now(),
): Promise<{ readonly files: number; readonly bytes: number }> {
  const found = (await listFiles(folder)).sort((a, b) => a.at - b.at);
  let total = found.reduce((sum, file) => sum + file.bytes, 0);
  let files = 0;
  let bytes = 0;
  for (const file of found) {
    const age = now - file.at;
    if (age < HOUR_MS || (age <= limits.maxAgeMs && total <= limits.maxBytes)) continue;
    await rm(file.path, { force: true });
    total -= file.bytes;
    files += 1;
    bytes += file.bytes;
  }
  await removeEmptyFolders(folder, now);
  return { files, bytes };
}

/** Sweeps once a day for all processes of the home, by the age of a stamp file. */
async function sweepDaily(folder: string, limits: SpillLimits): Promise<void> {
  const stamp = join(folder, STAMP);
  const last = await stat(stamp).catch(() => null);
  if (last && Date.now() - last.mtimeMs < DAY_MS) return;
  if (!(await stat(folder).catch(() => null))) return;
  if (last) await utimes(stamp, new Date(), new Date());
  else await writeFile(stamp, "", { mode: 0o600 });
  await sweepSpills(folder, limits);
}

export interface SpillSweeper {
  /** Sweeps once more, for processes that run only briefly. Never throws. */
  close(): Promise<void>;
}

/** Sweeps some time after the start, then daily, and when closed. */
export function startSpillSweeper(
  home: Home,
  keep: Pick<Config["tool_output"], "keep_days" | "keep_mb">,
): SpillSweeper {
  const folder = join(home.path, "cache", "tool-results");
  const limits = { maxAgeMs: keep.keep_days * DAY_MS, maxBytes: keep.keep_mb * 1_000_000 };
  const sweep = () => sweepDaily(folder, limits).catch(() => undefined);
  const first = setTimeout(sweep, FIRST_SWEEP_MS).unref();
  const daily = setInterval(sweep, DAY_MS).unref();
  return {
    close: async () => {
      clearTimeout(first);
      clearInterval(daily);
      await sweep();
    },
  };
}
